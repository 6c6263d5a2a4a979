"""Turns that a model of pairs read: the later stands first, the earlier says so, nobody else's does; compared once, gone with its turns."""

import pytest
from embedders import Hashed

from yiku import Memory
from yiku.errors import ModelFailed
from yiku.store.api import of_pairs

KAMPPI, PASILA = "btw our team office is in Kamppi, any lunch spots?", "bike racks at our Pasila place are missing lol"
JOB, LEFT = "我在诊所当牙科护士，喜欢骑车", "诊所的工牌周五交了，以后不看牙了"


class Reading(Hashed):
    """A model that knows of some pairs of texts how likely the later supersedes the earlier; it counts what it is asked."""

    compares = "test-pairs"

    def __init__(self, known=()):
        super().__init__(dimensions=512)
        self.pairs = dict(known)
        self.read = []

    def superseded(self, pairs):
        import numpy as np

        if self.refuses and any(self.refuses in text for pair in pairs for text in pair):
            raise ModelFailed("the model does not take such a text")
        self.read += pairs
        return np.array([max([0.05, *(p for (a, b), p in self.pairs.items() if a in x and b in y)]) for x, y in pairs])


@pytest.fixture
def home(tmp_path, clock):
    """Opens a memory with such a model, tells it lines a day apart, and lets it embed."""
    opened = []

    def told(known, *lines, **settings):
        model = Reading(known)
        memory = Memory(tmp_path / "home", owner="user:mei", embedder=model, clock=clock, **settings)
        opened.append(memory)
        for line in lines:
            say(memory, clock, line)
        memory.admin.embed()
        return memory, model

    yield told
    for memory in opened:
        memory.close()


def say(memory, clock, line):
    """A line with its role and speaker, in a session of its own unless it names one."""
    clock.advance(hours=24)
    line = {"text": line} if isinstance(line, str) else line
    session = line.get("session", f"s{clock.now:%m%d%H}")
    return memory.record_turn(line.get("role", "user"), line["text"], session=session, speaker=line.get("speaker"))


@pytest.mark.parametrize(
    ("earlier", "later", "question", "words"),
    [(KAMPPI, PASILA, "where is our office?", ("Kamppi", "Pasila")), (JOB, LEFT, "我在诊所做什么？", ("护士", "工牌"))],
)
@pytest.mark.spec("S0-97")
def test_what_is_superseded_for_sure_is_marked_and_stands_behind(home, earlier, later, question, words):
    """In the answer, its explanation, and what a prompt gets; only as much of the turn as no longer holds."""
    memory, _ = home({(earlier[:10], later[:10]): 0.97}, earlier, "今天天气好 nice weather", later)
    hits = memory.recall(question)
    places = [next(n for n, hit in enumerate(hits) if word in hit.text) for word in words]
    old, new = (hits[place] for place in places)
    (line,) = [line for line in memory.context(question).text.splitlines() if words[0] in line]

    assert places[1] < places[0]
    assert new.id == old.said_later
    assert (old.id, new.id, "read in pairs: 0.97") in hits.explanation.said_later
    assert new.id[-8:] in line
    assert not new.said_later


def test_what_is_likely_superseded_stands_behind_unmarked(home):
    """More than that would mark what still holds."""
    known = {("Kamppi", "Pasila"): 0.6}
    memory, _ = home(known, f"{KAMPPI} where is our office", PASILA)
    hits = memory.recall("where is our office?")

    assert ["Pasila" in hits[0].text, hits[1].said_later] == [True, None]


def test_without_a_model_of_pairs_nothing_changes(home):
    """Nor where it finds a pair unlikely."""
    memory, model = home({}, f"{KAMPPI} where is our office", PASILA)
    plain = [(hit.id, hit.said_later) for hit in memory.recall("where is our office?")]
    model.compares = ""

    assert plain == [(hit.id, hit.said_later) for hit in memory.recall("where is our office?")]
    assert "Kamppi" in memory.recall("where is our office?")[0].text
    handle = memory._handle
    assert [] == handle.vectors.superseded(handle.own(), of_pairs("test-pairs"), range(1, 50))


def test_a_later_turn_that_shares_nothing_with_the_question_is_found(home):
    """By the statement that it supersedes, and stands before it; not where only statements are wanted."""
    others = (f"where is our team office, friend {n}?" for n in range(80))
    moved = "relocated! btw any lunch spots, any spots for lunch"
    memory, _ = home({("Kamppi", "relocated"): 0.97}, *others, KAMPPI, moved)
    hits = memory.recall("where is our team office, friend? in Kamppi?")

    place = next(n for n, hit in enumerate(hits) if "Kamppi" in hit.text)
    assert (moved, True) == (hits[place - 1].text, hits[place].said_later == hits[place - 1].id)
    assert all(hit.type == "memory" for hit in memory.recall("where is our team office, friend? in Kamppi?", types=["memory"]))


