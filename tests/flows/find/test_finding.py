"""Search end to end: each route contributes, results are merged to one list, and outdated statements are left out."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import Clock
from embedders import Hashed

from yiku import Memory
from yiku.errors import ModelUnavailable
from yiku.flows.find import by_evidence
from yiku.rules.finding import score
from yiku.rules.text import analyze
from yiku.types import Posting


@pytest.fixture
def model() -> Hashed:
    """It knows that 屋 is a flat, which no index does."""
    return Hashed(known={"屋": "flat"})


@pytest.fixture
def memory(blank: Path, home: Path, clock: Clock, model: Hashed) -> Iterator[Memory]:
    """Mei's, with a model."""
    shutil.copytree(blank, home)
    with Memory(home, owner="user:mei", names=["Mei"], clock=clock, embedder=model) as memory:
        yield memory


def texts(hits) -> list[str]:
    return [hit.text for hit in hits]


def said(memory: Memory, *contents: str, **details) -> None:
    for content in contents:
        memory.record_turn("user", content, **details)


# ------------------------------------------------------------------ several routes, one list


@pytest.mark.spec("S0-06", "S3-08", "S3-162")
def test_each_route_brings_what_only_it_can_find(memory, clock):
    """A slot, words, meaning and a time that is named: what each finds is first, once, and says how it was found."""
    memory.remember("我住在奥斯陆")
    said(memory, "I like to live near water", session="words")
    said(memory, "A flat by the harbour", session="meaning")
    said(memory, "今天去看了牙医", session="time", said_at="2026-02-26T15:00:00+01:00")
    memory.admin.embed()
    asked = {
        "where do I live?": ("我住在奥斯陆", "slot"),
        "live near water": ("I like to live near water", "words"),
        "屋": ("A flat by the harbour", "vectors"),
        "What happened last Thursday?": ("今天去看了牙医", "time"),
    }

    for question, (text, route) in asked.items():
        hits = memory.recall(question)
        assert text == hits[0].text
        assert route in hits[0].routes
        assert route in hits.explanation.routes
        assert len({hit.id for hit in hits}) == len(hits)


@pytest.mark.spec("S0-76")
@pytest.mark.parametrize(
    ("stated", "statement", "question"),
    [
        ("Ann lives in Bergen", "The violin hangs in the attic", "Where does Ann live, and where is the violin?"),
        ("小明住在北京", "小提琴挂在阁楼里", "小明住在哪里？小提琴呢？"),
    ],
)
def test_an_entity_that_is_known_does_not_end_the_search(memory, stated, statement, question):
    """The slot of whom the question names gives one half of the answer, and the words give the other."""
    memory.remember(stated)
    said(memory, statement, "Nothing else happened. 没有别的事。")
    found = {hit.text: hit.routes for hit in memory.recall(question)}

    assert {stated, statement} == {*found}
    assert "slot" in found[stated]
    assert {"words"} <= {*found[statement]} <= {"words", "session", "role", "recency"}


@pytest.mark.spec("T-23", "S4-38")
@pytest.mark.parametrize("name", ["ERR_TLS_4711", "青霉素"])
def test_what_only_its_words_find_is_first(memory, model, name):
    """The model takes the name for something else, so others are nearer: the turn that has it is first, and has the highest score."""
    statement = f"昨天又看到了 {name} again"
    for text in (statement, "A flat by the harbour", "A flat with a garden", *(f"note {n} 第{n}条" for n in range(9))):
        said(memory, text, session=text)
    memory.admin.embed()
    tokens = analyze.tokens(name)
    model.known |= dict.fromkeys((*tokens.words, *tokens.characters), "flat")
    hits = memory.recall(name)

    assert statement == hits[0].text
    assert hits[0].routes["vectors"][0] > 1
    assert [statement] == [hit.text for hit in hits if "words" in hit.routes]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.spec("S2-76")
def test_what_is_forgotten_is_no_measure_for_the_rest(memory):
    """Whatever resembled the question best: once it is hidden, others are found, and believed, as if it had never been."""

    def statement(question: str) -> list[tuple[str, float]]:
        hits = memory.recall(question)
        return [(hit.text, round(hit.score, 6)) for hit in hits] + [("confidence", hits.confidence)]

    said(memory, *(f"note {n} about the garden 花园第{n}条" for n in range(40)), session="garden")
    said(memory, "A room with a view of the garden", session="room")
    memory.admin.embed()
    questions = ("flat garden", "花园在哪里？")
    before = [statement(question) for question in questions]
    said(memory, "flat garden", "flat 花园", "The flat is new", session="flat")
    memory.admin.embed()
    with_it = [statement(question) for question in questions]
    memory.forget(session="flat")

    assert with_it[0] != before[0]
    assert before == [statement(question) for question in questions]


# ------------------------------------------------------------------ what is asked for under another name


