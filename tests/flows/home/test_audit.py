"""`audit`: each check finds its fault, counts it, and is compared with its budget."""

import pytest

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.rules.deciding.slots import index_tokens
from yiku.types import UpdateMemory

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def found(memory, **options):
    return {one.check: one for one in memory.admin.audit(**options).findings}


def test_a_sound_memory_has_nothing_to_do(memory):
    """Different statements, in both languages, and a turn: every check is within its budget."""
    memory.record_turn("user", "I live in Oslo.", session="s1")
    memory.remember("我喜欢绿茶")
    audit = memory.admin.audit()

    assert () == audit.over
    assert (2, 1) == (audit.memories, audit.turns)
    assert {0} == {one.count for one in audit.findings}


def test_the_same_words_in_another_spelling_are_a_duplicate(memory):
    """Spaces, case and punctuation do not count, in either language; another number does."""
    for text in ("The boiler is in the cellar.", "The boiler is - in the cellar", "锅炉在地下室。", "锅炉 在地下室"):
        memory.remember(text)
    memory.remember("Room 21 has a projector.")
    memory.remember("Room 12 has a projector.")
    one = found(memory)["duplicates"]

    assert (2, 6, True) == (one.count, one.of, one.over)
    assert {2} == {len(ids) for ids in one.examples}


def test_a_flag_and_a_later_value_are_contradictions(memory):
    """Two mentors, flagged when the second was told, are two statements of one contradiction."""
    memory.remember("My mentor is Ann", subject="user", predicate="mentor", object="Ann")
    memory.remember("My mentor is 李雷", subject="user", predicate="mentor", object="李雷")
    memory.remember("我喜欢绿茶")
    memory.remember("我喜欢咖啡")
    one = found(memory)["contradictions"]

    assert (2, 4, True) == (one.count, one.of, one.over)


def test_a_statement_whose_turn_is_gone_has_no_support(home):
    """The only turn that it names is not there: an orphaned source, and a statement without support."""
    with Memory(home, owner="user:mei") as memory:
        turn = memory.record_turn("user", "Let me tell you something.", session="s1")
        boat = memory.remember("I own a boat", source=turn.id).memory
        with memory._handle.store._database.read() as connection:  # as it may be after a repair that found no such turn
            connection.execute("pragma foreign_keys = off")
            connection.execute("delete from conversation_turns")
        audit, why = memory.admin.audit(), memory.why(boat.id)

    assert ("unsupported", "orphans") == audit.over
    assert 1 == audit.details["sources"]
    assert [None] == [words.text for words in why.words]
    assert "its turn is gone" in why.page


def test_a_secret_that_was_kept_is_found_in_memories_and_turns(memory, home):
    """Kept by `secrets = keep`, it is counted; the page names where it is and does not show it."""
    memory.close()
    with Memory(home, secrets="keep") as keeping:
        keeping.remember(f"The token is {KEY}")
        keeping.record_turn("user", f"使用令牌 {KEY}", session="s1")
        audit = keeping.admin.audit()

    assert ("secrets",) == audit.over
    assert 2 <= next(one.count for one in audit.findings if one.check == "secrets")
    assert KEY not in audit.page


def test_what_is_never_used_and_what_is_stale(memory, clock):
    """After a month a statement may be unused, after half a year stale; what was used is neither, and a rule is never stale."""
    memory.remember("I own a boat")
    memory.remember("以后回答都用中文。", kind="rule")
    used = memory.remember("我喜欢绿茶").memory
    assert (0, 0) == (found(memory)["never_recalled"].count, found(memory)["stale"].count)
    clock.advance(days=31)
    assert (3, 0) == (found(memory)["never_recalled"].count, found(memory)["stale"].count)
    clock.advance(days=160)
    memory.feedback(used.id, "used")
    checks = found(memory)

    assert (2, 1) == (checks["never_recalled"].count, checks["stale"].count)
    assert not checks["never_recalled"].over


def test_a_budget_of_ones_own(memory, clock):
    """A share of the caller's makes a check fail, or allows what it found."""
    memory.remember("The boiler is in the cellar.")
    memory.remember("The boiler is - in the cellar.")
    clock.advance(days=40)

    assert ("duplicates",) == memory.admin.audit().over
    assert ("never_recalled",) == memory.admin.audit(budgets={"duplicates": 0.5, "never_recalled": 0.1}).over
    for wrong in ({"colour": 0.1}, {"stale": 2}, {"stale": True}):
        with pytest.raises(InvalidInput):
            memory.admin.audit(budgets=wrong)


def test_what_names_something_that_is_gone_is_an_orphan(home):
    """Replaced by, or marked against, an id that no row has."""
    with Memory(home, owner="user:mei") as memory:
        boat = memory.remember("I own a boat").memory
        car = memory.remember("我有一辆车").memory
        gone = "01a20a2d-5ddf-7000-9412-36c9609a65d2"
        handle = memory._handle
        changes = [
            UpdateMemory(boat.n, {"superseded_by": gone}, index_tokens(boat)),
            UpdateMemory(car.n, {"flag": "conflict", "flagged_with": (gone[:-1] + "3",)}, index_tokens(car)),
        ]
        handle.store.apply(handle.writes(), changes, handle.cause("update"))
        audit = memory.admin.audit()

    assert {"sources": 0, "replaced": 1, "flags": 1} == dict(audit.details)
    assert "orphans" in audit.over


def test_the_page_is_short_and_in_the_language_of_the_memory(memory):
    """A table of the checks and a few examples of each that found something: under a screen, in Chinese or English."""
    for number in range(40):
        memory.remember(f"第{number}号泵在三楼。")
        memory.remember(f"第{number}号泵 在三楼")
    page = memory.admin.audit().page

    assert "| 重复 | 40 |" in page
    assert 3 == page.count(" = ")
    assert len(page.splitlines()) < 40
    assert "随" not in page
