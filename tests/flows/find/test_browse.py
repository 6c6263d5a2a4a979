"""Browsing: `get`, `get_all`, `history`, `timeline` and others, by id, filter, line and time, also `as_of` and `valid_at`."""

import pytest

from yiku import Memory
from yiku.errors import Ambiguous, InvalidInput, NotFound
from yiku.types import State, Turn


def texts(items):
    return [item.content for item in items]


# ------------------------------------------------------------------ get


def test_an_id_may_be_given_whole_or_by_its_end(memory):
    """Eight characters, with or without a hash sign, or the whole id: the same memory, the same turn."""
    kept = memory.remember("我住在奥斯陆").memory
    turn = memory.record_turn("user", "早")
    for item in (kept, turn):
        assert [item] * 3 == [memory.get(id) for id in (item.id, item.id[-8:], f"#{item.id[-8:]}")]


def test_an_id_in_capitals_is_the_same_id(memory):
    """As a program or a person may write it: whole, its end, and as the source of a statement."""
    turn = memory.record_turn("user", "早")
    kept = memory.remember("我住在奥斯陆", source=turn.id.upper()).memory
    for item in (kept, turn):
        assert [item] * 3 == [memory.get(id.upper()) for id in (item.id, item.id[-8:], f"#{item.id[-8:]}")]

    assert [kept.id] == [row.id for row in memory.history(kept.id.upper())]


def test_a_short_id_that_fits_several_is_ambiguous(memory):
    """The error names what it fits; more characters find one; fewer than four are refused."""
    ids: list[str] = []
    while not (twice := [id for id in ids if sum(id[-4:] == other[-4:] for other in ids) > 1]):
        ids += memory.record([{"role": "user", "content": "早"}] * 300).ids
    with pytest.raises(Ambiguous, match=twice[0]):
        memory.get(twice[0][-4:])
    with pytest.raises(InvalidInput, match="at least four characters"):
        memory.get(twice[0][-3:])

    assert twice[0] == memory.get(twice[0][-12:]).id


@pytest.mark.parametrize("id", ["zzzzzzzz", "0000", "I live in Oslo", "01900000-0000-7000-8000-000000000000", "%", "____", "我"])
def test_what_is_not_there_is_not_found(memory, id):
    """An unknown id says what to do."""
    memory.remember("I live in Oslo")
    with pytest.raises(NotFound, match="yiku list"):
        memory.get(id)


def test_as_of_gives_a_version_as_it_was(memory, clock):
    """Before it was recorded it is not found; before a change it has its old values; sources come one by one."""
    start = clock.now
    clock.advance(hours=1)
    kept = memory.remember("I live in Oslo", importance=0.2, confidence=0.5, tags=["家"]).memory
    recorded_at = clock.advance(hours=1)
    clock.advance(hours=1)
    memory.update(kept.id, importance=0.9, tags=["work"], pinned=True)
    clock.advance(hours=1)
    memory.remember("i live in oslo")
    changed = clock.advance(hours=1)
    clock.advance(hours=1)
    memory.forget(kept.id)
    then, now = memory.get(kept.id, as_of=recorded_at), memory.get(kept.id, as_of=changed)

    with pytest.raises(NotFound):
        memory.get(kept.id, as_of=start)
    assert (0.2, 0.5, ("家",), False, 1) == (then.importance, then.confidence, then.tags, then.pinned, len(then.sources))
    assert (0.9, 0.75, ("work",), True, 2) == (now.importance, now.confidence, now.tags, now.pinned, len(now.sources))
    assert [State.ACTIVE, State.ACTIVE, State.ARCHIVED] == [then.state, now.state, memory.get(kept.id).state]


def test_a_turn_is_not_found_before_it_was_recorded(memory, clock):
    """The time of recording counts, not the time at which it was said."""
    turn = memory.record_turn("user", "早", said_at="2026-01-01")

    assert turn == memory.get(turn.id, as_of=clock.now)
    with pytest.raises(NotFound):
        memory.get(turn.id, as_of="2026-02-01")


# ------------------------------------------------------------------ get_all


def test_live_memories_are_listed_newest_first(memory, clock):
    """By when they were said, or by when they were changed; pages follow each other."""
    kept = []
    for text in ("one 一", "two 二", "three 三"):
        clock.advance(days=1)
        kept.append(memory.remember(text).memory)
    memory.remember("old 旧", said_at="2026-01-01")
    clock.advance(days=1)
    memory.update(kept[0].id, pinned=True)

    assert ["three 三", "two 二", "one 一", "old 旧"] == texts(memory.get_all())
    assert ["one 一", "old 旧"] == texts(memory.get_all(order="updated", limit=2))
    assert ["two 二", "one 一"] == texts(memory.get_all(limit=2, offset=1))
    assert [] == memory.get_all(offset=10**9) == memory.get_all(limit=0)


