"""Erasure in every text column of every table: no copy stays, or the receipt names the column and is not clean."""

import shutil
from pathlib import Path

import canaries
import pytest
from store import filled

from yiku import Memory
from yiku.rules.privacy import scopes
from yiku.types import Place

WORD, HAN = "zqvblorptinx", "𩺙𨏏𢝫𤍚"
SENTENCE = f"My watchword is {WORD} {HAN}."


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with rows in every table."""
    home = tmp_path_factory.mktemp("full") / "home"
    filled.filled(home)
    return home


def erased(home: Path) -> tuple[bool, set[str]]:
    """Tell the sentence, erase it; whether the receipt is clean, and which columns it says are kept."""
    with Memory(home, learn="later", search="words", durability="fast") as memory:
        done = memory.admin.erase(memory.remember(SENTENCE, despite_erasure=True).memory.id)
        kept = {one.name.split(" ")[0] for one in done.kept if isinstance(one, Place)}
        return done.clean, kept


@pytest.mark.spec("T-39")
def test_in_every_text_column_it_goes_or_is_named(full, home, tmp_path):
    """Planted into each column that the schema has, one row each: what stands there afterwards is what the receipt names, no more."""
    shutil.copytree(full, home)
    planted = filled.planted(home, SENTENCE, without=set())
    assert planted == filled.holding(home / "yiku.db", SENTENCE)
    assert len(planted) > 100
    clean, kept = erased(home)
    left = {f"{table}.{column}" for table, column in filled.holding(home / "yiku.db", SENTENCE)}

    assert (set(), set(), False) == (left - kept, kept - left, clean)
    assert len(left) < len(planted) / 2
    assert {
        "changes.reason",
        "changes.before",
        "receipts.key",
        "memories.metadata",
        "memory_tags.name",
        "memories.content",
    }.isdisjoint(left)

    second = Path(shutil.copytree(full, tmp_path / "second"))
    without = {(table, column) for table, column in planted if f"{table}.{column}" in left}
    assert planted - without == filled.planted(second, SENTENCE, without=without)
    assert canaries.sung(second, [WORD, HAN])
    assert (True, set()) == erased(second)
    assert [] == canaries.sung(second, [WORD, HAN])
    assert not scopes.is_valid(SENTENCE)


def test_what_quotes_it_and_what_a_tool_said_of_it_goes(memory, home):
    """Another statement that says it, a candidate learned from a tool's error, an entity in the words of the third person."""
    kept = memory.remember(SENTENCE).memory
    other = memory.remember(
        "Ann prefers tea. 安喜欢茶", entities=[SENTENCE], tags=["tea"], metadata={"of": [SENTENCE], SENTENCE: 1}
    ).memory
    quoting = memory.remember(f"Bo told me: {SENTENCE.lower()}").memory
    memory.forget(memory.remember("Tim likes coffee").memory.id, reason=SENTENCE)
    memory.remember("Kim likes milk", idempotency_key=SENTENCE)
    called, came = (
        [{"name": "look", "input": {}, "id": "c"}],
        [{"tool_use_id": "c", "content": f"Error: {SENTENCE}", "is_error": True}],
    )
    memory.record_turn("assistant", "Calling. 在调用", tool_calls=called, tool_results=came, session="tools")
    memory.learn()
    memory.admin.backup()
    (candidate,) = memory.get_all(where={"state": "candidate"})
    planned = memory.admin.erase(kept.id, dry_run=True)
    erased = memory.admin.erase(kept.id)

    assert WORD in candidate.content
    assert {kept.id, quoting.id, candidate.id} == {one.id for one in planned.memories} == {one.id for one in erased.memories}
    assert (True, ()) == (erased.clean, erased.kept), [place for place in erased.places if place.found]
    left = memory.get(other.id)
    assert (("tea",), {"of": ["[已抹去]"], "[已抹去]": 1}) == (left.tags, left.metadata)
    assert [] == canaries.sung(home, [WORD, HAN])
    assert () == memory.admin.check("deep").problems


def test_where_it_must_stay_the_receipt_says_so(memory, home):
    """A session that is called so, a speaker, the object of another slot: each is named, in a dry run and a backup too; it is not clean."""
    kept = memory.remember(SENTENCE).memory
    turn = memory.record_turn("user", "Hello. 你好", session=SENTENCE, speaker=SENTENCE)
    other = memory.remember("The gate is open", subject="gate", predicate="note", object=SENTENCE).memory
    memory.admin.backup()
    planned = memory.admin.erase(kept.id, dry_run=True)
    erased = memory.admin.erase(kept.id)
    names = [f"conversation_turns.speaker of {turn.id}", f"memories.object of {other.id}", "sessions.id"]

    assert names == sorted(place.name for place in planned.kept if isinstance(place, Place))
    assert names == sorted(place.name for place in erased.kept if isinstance(place, Place))
    assert not erased.clean
    assert ["backups"] == [place.name.split("/")[0] for place in erased.places if place.found]
    assert memory.get(other.id).object.startswith("My watchword")


def test_of_a_turn_only_what_nobody_told_counts(memory):
    """Another turn and a statement of somebody's own say the sentence, too: that is theirs. A label that repeats it is not."""
    other = memory.record_turn("user", f"Again: {SENTENCE}", session="s2")
    statement = memory.remember(SENTENCE).memory
    tagged = memory.remember("Ann prefers tea. 安喜欢茶", tags=[SENTENCE[:-1]]).memory
    turn = memory.record_turn("assistant", SENTENCE, session="s1")
    erased = memory.admin.erase(turn.id)

    assert (True, ()) == (erased.clean, erased.kept)
    assert (other.content, statement.content, ()) == (
        memory.get(other.id).content,
        memory.get(statement.id).content,
        memory.get(tagged.id).tags,
    )