@pytest.mark.spec("S2-76", "S0-06")
@pytest.mark.parametrize(
    ("stated", "question"),
    [
        ("My boss is Ole", "我的老板是谁？"),
        ("我的老板是老王", "Who is my boss?"),
        ("我的医生是张大夫", "我的医生是谁"),
        ("My boss's name is Ole", "Who is my boss?"),
        ("我妹妹叫小红", "who is my sister?"),
    ],
)
def test_an_attribute_is_found_under_each_of_its_names(memory, stated, question):
    """In either language, and by the name of whoever it is; one's own name is no answer to who somebody else is."""
    memory.remember("My name is Mei Lin")
    memory.remember(stated)
    hits = memory.recall(question)

    assert stated == hits[0].text
    assert "slot" in hits[0].routes
    assert "slot" not in {route for hit in hits[1:] for route in hit.routes}


@pytest.mark.parametrize(
    ("asked_for", "near", "question"),
    [
        ("My doctor is Ann.", "My dentist is Bob.", "Who is my doctor?"),
        ("My computer is a Dell.", "My laptop is a ThinkPad.", "What computer do I have?"),
        ("我的医生是张伟。", "我的牙医是王强。", "我的医生是谁？"),
        ("我的电脑是Dell。", "我的笔记本是ThinkPad。", "我的电脑是什么？"),
    ],
)
def test_what_a_question_may_mean_is_found_behind_what_it_names(memory, asked_for, near, question):
    """A dentist is a doctor, too: found alone, and behind the doctor where both are known, whichever was said last."""
    memory.remember(near)
    assert [near] == [hit.text for hit in memory.recall(question)]

    memory.remember(asked_for)
    memory.remember(near)
    assert [asked_for, near] == [hit.text for hit in memory.recall(question)]


@pytest.mark.parametrize(
    ("talk", "question"),
    [
        (["我妹妹小红对青霉素过敏", "我对花生过敏"], "我妹妹对什么过敏?"),
        (["My sister Ann is allergic to penicillin.", "I'm allergic to peanuts."], "What is my sister allergic to?"),
        (["My brother Tom lives in Bergen.", "I live in Oslo."], "Where does my brother live?"),
        (["我妈妈王芳住在北京", "我住在奥斯陆"], "我妈妈住在哪里？"),
    ],
)
def test_who_asks_for_a_relative_is_not_told_of_himself_first(memory, talk, question):
    """Also when the relative is called by name in what was said, and no slot of hers is known."""
    for line in talk:
        memory.record_turn("user", line)

    assert talk[0].rstrip(".") in memory.recall(question)[0].text


@pytest.mark.parametrize(
    ("stated", "statement", "question"),
    [
        (
            "I like green tea",
            "We begin with the second scene, the camera stays at the window and the mother says her line",
            "It feels like the simplest way to me. Does the second scene with the camera at the window sound like a good place to begin?",
        ),
        (
            "我喜欢喝绿茶",
            "我跟罗振宇说，最近收藏邮票更偏爱航天题材，想先把五月那套补齐",
            "五月我跟邮票藏友罗振宇线上交流的时候，说过自己最近的收藏更喜欢哪一类题材的邮票？",
        ),
    ],
)
def test_a_slot_that_a_long_question_touches_is_only_a_part_of_it(memory, stated, statement, question):
    """What is liked comes first where that is asked, and not where `like` and 倾向 stand in the midst of something else."""
    memory.remember(stated)
    said(memory, statement)

    assert statement == memory.recall(question)[0].text


@pytest.mark.parametrize("question", ["怎么从机场去我老板那里？", "How do I get from the airport to my boss?"])
def test_a_way_to_somebody_does_not_ask_who_he_is(memory, question):
    """An attribute that is named on the way is not what is asked for."""
    memory.remember("My boss is Ole")

    assert [] == [hit.text for hit in memory.recall(question) if "slot" in hit.routes]


@pytest.mark.spec("S2-76", "T-22")
@pytest.mark.parametrize(
    ("statement", "corrected", "question"),
    [
        ("My boss's name is Ole", "Actually my boss's name is Kari", "Ole boss name meeting"),
        ("I live in Bergen", "I moved from Bergen to Oslo last week", "Bergen live weather"),
        ("我老板叫王强", "说错了，我老板叫李强", "老板王强今天来吗"),
    ],
)
def test_what_corrects_stands_before_what_it_corrects(memory, statement, corrected, question):
    """Where two turns are found, and a statement of one was replaced by one of the other, though the older has more of the words."""
    said(memory, statement, corrected, session="s")
    first, *others = memory.recall(question)

    assert statement != first.text
    assert statement in [hit.text for hit in others if hit.superseded_by]
    assert all(hit.score <= first.score for hit in others)