def test_only_the_sentence_that_no_longer_holds_is_marked(home):
    """Of a turn that tells two things the other is left alone, in the prompt's text too."""
    two = "My bike is a Canyon. The office is in Kamppi. 茶要绿的。"
    memory, _ = home({("Kamppi", "Pasila"): 0.97}, two, PASILA)
    (turn,) = [hit for hit in memory.recall("the office and my bike", types=["turn"]) if "Kamppi" in hit.text]
    learned = memory.recall("the office and my bike", types=["memory"])

    assert ["The office is in Kamppi."] == [turn.text[start:end] for start, end in turn.outdated]
    assert {"Canyon": False} == {word: bool(hit.said_later) for hit in learned for word in ("Canyon",) if word in hit.text}


def test_what_the_assistant_said_is_superseded_by_nothing(home):
    """It is no statement of the user."""
    _, model = home({}, {"text": KAMPPI, "role": "assistant"}, PASILA)

    assert not model.read


@pytest.mark.parametrize(
    "other",
    [{"text": PASILA, "role": "assistant"}, {"text": PASILA, "speaker": "bo"}],
    ids=["of the assistant", "of somebody else"],
)
def test_nobody_else_supersedes_what_somebody_said(home, other):
    """A turn is compared with those of its own speaker alone."""
    memory, model = home({("Kamppi", "Pasila"): 0.99}, KAMPPI, other, "office?")

    assert not [pair for pair in model.read if "Pasila" in pair[1] and "Kamppi" in pair[0]]
    assert all(hit.said_later is None for hit in memory.recall("where is our office?"))


def test_a_bare_correction_is_compared_with_what_came_before_it(home):
    """However little the two have in common; what was said afterwards is never the earlier one."""
    lines = [{"text": text, "session": "one"} for text in ("训练营在十四号", "天气真好", "no, the 15th")]
    _, model = home({}, *(f"no, the 15th of {n}" for n in range(9)), *lines)

    assert ("训练营在十四号", "no, the 15th") in model.read
    assert not [pair for pair in model.read if pair[0] == "no, the 15th"]


def test_turns_are_compared_once(home, clock):
    """Also by the next process; what comes after is compared with what was there."""
    memory, model = home({}, KAMPPI, PASILA)
    before = len(model.read)
    memory.admin.embed()
    assert before == len(model.read) > 0
    say(memory, clock, "office office")
    memory.admin.embed()

    assert {"office office"} == {later for _, later in model.read[before:]}
    assert 0 == memory.admin.embed().compared


def test_how_far_it_is_is_told(home, clock):
    """Of all that is to do: a turn is embedded, then compared; and a run may be out of time between both."""
    memory, _ = home({}, KAMPPI)
    say(memory, clock, PASILA)
    seen = []
    report = memory.admin.embed(progress=lambda done, total: seen.append((done, total)))
    say(memory, clock, "later")

    assert ([(1, 2), (2, 2)], 1) == (seen, report.compared)
    assert 0 == memory.admin.embed(budget_s=0).compared
    assert (1, 1) == ((again := memory.admin.embed()).done, again.compared)


def test_a_turn_without_a_vector_waits(home, clock):
    """One that is recorded while others are compared is compared once it has a vector."""
    memory, model = home({}, KAMPPI)
    say(memory, clock, PASILA)
    read, model.superseded = model.superseded, lambda pairs: say(memory, clock, f"{clock.now}") and read(pairs)

    assert 1 == memory.admin.embed().compared
    model.superseded = read
    assert 1 == memory.admin.embed().compared


def test_a_stopped_run_goes_on(home, clock):
    """Vectors are there, the model fails on pairs: the next run compares what is left."""
    memory, model = home({}, KAMPPI)
    say(memory, clock, PASILA)
    model.superseded = lambda pairs: (_ for _ in ()).throw(ModelFailed("not now"))
    with pytest.raises(ModelFailed):
        memory.admin.embed()
    del model.superseded
    memory.admin.embed()

    assert (KAMPPI, PASILA) in model.read


@pytest.mark.parametrize("gone", [KAMPPI, PASILA])
def test_an_erased_turn_is_in_no_pair(home, gone):
    """Nothing is said of it later, and it supersedes nothing."""
    memory, model = home({("Kamppi", "Pasila"): 0.97}, KAMPPI, PASILA)
    of = next(hit.id for hit in memory.recall("office Kamppi Pasila") if hit.text == gone)
    handle = memory._handle
    own, space = handle.own(), of_pairs(model.compares)
    ns = range(1, 50)
    assert 1 == len(handle.vectors.superseded(own, space, ns))
    memory.admin.erase(of)

    assert [] == handle.vectors.superseded(own, space, ns)
    assert all(hit.said_later is None for hit in memory.recall("where is our office?"))


