"""`review`, `confirm`, `reject`: the queue of unconfirmed and conflicting statements."""

from datetime import timedelta

import pytest

from yiku.errors import InvalidInput, NotFound
from yiku.rules.deciding.slots import index_tokens
from yiku.types import Origin, Standing, State, UpdateMemory

CALLS = [
    {"id": "1", "name": "bash", "input": {"command": "pytest"}},
    {"id": "2", "name": "bash", "input": {"command": "python -m pytest"}},
]
RESULTS = [
    {"tool_use_id": "1", "content": "command not found: pytest", "is_error": True},
    {"tool_use_id": "2", "content": "3 passed"},
]


@pytest.fixture
def candidate(memory):
    """A skill that a tool's outcome showed."""
    memory.record_turn("assistant", "", session="s", tool_calls=CALLS, tool_results=RESULTS)
    memory.learn()
    (one,) = memory.admin.review()
    return one.memory


def test_what_waits_is_in_one_list(memory, candidate):
    """Candidates, then statements that contradict each other with what they contradict, then beliefs; nothing else."""
    memory.remember(
        "Lantern's colour scheme is blue.", subject="Lantern", predicate="colour scheme", object="blue", cardinality="unknown"
    )
    memory.remember(
        "Lantern's colour scheme is green.", subject="Lantern", predicate="colour scheme", object="green", cardinality="unknown"
    )
    memory.record_turn("user", "我可能对花粉过敏", session="s")
    memory.remember("I live in Oslo.")
    found = memory.admin.review()

    assert ["unconfirmed", "conflict", "conflict", "belief"] == [one.why for one in found]
    assert candidate.id == found[0].memory.id
    assert [["Lantern's colour scheme is blue."], ["Lantern's colour scheme is green."]] == sorted(
        [other.content for other in one.others] for one in found[1:3]
    )
    assert "我可能对花粉过敏。" == found[3].memory.content
    assert 2 == len(memory.admin.review(limit=2))


def test_a_candidate_is_in_no_answer_and_weighs_nothing(memory, candidate):
    """Found neither by recall nor in a context, of a tool's origin, never pinned; `get` and the list show it."""
    assert (State.CANDIDATE, Origin.TOOL, False) == (candidate.state, candidate.origin, candidate.pinned)
    assert candidate.id not in {hit.id for hit in memory.recall("bash python -m pytest")}
    assert candidate.content not in memory.context("bash python -m pytest").text
    assert candidate == memory.get(candidate.id)


@pytest.mark.spec("T-40")
def test_confirmed_it_counts_and_remembers_where_it_came_from(memory, candidate):
    """It is active, the user's, found; the turn that showed it is its source; nothing waits, and confirming again changes nothing."""
    confirmed = memory.confirm(candidate.id[-8:]).memory

    assert (State.ACTIVE, Origin.USER, 1.0) == (confirmed.state, confirmed.origin, confirmed.trust)
    assert (candidate.kind, candidate.content) == (confirmed.kind, confirmed.content)
    assert candidate.sources[0].turn in {source.turn for source in confirmed.sources}
    assert confirmed.id in {hit.id for hit in memory.recall("how do I run pytest with bash?")}
    assert [] == memory.admin.review()
    memory.learn()
    assert 1 == len(memory.get_all())


def test_a_confirmed_claim_is_decided_against_what_is_known(memory):
    """A belief that is confirmed fills its slot, and retires what stood there."""
    memory.remember("I live in Bergen.", said_at="2026-01-01")
    belief = memory.remember("Mei lives in Oslo.", subject="user", predicate="lives in", object="Oslo", standing="belief").memory
    assert {"Bergen", "Oslo"} == {m.object for m in memory.get_all()}
    memory.confirm(belief.id)
    (home,) = memory.get_all()

    assert ("Oslo", Standing.FACT) == (home.object, home.standing)
    assert [] == memory.admin.review()