def test_who_asks_for_a_state_gets_it(memory):
    """Archived and superseded rows are listed when the filter names the state, and otherwise not."""
    for text in ("I live in Bergen", "I live in Oslo"):
        memory.remember(text)
    gone = memory.remember("香蕉").memory
    memory.forget(gone.id)

    assert ["I live in Oslo"] == texts(memory.get_all())
    assert ["香蕉"] == texts(memory.get_all(where={"state": "archived"}))
    assert {"I live in Bergen", "I live in Oslo"} == {*texts(memory.get_all(where={"state": "active"}))}


@pytest.mark.parametrize("details", [{"expires_at": "2026-03-03T09:00:00+01:00"}, {"ttl_days": 2}])
def test_what_has_expired_is_not_listed(memory, clock, details):
    """Until its time it is listed, from then on it is not; who names a state still gets it."""
    memory.remember("门口密码是4711", entities=["Ann"], **details)
    counts = []
    for _ in range(3):
        counts.append((len(memory.get_all()), len(memory.about("Ann")), len(memory.get_all(where={"state": "active"}))))
        clock.advance(days=1)

    assert [(1, 1, 1), (1, 1, 1), (0, 0, 1)] == counts


@pytest.fixture
def moved(memory, clock):
    """Three homes, recorded one a day from the second of March, the middle one last; and the times between."""
    times = [clock.now]
    for text, said_at in (("I live in Bergen", "2026-01-01"), ("我住在罗马", "2026-02-20"), ("I live in Oslo", "2026-02-01")):
        clock.advance(hours=12)
        memory.remember(text, said_at=said_at)
        times.append(clock.advance(hours=12))
    return times


def test_as_of_lists_what_was_recorded(memory, moved):
    """At each moment the listing is as it was then."""
    assert [[], ["I live in Bergen"], ["我住在罗马"], ["我住在罗马"]] == [texts(memory.get_all(as_of=at)) for at in moved]
    lines = [texts(memory.history("where do I live", as_of=at)) for at in moved]
    assert [[], ["I live in Bergen"], ["I live in Bergen", "我住在罗马"]] == lines[:3]
    assert ["I live in Bergen", "I live in Oslo", "我住在罗马"] == lines[3]


def test_valid_at_lists_what_held(memory, moved):
    """By all that is known now, of what had been said by then."""
    days = ["2025-12-31", "2026-01-15", "2026-02-15", "2026-02-25"]

    assert [[], ["I live in Bergen"], ["I live in Oslo"], ["我住在罗马"]] == [texts(memory.get_all(valid_at=day)) for day in days]


def held(memory, day, **times):
    """What the list and a search by words and by slot find of one day."""
    questions = ("where am I staying?", "which gate does the shuttle leave from?", "班车从哪个门出发？", "我住在哪里？")
    hits = {hit.text for ask in questions for hit in memory.recall(ask, valid_at=day, types=["memory"], **times)}
    listed = {*texts(memory.get_all(valid_at=day, **times))}
    assert hits == listed
    return listed


@pytest.mark.parametrize(
    ("given", "reason"),
    [({"expires_at": "2026-03-08"}, "expired"), ({"ttl_days": 7}, "auto-delete"), ({"standing": "belief"}, "faded")],
)
def test_what_a_night_put_away_held_until_then(memory, clock, given, reason):
    """What held on 4 March is the same before and after the night in which its end came; of today it holds no more."""
    said = {"The shuttle leaves from gate four.", "班车从四号门出发。"}
    for text in said:
        memory.remember(text, importance=0.2, **given)
    before = clock.advance(days=10)
    if reason == "faded":
        clock.advance(days=800)
    asked = [held(memory, "2026-03-04"), held(memory, "2026-02-01")]
    done = memory.admin.consolidate()

    assert [said, set()] == asked
    assert {reason} == {item.reason for item in done.items}
    assert asked == [held(memory, "2026-03-04"), held(memory, "2026-02-01")]
    assert set() == held(memory, clock.now)
    assert said == held(memory, "2026-03-04", as_of=before)
    clock.advance(days=1)
    memory.admin.consolidate()

    assert asked[0] == held(memory, "2026-03-04")