GOSSIP = "unrelated gossip about Tuomas and the sauna"


@pytest.mark.parametrize("where", ["earlier", "later"])
def test_the_turn_behind_an_erased_one_keeps_its_pair(home, where):
    """It was embedded with the erased turn before it, but says what it said."""
    lines = [{"text": line, "session": where} for line in (KAMPPI, GOSSIP, PASILA)]
    lines = [lines[1], lines[0], PASILA] if where == "earlier" else [KAMPPI, *lines[1:]]
    memory, _ = home({("Kamppi", "Pasila"): 0.97}, *lines)
    memory.admin.erase(next(hit.id for hit in memory.recall("Tuomas sauna") if hit.text == GOSSIP))

    assert any(hit.said_later for hit in memory.recall("where is our office? Kamppi Pasila"))
    report = memory.admin.embed()
    assert (1, 0) == (report.done, report.compared)
    assert any(hit.said_later for hit in memory.recall("where is our office? Kamppi Pasila"))


@pytest.mark.parametrize(
    ("said", "erased", "later"),
    [
        ("My PIN is 4711. Our team office is in Kamppi.", "My PIN is 4711.", PASILA),
        ("我的密码是4711。我们的办公室在康比。", "我的密码是4711。", "我们搬到帕西拉了，自行车架没有了"),
    ],
)
def test_a_redacted_turn_is_read_again(home, said, erased, later):
    """The later turn supersedes what is left of it, at its new place in the text."""
    memory, model = home({("Kamppi", "Pasila"): 0.97, ("康比", "帕西拉"): 0.97}, said, "nice weather", later)
    handle = memory._handle
    own, space = handle.own(), of_pairs(model.compares)
    (before,) = handle.vectors.superseded(own, space, range(1, 50))
    gone = memory.admin.erase(memory.remember(erased).memory.id)
    (left,) = gone.redacted
    assert [] == handle.vectors.superseded(own, space, range(1, 50))
    memory.admin.embed()
    (after,) = handle.vectors.superseded(own, space, range(1, 50))

    assert (before.earlier, before.later, before.likely) == (after.earlier, after.later, after.likely)
    assert left.content[after.start : after.end].endswith(said.removeprefix(erased).strip())


def test_a_turn_redacted_while_others_are_compared_is_read_again_with_its_new_vector(home, clock):
    """The later turn waits for it; what is new is compared meanwhile."""
    said = "My PIN is 4711. Our team office is in Kamppi."
    memory, model = home({("Kamppi", "Pasila"): 0.97}, said, "nice weather", PASILA)
    statement = memory.remember("My PIN is 4711.").memory
    say(memory, clock, "something new")
    read = model.superseded

    def meanwhile(pairs):
        model.superseded = read
        memory.admin.erase(statement.id)
        return read(pairs)

    model.superseded = meanwhile
    assert 1 == memory.admin.embed().compared
    handle = memory._handle
    assert [] == handle.vectors.superseded(handle.own(), of_pairs(model.compares), range(1, 50))
    memory.admin.embed()

    assert any(hit.said_later for hit in memory.recall("where is our office? Kamppi"))


def test_a_list_says_so_too(home, tmp_path):
    """In `get_all`, and MEMORY.md leaves out what no longer holds; the sentence beside it stays."""
    memory, _ = home({("Ulm", "Graz"): 0.97}, "I live in Ulm. I am allergic to nuts.", "the flat in Graz has no lift")
    marked = {one.content: bool(one.said_later) for one in memory.get_all()}
    memory.notes.publish()
    pages = "".join(path.read_text() for path in (tmp_path / "home").glob("*.md"))

    assert {True, False} == {*marked.values()}
    assert all(("Ulm" in content) is said_later for content, said_later in marked.items())
    assert ("nuts" in pages, "Ulm" in pages) == (True, False)


@pytest.mark.parametrize(
    ("said", "later"),
    [
        ("Always write tests first. Always write the tests first!", "we dropped the tests-first rule"),
        ("以后都先写测试再写代码。以后都先写测试，再写代码！", "先写测试的规矩取消了"),
    ],
)
def test_a_statement_may_have_two_sources_in_one_turn(home, tmp_path, said, later):
    """As the night leaves one that was said twice."""
    memory, _ = home({}, said)
    memory.admin.consolidate()
    (rule,) = memory.get_all()
    assert 2 == len(rule.sources)
    memory.close()
    memory, _ = home({(said[:8], later[:8]): 0.97}, later)

    assert memory.get_all()[0].said_later
    memory.notes.publish()
    assert said[:4] not in (tmp_path / "home" / "MEMORY.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("base", "moved", "question", "moved_to"),
    [
        (
            "My base is at Ulm, with the tea",
            "I moved to Graz. My dog is called Rex.",
            "where is my base? what is my dog called?",
            "Graz",
        ),
        ("我的据点在乌尔姆，茶也在那", "我搬到成都了。我的狗叫旺财。", "我的据点在哪？我的狗叫什么？", "成都"),
    ],
)
def test_of_several_statements_of_the_later_turn_none_is_taken_for_it(home, base, moved, question, moved_to):
    """Which of them supersedes is not known: the turn says it, and stands first."""
    memory, _ = home({(base[:6], moved[:6]): 0.97}, base, moved, "天气 weather")
    hits = memory.recall(question)
    (old,) = [hit for hit in hits if base[:6] in hit.text]
    (later,) = [hit for hit in hits if hit.id == old.said_later]

    assert moved_to in later.text
    assert hits.index(later) < hits.index(old)