def test_of_two_that_contradict_each_other_the_confirmed_stays(memory):
    """The other leaves, and can be restored; nothing is marked any more."""
    slot = {"subject": "Lantern", "predicate": "colour scheme", "cardinality": "unknown"}
    blue = memory.remember("Lantern's colour scheme is blue.", object="blue", **slot).memory
    memory.remember("Lantern's colour scheme is green.", object="green", **slot)
    assert 2 == len(memory.admin.review())
    memory.confirm(blue.id)

    assert ([blue.id], []) == ([m.id for m in memory.get_all()], memory.admin.review())
    assert memory.get(blue.id).flag is None


def test_rejected_it_leaves_and_is_not_learned_again(memory, candidate):
    """From the same turn, however often learning runs; it can be brought back."""
    gone = memory.reject(candidate.id)
    for _ in range(2):
        memory.learn()

    assert [candidate.id] == [m.id for m in gone.memories]
    assert ([], []) == (memory.get_all(), memory.admin.review())
    assert "rejected" in memory.get(candidate.id).reason
    memory.restore(candidate.id)
    assert [(candidate.id, State.CANDIDATE)] == [(m.id, m.state) for m in memory.get_all()]


def test_what_the_user_rejects_of_his_own_is_not_learned_again(memory):
    """A statement that was learned wrongly from a turn stays away when learning comes to that turn again."""
    memory.record_turn("user", "I live in Bergen.", session="s")
    memory.reject(memory.get_all()[0].id)
    memory.learn()
    memory.sessions.compressing([{"role": "user", "content": "I live in Bergen."}], session="s")
    memory.sessions.end("s")

    assert [] == memory.get_all()


@pytest.mark.parametrize("told", ["belief", "candidate"])
def test_a_confirmation_is_undone_at_once(memory, candidate, told):
    """What was confirmed waits again to be looked at, as it was, and what it retired is live; and once more the other way."""
    memory.remember("I live in Bergen.", said_at="2026-01-01")
    if told == "belief":
        slot = {"subject": "user", "predicate": "lives in", "object": "Oslo"}
        candidate = memory.remember("Mei lives in Oslo.", standing="belief", **slot).memory
    before = memory.get_all()
    outcome = memory.confirm(candidate.id)
    assert {"confirm"} == {row.operation for row in memory.admin.journal() if row.transaction == outcome.operation}
    undone = memory.admin.undo(outcome.operation)

    assert [(m.id, m.state, m.superseded_by) for m in before] == [(m.id, m.state, m.superseded_by) for m in memory.get_all()]
    assert candidate.id in {one.memory.id for one in memory.admin.review()}
    memory.admin.undo(undone.operation)
    assert outcome.memory.id in {m.id for m in memory.get_all()}
    assert candidate.id not in {m.id for m in memory.get_all()}


@pytest.mark.parametrize("verb", ["confirm", "reject"])
def test_only_what_is_live_can_be_judged(memory, verb):
    """A turn, a former version, what was forgotten, and what is not there."""
    turn = memory.record_turn("user", "hello there", session="s")
    old = memory.remember("I live in Bergen.").memory
    new = memory.remember("I moved to Oslo.").memory
    memory.forget(new.id)
    before = memory.admin.stats()
    for id in (turn.id, "00000000-0000-7000-8000-000000000000"):
        with pytest.raises(NotFound):
            getattr(memory, verb)(id)
    for id in (old.id, new.id):
        with pytest.raises(InvalidInput, match=f"is no longer current.*history {id}"):
            getattr(memory, verb)(id)

    assert before == memory.admin.stats()


MASCOTS = pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Our mascot is a badger.", "badger"), ("Our mascot is an otter.", "otter")),
        (("我们的吉祥物是獾。", "獾"), ("我们的吉祥物是水獭。", "水獭")),
    ],
)


def contradicting(memory, *statements):
    return [memory.remember(text, predicate="mascot", object=value).memory.id for text, value in statements]


def flags(memory):
    return {item.id: (item.flag, item.flagged_with) for item in memory.get_all()}


@MASCOTS
def test_undoing_a_confirmation_brings_the_contradicted_back(memory, one, other):
    """The operation that `confirm` names takes back all that it did: both are live, flagged, and in the list again."""
    ids = contradicting(memory, one, other)
    before = flags(memory)
    outcome = memory.confirm(ids[0])

    assert {ids[0]: (None, ())} == flags(memory)

    undone = memory.admin.undo(outcome.operation)

    assert before == flags(memory)
    assert ["conflict", "conflict"] == [each.why for each in memory.admin.review()]

    memory.admin.undo(undone.operation)

    assert {ids[0]: (None, ())} == flags(memory)