@pytest.mark.parametrize("text", ["I am staying in Paris this week.", "我这周住在巴黎。"])
def test_what_somebody_took_out_of_memory_never_held(memory, clock, text):
    """Forgotten, and junk after its days; or a candidate that ended before anybody confirmed it."""
    memory.forget(memory.remember(text, ttl_days=7).memory.id)
    for words in ("The shuttle leaves from gate four.", "班车从四号门出发。"):
        memory.agent.propose(words, expires_at="2026-03-08")
    clock.advance(days=10)
    before = held(memory, "2026-03-04")
    counts = memory.admin.consolidate().counts

    assert {"junked": 1, "expired": 2} == counts
    assert set() == before == held(memory, "2026-03-04")


def test_both_times_together(memory, moved):
    """What held on one day, by what was recorded at another."""
    held = [texts(memory.get_all(valid_at="2026-02-15", as_of=at)) for at in moved]

    assert [[], ["I live in Bergen"], ["I live in Bergen"], ["I live in Oslo"]] == held


def test_a_filter_does_not_change_what_held(memory, moved):
    """The successor counts also where the filter leaves it out."""
    where = {"content": {"contains": "Bergen"}}

    assert ["I live in Bergen"] == texts(memory.get_all(where=where, valid_at="2026-01-15"))
    assert [] == memory.get_all(where=where, valid_at="2026-02-15")
    assert ["I live in Bergen"] == texts(memory.get_all(where=where, valid_at="2026-02-15", as_of=moved[2]))


def test_a_late_word_about_earlier_times(memory, clock):
    """Said in March to hold since January: it holds from when it was said on, not before anyone had said it."""
    memory.remember("I live in Bergen", said_at="2025-06-01")
    memory.remember("I live in Oslo", valid_from="2026-01-10")

    assert ["I live in Bergen"] == texts(memory.get_all(valid_at="2026-02-01"))
    assert ["I live in Oslo"] == texts(memory.get_all(valid_at=clock.now))
    assert "2026-01-10" == memory.get_all()[0].valid_from.date().isoformat()


def test_as_of_after_each_way_of_taking_back(memory, clock):
    """Undo, forget and restore change what comes after them, never what was recorded before."""
    seen = []

    def look():
        seen.append((clock.advance(hours=1), texts(memory.get_all())))
        clock.advance(hours=1)

    memory.remember("I live in Bergen")
    look()
    oslo = memory.remember("I live in Oslo")
    look()
    undone = memory.admin.undo(oslo.operation)
    look()
    memory.admin.undo(undone.operation)
    look()
    memory.forget(oslo.memory.id)
    look()
    memory.restore(oslo.memory.id)
    look()

    bergen, oslo = ["I live in Bergen"], ["I live in Oslo"]
    assert [bergen, oslo, bergen, oslo, [], oslo] == [then for _, then in seen]
    assert [then for _, then in seen] == [texts(memory.get_all(as_of=at)) for at, _ in seen]


def test_a_split_was_not_there_before(memory, clock):
    """A statement that falls into a version later on does not show in what was recorded before."""
    memory.remember("I live in Bergen", said_at="2026-01-01")
    memory.remember("I live in Bergen", said_at="2026-02-01")
    then = clock.advance(hours=1)
    clock.advance(hours=1)
    memory.remember("I live in Oslo", said_at="2026-01-15")

    assert 3 == len(memory.history("where do I live"))
    assert ["I live in Bergen"] == texts(memory.get_all(as_of=then))
    assert ["I live in Bergen"] == texts(memory.history("where do I live", as_of=then))


# ------------------------------------------------------------------ history


@pytest.mark.parametrize("text", ["where do I live", "我住在哪里", "Bergen", "Oslo"])
def test_a_line_is_found_by_any_of_its_ids_and_by_what_it_is_about(memory, text):
    """An old id, the live one, a short one or a question lead to the same versions, oldest first."""
    ids = [memory.remember(f"I live in {city}").memory.id for city in ("Bergen", "Oslo")]

    assert [ids] * 4 == [[m.id for m in memory.history(key)] for key in (*ids, ids[0][-8:], text)]


def test_history_of_what_nobody_said(memory):
    """Nothing about it is an error that says so."""
    with pytest.raises(NotFound, match="no memory about '香蕉'"):
        memory.history("香蕉")


def test_history_of_a_turn(memory):
    """A turn has no versions: its id is named as a turn's."""
    turn = memory.record_turn("user", "早")
    with pytest.raises(NotFound, match="this id is a turn's"):
        memory.history(turn.id)


def test_a_forgotten_line_still_has_its_history(memory):
    """What was forgotten is found by id, with its reason."""
    kept = memory.remember("我住在奥斯陆").memory
    memory.forget(kept.id, reason="她说的")

    assert [(State.ARCHIVED, "forgotten: 她说的")] == [(m.state, m.reason) for m in memory.history(kept.id)]