@pytest.mark.spec("S2-76")
@pytest.mark.parametrize(
    ("statement", "back", "question", "label"),
    [("I am allergic to peanuts", "just kidding", "peanuts", "taken back"), ("我对花生过敏", "开玩笑的", "花生能吃吗", "已收回")],
)
def test_what_was_taken_back_says_so(memory, statement, back, question, label):
    """Its turn is still found, since it was said, and no prompt takes it in earnest; what is told again holds."""
    said(memory, statement, back, session="s")
    (hit, *_) = memory.recall(question)

    assert (statement, True) == (hit.text, hit.taken_back)
    assert label in memory.context(question).text

    said(memory, statement, session="later")
    assert [] == [hit for hit in memory.recall(question) if hit.taken_back and hit.item.session == "later"]


# ------------------------------------------------------------------ nothing that is over


@pytest.mark.spec("S2-76")
@pytest.mark.parametrize(
    ("question", "route"),
    [("Where do I live?", "slot"), ("我住在哪里？", "slot"), ("Oslo", "words"), ("屋", "vectors")],
)
def test_what_expired_comes_by_no_route(memory, model, clock, question, route):
    """By its slot, its words or its meaning: until its time it is found, from then on it is in no answer, context or list."""
    model.known["屋"] = "oslo"
    kept = memory.remember("I live in Oslo", expires_at="2026-03-02T00:00:00+01:00").memory
    said(memory, "The weather was nice", "天气很好")
    memory.admin.embed()

    def found() -> dict[str, dict]:
        assert (kept.content in memory.context(question).text) == (kept.id in [each.id for each in memory.get_all()])
        return {hit.id: hit.routes for hit in memory.recall(question)}

    assert route in found()[kept.id]
    clock.advance(hours=15)
    assert kept.id not in found()
    assert [] == memory.get_all()


# ------------------------------------------------------------------ of equals, the one that matters more


@pytest.mark.spec("S3-31", "S3-32")
@pytest.mark.parametrize(
    ("better", "worse", "used"),
    [
        ({"said_at": "2026-02-28"}, {"said_at": "2025-03-01"}, 0),
        ({"importance": 0.9}, {"importance": 0.1}, 0),
        ({}, {}, 3),
    ],
    ids=["recent", "important", "used"],
)
def test_of_two_that_fit_alike_the_one_that_weighs_more_is_first(memory, better, worse, used):
    """How recent it is, how important, how often it was of use: each alone decides between equals, and only between them."""
    first = memory.remember("香蕉 one banana", **better).memory
    second = memory.remember("香蕉 two banana", **worse).memory
    for _ in range(used):
        memory.feedback(first.id, "used")
    hits = memory.recall("香蕉 banana")

    assert [first.id, second.id] == [hit.id for hit in hits]
    assert hits[0].relevance == pytest.approx(hits[1].relevance)
    assert hits[0].score > hits[1].score
    assert [second.id, first.id] == [hit.id for hit in memory.recall("香蕉 two banana")]


# ------------------------------------------------------------------ while the model is away


@pytest.mark.spec("T-36")
def test_an_outage_leaves_what_was_embedded_findable(memory, model):
    """The model goes away in the middle of embedding: nothing that was there before is lost, by words then, by meaning after."""
    said(memory, "A flat by the harbour, 靠近港口", session="before")
    memory.admin.embed()
    said(memory, "Lunch was soup, 午饭是汤", session="after")
    model.broken = True
    with pytest.raises(ModelUnavailable):
        memory.admin.embed()

    assert ["A flat by the harbour, 靠近港口"] == texts(memory.recall("港口"))
    assert [] == texts(memory.recall("屋"))
    model.broken = False
    assert "A flat by the harbour, 靠近港口" == memory.recall("屋")[0].text


# ------------------------------------------------------------------ what is looked up


@pytest.mark.spec("S3-06")
@pytest.mark.parametrize(
    "asked", ["对花生过敏吗？", "對花生過敏嗎？", "发票在哪？", "發票 and tea in a 抽屉", "游泳", "where is the tea?", "的"]
)
def test_pairs_that_cannot_occur_are_not_looked_up_and_nothing_else_changes(memory, asked):
    """Every posting is the same as when all terms are looked up in all writings, also where none of them occurs."""
    said(memory, "我對花生過敏。", "新買的發票放在抽屜裡。", "发票 in the drawer, beside the tea.", "他对芒果过敏。")
    terms = analyze.question(asked)
    wanted = (*terms.words, *terms.characters, "抽屉", "tea")
    written = {other: term for term in wanted for other in analyze.writings(term) if other not in wanted}
    handle = memory._handle
    for index in ("turn", "memory", "note"):
        query = SimpleNamespace(handle=handle, scopes=handle.own(), question=SimpleNamespace(terms=terms))

        found = score.in_one_writing(by_evidence._look_up(query, index, wanted, written, past=True), written)

        every = handle.store.postings(index, handle.own(), (*wanted, *written), past=True, cap=score.COMMON_ROWS)
        expected = score.in_one_writing(every, written)
        assert [told(one) for one in expected.found] == [told(one) for one in found.found]
        assert (expected.documents, expected.words) == (found.documents, found.words)


def told(posting: Posting) -> tuple[str, int, list[int], list[float]]:
    return posting.term, posting.documents, posting.ns.tolist(), posting.lengths.tolist()