@MASCOTS
def test_restoring_what_was_rejected_flags_both_again(memory, one, other):
    """Either can be confirmed then, and archives the other."""
    ids = contradicting(memory, one, other)
    before = flags(memory)
    memory.reject(ids[0])
    back = memory.restore(ids[0])

    assert before == flags(memory)

    memory.admin.undo(back.operation)

    assert {ids[1]: (None, ())} == flags(memory)

    memory.restore(ids[0])
    memory.confirm(ids[1])

    assert {ids[1]: (None, ())} == flags(memory)


@MASCOTS
def test_what_comes_back_alone_contradicts_nothing(memory, one, other):
    """Where what it contradicted was forgotten meanwhile, it comes back without a flag."""
    ids = contradicting(memory, one, other)
    memory.reject(ids[0])
    memory.forget(ids[1])
    memory.restore(ids[0])

    assert {ids[0]: (None, ())} == flags(memory)
    assert [] == memory.admin.review()


@MASCOTS
@pytest.mark.parametrize("ended", ["expired", "updated", "replaced"])
def test_a_contradiction_is_over_when_one_side_is(memory, clock, one, other, ended):
    """Archived by a night, or with another text: nothing contradicts the other any more; an undo brings the flags back."""
    given = {"expired": {"expires_at": "2026-03-05"}, "replaced": {"external_id": "mascot"}}
    ids = [
        memory.remember(text, predicate="mascot", object=value, **(given.get(ended, {}) if text == one[0] else {}))
        for text, value in (one, other)
    ]
    ids = [outcome.memory.id for outcome in ids]
    before = flags(memory)
    clock.advance(days=6)
    if ended == "expired":
        operation = memory.admin.consolidate().items[0].operation
    elif ended == "updated":
        memory.update(ids[0], "The old mascot stands in the cellar. 旧的吉祥物在地下室。")
        operation = memory.admin.journal(limit=1)[0].transaction
    else:
        operation = memory.remember("The mascot is a stoat. 吉祥物是白鼬。", external_id="mascot").operation

    assert {(None, ())} == {*flags(memory).values()}
    assert [] == memory.admin.review()
    assert "#" + ids[0][-8:] not in memory.context("mascot 吉祥物").text
    memory.admin.undo(operation)
    clock.now = min(clock.now, memory.get(ids[0]).expires_at or clock.now) - timedelta(minutes=1)

    assert before == flags(memory)


def test_of_three_that_contradict_each_other_two_end_in_one_night(memory, clock):
    """The first changes the second, which ends all the same; the third is left without a flag."""
    values = ("badger", "otter", "stoat")
    ids = contradicting(memory, *((f"Our mascot is a {value}.", value) for value in values))
    for id in ids[:2]:
        memory.update(id, expires_at="2026-03-05")
    clock.advance(days=6)
    done = memory.admin.consolidate()

    assert {"expired": 2} == done.counts
    assert {ids[2]: (None, ())} == flags(memory)
    memory.admin.undo_run(done.run)

    assert [("conflict", tuple(id for id in ids if id != one)) for one in ids] == [
        (memory.get(one).flag, tuple(sorted(memory.get(one).flagged_with))) for one in ids
    ]


@MASCOTS
def test_a_flag_that_names_nothing_live_goes_with_a_confirmation(memory, one, other):
    """As homes of before hold it: confirmed, it is out of the list; undone, it is as it was."""
    ids = contradicting(memory, one, other)
    gone = memory.get(ids[0])
    handle = memory._handle
    archived = UpdateMemory(gone.n, {"state": State.ARCHIVED, "reason": "expired"}, index_tokens(gone))
    handle.store.apply(handle.writes(), [archived], handle.cause("consolidate"))
    before = flags(memory)
    outcome = memory.confirm(ids[1])

    assert {ids[1]: ("conflict", (ids[0],))} == before
    assert ({ids[1]: (None, ())}, []) == (flags(memory), memory.admin.review())
    memory.admin.undo(outcome.operation)

    assert before == flags(memory)