# ------------------------------------------------------------------ about


def test_about_gathers_what_names_somebody(memory):
    """By subject, by object and by a given entity; the owner by any of his names; newest first."""
    memory.remember("Ann's email is ann@bar.com", said_at="2026-01-01")
    memory.remember("My boss is Ann", said_at="2026-01-02")
    memory.remember("我住在奥斯陆", said_at="2026-01-03")
    memory.remember("天气很好", said_at="2026-01-04")

    assert ["My boss is Ann", "Ann's email is ann@bar.com"] == texts(memory.about("ann"))
    assert [["我住在奥斯陆", "My boss is Ann"]] * 4 == [texts(memory.about(name)) for name in ("Mei", "user", "我", "i")]
    assert [] == memory.about("Zoë")


# ------------------------------------------------------------------ timeline


def test_a_timeline_is_in_the_order_of_saying(memory, clock):
    """Turns and memories together, superseded ones among them; windows are closed before and open after."""
    for day in (1, 3, 5):
        memory.record_turn("user", f"turn {day}", said_at=f"2026-02-0{day}")
        memory.remember(f"I live in city {day}", said_at=f"2026-02-0{day}T12:00")

    assert ["turn 1", "I live in city 1", "turn 3", "I live in city 3", "turn 5", "I live in city 5"] == texts(memory.timeline())
    assert ["turn 3", "I live in city 3"] == texts(memory.timeline(since="2026-02-03", until="2026-02-05"))
    assert ["turn 5", "I live in city 5"] == texts(memory.timeline(limit=2))
    assert ["turn 1", "I live in city 1"] == texts(memory.timeline(since="2026-02-01", limit=2))


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4, 50])
def test_what_lies_around_a_turn(memory, limit):
    """At most so many, the turn among them, half of them before it."""
    turns = [memory.record_turn("user", f"第{i}句", said_at=f"2026-02-{i + 1:02}") for i in range(9)]
    around = [item.id for item in memory.timeline(around=turns[4].id, limit=limit)]
    first = max(0, 4 - limit // 2)

    assert [turn.id for turn in turns[first : first + limit]] == around


@pytest.mark.parametrize("at", [0, 3, 15, 29])
@pytest.mark.parametrize("limit", [1, 2, 7, 20])
def test_what_lies_around_one_of_many_said_at_one_time(memory, at, limit):
    """An import may give all of a session one time: what is around a turn is found, not the first of them."""
    turns = [memory.record_turn("user", f"第{i}句", session="s", said_at="2026-02-02") for i in range(30)]
    around = [item.id for item in memory.timeline(around=turns[at].id, limit=limit)]
    first = max(0, at - limit // 2)

    assert [turn.id for turn in turns[first : first + limit]] == around


@pytest.mark.parametrize("limit", [1, 2, 5, 6])
def test_what_lies_around_a_memory_of_one_time(memory, limit):
    """A memory stands behind the turn that it was learned from, whatever is said at the same time."""
    said = ["I like tea.", "I like plums.", "I live in Oslo.", "I like maps.", "I like rain."]
    for text in said:
        memory.record_turn("user", text, session="s", said_at="2026-02-02")
    both = [text for text in said for _ in range(2)]
    city = next(item for item in memory.get_all() if "Oslo" in item.content)
    around = memory.timeline(around=city.id, limit=limit)
    first = 5 - limit // 2

    assert both[first : first + limit] == texts(around)
    assert city.id in [item.id for item in around]
    assert both == texts(memory.timeline(since="2026-02-01"))


def test_a_timeline_of_an_episode(memory, clock):
    """Its id leads to what was said in it, from the first turn on, and an attachment's to its turn."""
    memory.record_turn("user", "Good morning.", session="s0")
    said = []
    for text in ("Please fix the parser of the importer.", "The parser is fixed.", "Thanks, that works."):
        clock.advance(minutes=1)
        said.append(memory.record_turn("user" if text[0] != "T" else "assistant", text, session="s1"))
    file = memory.sessions.attach("https://example.org/log.txt", session="s1", turn=said[1].id)
    episode = memory.sessions.end("s1").episode
    clock.advance(minutes=1)
    memory.record_turn("user", "Good night.", session="s2")

    assert [turn.id for turn in said] == [item.id for item in memory.timeline(around=episode.id[-8:]) if isinstance(item, Turn)]
    assert said[1].id in [item.id for item in memory.timeline(around=file.id, limit=2)]


def test_what_was_forgotten_is_not_on_the_timeline(memory):
    """Forgotten turns and memories are left out."""
    for item in (memory.record_turn("user", "早"), memory.remember("香蕉").memory):
        memory.forget(item.id)

    assert [] == memory.timeline()


# ------------------------------------------------------------------ scopes

READS = {
    "get": lambda m, id: m.get(id),
    "get as_of": lambda m, id: m.get(id, as_of="2026-03-01T10:00+01:00"),
    "history": lambda m, id: m.history(id),
    "timeline": lambda m, id: m.timeline(around=id),
}
WRITES = {
    "update": lambda m, id: m.update(id, importance=0.9),
    "update anew": lambda m, id: m.update(id, "I live in Rome"),
    "forget": lambda m, id: m.forget(id),
    "dry forget": lambda m, id: m.forget(id, dry_run=True),
    "restore": lambda m, id: m.restore(id),
    "feedback": lambda m, id: m.feedback(id, "used"),
}
VERBS = READS | WRITES | {"remember": lambda m, id: m.remember("I live in Rome", source=id)}


@pytest.mark.spec("T-17", "T-20", "S1-52")
@pytest.mark.parametrize("short", [False, True], ids=["whole id", "short id"])
@pytest.mark.parametrize("verb", VERBS)
def test_an_id_of_another_scope_is_as_one_that_is_not_there(memory, home, clock, verb, short):
    """Every verb answers for a foreign memory or turn in the very words in which it answers for an absent one."""
    with Memory(home, scope="user:ann", clock=clock) as ann:
        foreign = [ann.remember("I live in Bergen").memory.id, ann.record_turn("user", "早").id]
        before = [(m.importance, m.access_count, m.state) for m in ann.get_all()]
        for id in foreign:
            absent = id[:-8] + ("a" if id[-8:].isalpha() else "0") * 8  # an end of letters alone may be a word
            theirs, none = (id[-8:], absent[-8:]) if short else (id, absent)
            with pytest.raises(NotFound) as is_foreign:
                VERBS[verb](memory, theirs)
            with pytest.raises(NotFound) as is_absent:
                VERBS[verb](memory, none)
            assert str(is_absent.value) == str(is_foreign.value).replace(theirs, none)
        assert before == [(m.importance, m.access_count, m.state) for m in ann.get_all()]


@pytest.mark.spec("T-17", "S1-52")
@pytest.mark.parametrize("verb", WRITES)
def test_public_is_read_by_all_and_written_by_its_own_handle(memory, home, clock, verb):
    """What is public can be looked at from every scope, and changed from none but public itself."""
    with Memory(home, scope="public", clock=clock) as public:
        id = public.remember("香蕉是黄色的").memory.id
        assert "香蕉是黄色的" == memory.get(id).content == memory.history(id[-8:])[0].content
        with pytest.raises(NotFound):
            WRITES[verb](memory, id)
        assert "香蕉是黄色的" == public.get(id).content
        if verb != "restore":
            WRITES[verb](public, id)


def test_a_source_may_be_a_turn_in_sight(memory, home, clock):
    """A statement may rest on a public turn, and on nothing that the handle does not read."""
    with Memory(home, scope="public", clock=clock) as public:
        turn = public.record_turn("user", "The office is closed on Friday", said_at="2026-02-01")
    kept = memory.remember("The office is closed on Friday", source=turn.id).memory

    assert (turn.said_at, "user:mei") == (kept.said_at, kept.scope)


def test_a_turn_is_a_turn(memory):
    """`get` gives what the id names."""
    assert isinstance(memory.get(memory.record_turn("user", "早").id), Turn)


# ------------------------------------------------------------------ notes


def test_a_note_by_the_id_that_a_hit_shows(memory, home):
    """Whole or by its end, from the scope that reads it; it has no history, and what it says is changed in its file."""
    memory.notes.append_daily("The pump hums at night. 水泵夜里嗡嗡响。")
    (hit,) = memory.recall("水泵 pump", types=["note"])

    assert [hit.item] * 4 == [memory.get(id) for id in (hit.id, hit.id[-8:], f"#{hit.id[-8:]}", hit.id.upper())]
    assert 1 == memory.admin.stats().notes
    with pytest.raises(NotFound, match="has no history"):
        memory.get(hit.id, as_of="2026-01-01")
    for verb in (memory.forget, memory.admin.erase, lambda id: memory.update(id, content="x")):
        with pytest.raises(NotFound, match=r"a note's: memory/2026-03-01\.md, line 1\). Edit the file"):
            verb(hit.id[-8:])
    with Memory(home, scope="user:tom") as other, pytest.raises(NotFound, match="no memory or turn"):
        other.get(hit.id)
