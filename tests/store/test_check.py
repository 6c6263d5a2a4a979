"""The store's integrity checks: each invariant is broken once and found. A whole home: tests/flows/home/test_doctor.py."""

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from workers import clocked

from yiku.flows.home.doctor import WORDS
from yiku.store import pages
from yiku.store.check import Findings, check_store
from yiku.store.identity_file import IdentityFile

BREAKS: dict[str, tuple[str, str, str]] = {  # what: SQL that breaks it, how deep it is found, what is said
    "a successor that is not there": ("update memories set superseded_by = 'x' where n = 1", "full", "superseded by x"),
    "two live values": ("drop index one_live_value; update memories set superseded_by = null", "full", "live values"),
    "two live texts": (
        "drop index one_live_text; drop index one_live_value;"
        " update memories set content_hash = x'00', kind = 'fact', state = 'active', superseded_by = null",
        "full",
        "live rows have its words",
    ),
    "a detail in another scope": ("update memory_entities set scope_id = 9", "full", "lies in another scope"),
    "no source": ("delete from memory_sources where memory_n = 1", "full", "has no source"),
    "a turn rewritten": ("update conversation_turns set content = '别的 other' where n = 1", "full", "is not what was written"),
    "a memory rewritten": ("update memories set importance = 0.9 where n = 1", "full", "is not what was written"),
    "a turn gone": ("delete from conversation_turns where n = 2", "full", "the journal does not say why"),
    "a position taken twice": ("drop index turns_by_position; update conversation_turns set position = 0", "full", "positions"),
    "a session's times": ("update sessions set started_at = 1", "full", "times"),
    "a journal row gone": ("delete from changes where number = 2", "full", "journal rows 2 to 2 are missing"),
    "a journal row rewritten": ("update changes set operation = 'x' where number = 2", "full", "journal row 2 was altered"),
    "a change not carried": ("update memories set changed = 1 where n = 2", "full", "does not carry its last change"),
    "an episode rewritten": ("update episodes set summary = '别的 other'", "full", "of episodes is not what was written"),
    "a scratchpad rewritten": ("update scratchpad set current_focus = 'x'", "full", "of scratchpad is not what was written"),
    "an attachment rewritten": ("update attachments set description = 'x'", "full", "of attachments is not what was written"),
    "an episode's change not carried": ("update episodes set changed = 1", "full", "of episodes does not carry its last change"),
    "an episode not in the index": (
        "insert into episode_index (episode_index) values ('delete-all')",
        "deep",
        "episode",
    ),
    "an attachment's index entry too many": (
        "insert into attachment_index (rowid, tokens) values (64, 's1qextra')",
        "deep",
        "too many s1qextra",
    ),
    "a place behind the turn's end": (
        "update memory_sources set turn = (select id from conversation_turns where n = 1), span_start = 3, span_end = 99"
        " where memory_n = 1",
        "full",
        "characters that its turn does not have",
    ),
    "a mark of a turn of nobody": ("pragma foreign_keys = off; insert into turn_work values (99, 1, 0, 0, '')", "full", "is not there"),
    "a row of nobody": ("insert into memory_tag_rel values (1, 99, 99)", "full", "is not there"),
    "an index entry gone": ("delete from turn_index_data where id > 10", "quick", "turn_index"),
    "an index entry too many": ("insert into memory_index (rowid, tokens) values (64, 's1qextra')", "deep", "too many s1qextra"),
    "numbers that were given": ("delete from sqlite_sequence where name = 'memories'", "full", "would give the number 3 again"),
    "a counter": ("update index_stats set words = words + 1", "deep", "counters"),
    "another program's number": ("pragma application_id = 7", "quick", "another program's"),
}  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds a bit of everything, closed."""
    home = tmp_path_factory.mktemp("sound") / "home"
    with clocked(home, learn="off") as memory:
        for text in ("我住在 Bergen 😀", "and a second 第二句"):
            memory.record_turn("user", text, session="s1")
        memory.remember("I live in Bergen.", tags=["家"])
        memory.remember("我搬到了 Oslo。", tags=["家"])
        memory.remember("小明喜欢绿茶")
        memory.sessions.attach("/tmp/小猫 cat.jpg", session="s1", description="一只猫 a cat")
        memory.sessions.patch_scratchpad(add_next_steps=["发布 release"])
        memory.sessions.end("s1")
    return home


@pytest.fixture
def database(sound: Path, home: Path) -> Path:
    return Path(shutil.copytree(sound, home)) / "yiku.db"


def looked(database: Path, depth: str, **more: object) -> Findings:
    found = Findings(bytes.fromhex(database.with_name("key").read_text()))
    check_store(found, database, depth, IdentityFile(database.with_name("store.id")).read(), WORDS)
    return found


def broken(database: Path, sql: str) -> None:
    """SQL that Yiku would not run."""
    pages.enabled()
    connection = apsw.Connection(str(database))
    connection.pragma("writable_schema", "on")
    connection.execute(sql)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()


@pytest.mark.parametrize("depth", ["quick", "full", "deep"])
def test_a_sound_store_has_no_problems_and_is_not_written(database, depth):
    """All is well at each depth, the report counts what was looked at, and every byte stays as it was."""
    before = {path: path.read_bytes() for path in database.parent.rglob("*") if path.is_file() and path.suffix != ".db-shm"}
    found = looked(database, depth)

    assert ([], []) == (found.problems, found.notes)
    assert {"files", "pages"} <= {*found.looked_at}
    rows = {"conversation_turns": 2, "memories": 3, "episodes": 1, "scratchpad": 1, "attachments": 1}
    assert depth == "quick" or rows.items() <= found.looked_at.items()
    assert depth != "deep" or found.looked_at["index entries"] > 20
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.parametrize(
    ("version", "said"), [(99, "schema 99: a later Yiku wrote it; this one reads up to "), (1, "schema 1: an ea")]
)
def test_a_schema_of_another_version_is_a_note_that_can_be_read(database, version, said):
    """A whole sentence: which schema the file has, and what that means for this Yiku."""
    broken(database, f"pragma user_version = {version}")

    (note,) = looked(database, "quick").notes
    assert note.startswith(said)
    assert not note.endswith((" op", ","))


@pytest.mark.parametrize("what", BREAKS)
def test_what_is_broken_is_found_and_named(database, what):
    """Each breach has a line that says what and where; and it is found as deep as is promised."""
    sql, depth, said = BREAKS[what]
    assert [] == looked(database, depth).problems
    broken(database, sql)

    assert any(said in problem for problem in looked(database, depth).problems), looked(database, depth).problems


def test_many_problems_of_one_sort_are_counted(database):
    """Ten are named, of the others how many there are."""
    with clocked(database.parent) as memory:
        memory.record([{"role": "user", "content": f"{i} 句 turn"} for i in range(30)], session="s2")
    broken(database, "update conversation_turns set content = 'x'")
    found = looked(database, "full").problems

    assert 10 == sum(problem.startswith("turn ") for problem in found)
    assert "rows: 22 more" in found


def test_a_lost_key_is_named_and_then_the_journal_goes_on(database):
    """Without its key the chain cannot be verified; after the next write, the rows from before are what cannot be."""
    database.with_name("key").write_text("00" * 32)
    assert any("key" in problem for problem in looked(database, "full").problems)
    with clocked(database.parent) as memory:
        memory.remember("another chain begins 新的链")
    found = looked(database, "full")

    assert [] == found.problems
    assert any("written under a key that is lost" in note for note in found.notes)


FLIPS: dict[str, Callable[[int], int]] = {"the middle": lambda size: size // 2, "the end": lambda size: size - 100}


@pytest.mark.parametrize("where", FLIPS)
def test_a_page_that_is_not_what_was_written_is_found_wherever_it_is(database, where):
    """The deep look reads every page from the disk, used or not, and names its number."""
    content = bytearray(database.read_bytes())
    at = FLIPS[where](len(content))
    content[at] ^= 4
    database.write_bytes(content)

    assert f"page {at // 4096 + 1} is not what was written" in looked(database, "deep").problems
