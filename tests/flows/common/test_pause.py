"""Pausing: no process stores anything new meanwhile, nor ever in a folder that is switched off."""

import pytest
from workers import together

from yiku import Memory
from yiku.errors import Closed, InvalidInput, KeptOut, Paused
from yiku.types import MemoryRecord, TurnRecord

KEEPING = {
    "record": lambda memory: memory.record([{"role": "user", "content": "x"}]),
    "record_turn": lambda memory: memory.record_turn("user", "x"),
    "remember": lambda memory: memory.remember("我喜欢绿茶"),
    "update": lambda memory: memory.update(memory.get_all()[0].id, "I live in Oslo now"),
    "update in place": lambda memory: memory.update(memory.get_all()[0].id, tags=["a"]),
    "import": lambda memory: memory.admin.import_([TurnRecord(1, {"role": "user", "content": "x"})], source="s"),
}


@pytest.mark.parametrize("verb", KEEPING)
def test_while_paused_nothing_new_is_kept(memory, verb):
    """Every verb that keeps refuses, with until when; after `resume` it works."""
    memory.remember("I live in Oslo")
    before = memory.admin.stats()
    memory.admin.pause("2026-03-01T11:00:00+01:00")
    with pytest.raises(Paused, match="2026-03-01T11:00"):
        KEEPING[verb](memory)

    assert before.changes == memory.admin.stats().changes
    assert (True, False) == (memory.admin.resume(), memory.admin.resume())
    KEEPING[verb](memory)
    assert before.changes < memory.admin.stats().changes


def test_what_is_known_can_be_found_and_forgotten(memory):
    """Looking, counting a use, forgetting, restoring and undoing go on."""
    kept = memory.remember("我住在奥斯陆").memory
    memory.admin.pause()

    assert "奥斯陆" in memory.recall("我住在哪里？").text
    assert 1 == memory.feedback(kept.id, "used").used
    gone = memory.forget(kept.id)
    memory.restore(kept.id)
    assert memory.admin.undo(memory.forget(kept.id).operation) and gone.memories


def test_a_pause_ends_by_itself(memory, clock):
    """At its time, without `resume`; a second pause takes the place of the first."""
    assert memory.admin.pause() is None
    end = memory.admin.pause("2026-03-01T10:00")
    clock.advance(minutes=59)
    with pytest.raises(Paused):
        memory.remember("早")
    clock.advance(minutes=1)

    assert clock.now == end and memory.remember("早").memory.content == "早"
    assert memory.admin.resume() is False


def test_a_time_that_has_passed_is_refused(memory):
    """So is what is no time; and a closed memory says so. Nothing is paused by it."""
    for wrong in ("2026-02-28", "soon", 5):
        with pytest.raises(InvalidInput, match="until"):
            memory.admin.pause(wrong)
    assert memory.record_turn("user", "早")
    memory.close()
    for verb in (memory.admin.pause, memory.admin.resume):
        with pytest.raises(Closed):
            verb()


def test_a_pause_is_one_private_file(memory, home):
    """0600, written whole; what cannot be read holds until `resume`."""
    memory.admin.pause()
    assert 0o600 == (home / "paused").stat().st_mode & 0o777
    (home / "paused").write_bytes(b"\xff\x00 torn")
    with pytest.raises(Paused, match="yiku resume"):
        memory.record_turn("user", "早")

    assert memory.admin.resume() and not (home / "paused").exists()


def test_a_pause_is_a_trouble(memory):
    """`status` says so, with until when; after `resume` nothing is wrong."""
    memory.admin.pause("2026-03-01T11:00:00+01:00")
    assert any("paused until 2026-03-01 11:00" in trouble for trouble in memory.status().troubles)
    memory.admin.resume()

    assert () == memory.status().troubles


def try_to_record(home, n) -> str:
    with Memory(home, owner="user:mei") as memory:
        try:
            return memory.record_turn("user", f"第 {n} 句").content
        except Paused as error:
            return type(error).__name__


def test_every_process_is_paused_at_once(home):
    """Two others, started afterwards or already open, keep nothing from the moment on."""
    with Memory(home, owner="user:mei") as one, Memory(home, owner="user:mei") as other:
        other.record_turn("user", "before 之前")
        one.admin.pause()
        with pytest.raises(Paused):
            other.record_turn("user", "after")

        assert ["Paused", "Paused"] == together(try_to_record, [(home, 1), (home, 2)])


# ------------------------------------------------------------------ folders


@pytest.fixture
def folders(tmp_path, home, clock):
    """A folder that the setting names, and a memory with that setting."""
    secret = tmp_path / "项目" / "secret"
    secret.mkdir(parents=True)
    with Memory(home, owner="user:mei", private_folders=[str(secret)], clock=clock) as memory:
        yield secret, memory


def test_in_a_private_folder_nothing_is_kept(folders):
    """There and below, by its path, through links and dots; what is said beside it is kept."""
    secret, memory = folders
    (link := secret.parent / "link").symlink_to(secret)
    for inside in (secret, secret / "src", f"{secret}/../secret/x", link / "y"):
        for said in ({"project": str(inside)}, {"metadata": {"cwd": str(inside)}}):
            with pytest.raises(KeptOut):
                memory.record_turn("user", "早", **said)
            with pytest.raises(KeptOut):
                memory.remember("我喜欢绿茶", **said)
    recorded = memory.record([{"role": "user", "content": "x", "project": p} for p in (f"{secret}s", str(secret), "secret")])

    assert (2, 0, 2) == (len(recorded.ids), recorded.known, memory.admin.stats().turns)


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_import_counts_what_was_said_in_a_folder_that_is_off(folders, tmp_path, dry_run):
    """By the setting, or by a file `.yiku-off` in it or above it."""
    secret, memory = folders
    off = tmp_path / "off" / "a" / "b"
    off.mkdir(parents=True)
    (tmp_path / "off" / ".yiku-off").touch()
    said = [{"cwd": str(secret)}, {"cwd": str(off)}, {"cwd": str(tmp_path)}, {}]
    records = [TurnRecord(i, {"role": "user", "content": f"第{i}", "metadata": where}) for i, where in enumerate(said)]
    report = memory.admin.import_([*records, MemoryRecord(9, "绿茶", {"project": str(off)})], source="s", dry_run=dry_run)

    assert (2, 0, {"in a folder that is switched off": 3}) == (report.turns, report.memories, dict(report.skipped))