def test_what_supersedes_may_be_superseded_itself(home):
    """Though the search finds the first of three alone: each says what came after it, the last stands first."""
    annex = "adieu bikes, hello annex"
    others = [f"where is our team office in Kamppi, friend {n}?" for n in range(12)]
    memory, _ = home({("Kamppi, any", "Pasila"): 0.97, ("Pasila", "annex"): 0.97}, KAMPPI, PASILA, annex, *others)
    hits = memory.recall("where is our team office in Kamppi?", limit=30)
    places = [next(n for n, hit in enumerate(hits) if hit.text == text) for text in (annex, PASILA, KAMPPI)]

    assert sorted(places) == places
    assert [None, hits[places[0]].id, hits[places[1]].id] == [hits[place].said_later for place in places]


def test_what_is_recorded_later_may_have_been_said_earlier(home, clock):
    """An import of old talk into a home that is in use."""
    memory, _ = home({("Kamppi", "Pasila"): 0.97}, PASILA)
    memory.record_turn("user", KAMPPI, session="old", said_at=clock.now.replace(year=clock.now.year - 1))
    memory.admin.embed()
    hits = memory.recall("where is our office?")

    assert [PASILA, KAMPPI] == [hit.text for hit in hits]
    assert hits[0].id == hits[1].said_later


@pytest.mark.parametrize(
    ("earlier", "later", "question", "words"),
    [
        (KAMPPI, PASILA, "where was our place before Pasila?", ("Kamppi", "Pasila")),
        (JOB, LEFT, "交诊所的工牌之前我在诊所做什么？", ("护士", "工牌")),
    ],
)
def test_a_question_for_the_past_gets_the_earlier_first(home, earlier, later, question, words):
    """What was before is what is asked for, though the later turn has more of the words."""
    memory, _ = home({words: 0.6}, earlier, later)

    assert words[0] in memory.recall(question)[0].text


TRAIN, OTHER_TRAIN = "my train on friday is the G1378, window seat", "typo, it is the G1387"
BOW, NEW_BOW = "i shoot a 28 pound bow", "my shoulder is fine again, moved up to 34 pounds"


@pytest.mark.parametrize(
    ("said", "days", "question", "first"),
    [
        ((TRAIN, OTHER_TRAIN), 1, "which train do I take on friday?", "G1387"),
        ((BOW, NEW_BOW), 60, "which bow did I shoot in March?", "28"),
        ((BOW, NEW_BOW), 60, "which bow do I shoot?", "34"),
        (("周五的高铁是G1378次", "打错了，是G1387次"), 1, "我周五坐哪趟高铁？", "G1387"),
        (("我用28磅的弓", "肩膀好了，弓换成34磅的"), 60, "我三月用几磅的弓？", "28"),
    ],
)
def test_a_question_for_a_time_gets_what_was_said_by_then(home, said, days, question, first):
    """A correction counts if it was said before that time was over; what was said since is no matter of then."""
    memory, _ = home({("G1378", "G1387"): 0.97, ("28", "34"): 0.97}, said[0])
    clock = memory._handle.clock
    clock.advance(days=days)
    say(memory, clock, said[1])
    memory.admin.embed()
    clock.advance(days=1)

    hits = memory.recall(question)
    assert first in hits[0].text
    assert (first not in said[0]) is any(hit.said_later is not None for hit in hits)


def test_a_long_turn_is_read_in_pieces(home):
    """What is buried in it counts; of an endless one the beginning."""
    filler = "Tell me about the history of tea in ten lines, please. " * 12
    memory, model = home({("Kamppi", "Pasila"): 0.97}, KAMPPI, f"{filler}{PASILA}. {filler * 30}")

    pieces = [piece for earlier, piece in model.read if earlier == KAMPPI]
    assert (3, 1) == (len(pieces), sum("Pasila" in piece for piece in pieces))
    assert any(hit.said_later for hit in memory.recall("where is our office? Kamppi"))
