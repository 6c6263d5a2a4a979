"""`check` and `repair` of a whole home, from Python and the command line."""

import json
import os
import shutil
import signal
import stat
from pathlib import Path
from random import Random

import apsw
import pytest
from faults.damage import Case, Sound, copied, flipped, sound
from faults.disk import failing
from integrity import check as whole
from interfaces.test_cli import run
from workers import READY, clocked

import yiku
from yiku import Memory
from yiku.errors import Damaged, HomeMissing, InvalidInput, StoreBusy
from yiku.types import AddJobs, EndJob, Job


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return sound(tmp_path_factory.mktemp("sound"), rows=6)


@pytest.fixture
def damaged(homes: Sound, home: Path) -> Path:
    """A home with a bit flipped in a page of memories, and one in its newest turns."""
    copied(homes.rest, home)
    case = Case(home, homes, Random(3))
    flipped("memories")(case)
    flipped("conversation_turns")(case)
    return home


# ------------------------------------------------------------------ check


@pytest.mark.long
def test_check_looks_at_blobs_and_backups_when_deep(homes, home):
    """A blob that is not what its name says and a backup that is damaged are problems of the deep look only."""
    copied(homes.rest, home)
    (blob,) = home.glob("blobs/*/*.z")
    (backup,) = (home / "backups").glob("*.db")
    blob.write_bytes(b"x")
    backup.write_bytes(backup.read_bytes()[:5000])

    assert () == yiku.check(home).problems
    found = yiku.check(home, "deep")
    assert any(blob.stem in problem for problem in found.problems)
    assert any(backup.name in problem for problem in found.problems)
    assert (1, 1) == (found.looked_at["blobs"], found.looked_at["backups"])


def test_check_is_the_same_from_an_open_memory(damaged):
    """`memory.admin.check` says what `yiku.check` says, while others may be writing."""
    with Memory(damaged) as memory:
        assert yiku.check(damaged).problems == memory.admin.check().problems != ()


def test_check_makes_no_home_and_knows_its_depths(home):
    """A home that is not there is not made; a depth that is not known is refused."""
    with pytest.raises(HomeMissing):
        yiku.check(home)
    assert not home.exists()
    with pytest.raises(InvalidInput, match="quick, full, deep"):
        yiku.check(home, "thorough")


def test_the_command_line_checks_and_ends_with_one(homes, home, damaged):
    """A person reads what is wrong and what to do; a script gets the report as JSON; both end with 1, a sound home with 0."""
    ran, as_json = run(damaged, "check"), run(damaged, "check", "--deep", "--json")

    assert (1, 1) == (ran.code, as_json.code)
    assert "is not what was written" in ran.out and "yiku repair --dry-run" in ran.err
    assert not as_json.json["sound"] and "deep" == as_json.json["check"]["depth"]
    copied(homes.rest, home)
    sound_one = run(home, "check", "--quick")
    assert 0 == sound_one.code and "all is well" in sound_one.out


# ------------------------------------------------------------------ repair


def test_repair_says_what_came_from_where_and_keeps_the_damaged_file(damaged):
    """Most rows come from the file, what its damaged pages held from the backup, and the old file lies aside, byte for byte."""
    before = (damaged / "yiku.db").read_bytes()
    repaired = yiku.repair(damaged)

    whole(damaged / "yiku.db")
    assert {"the file", "20260302T090000Z.db"} >= {*repaired.rows["memories"]} >= {"the file"}
    kept = Path(str(repaired.kept))
    assert before == (kept / "yiku.db").read_bytes()
    assert damaged / "damaged" == kept.parent
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (kept.parent, kept, kept / "yiku.db", damaged / "yiku.db")}
    assert [0o700, 0o700, 0o600, 0o600] == [*modes.values()]
    with Memory(damaged) as memory:
        memory.remember("And on it goes 继续")
    assert () == yiku.repair(damaged).problems


def test_a_dry_run_changes_nothing_and_tells_the_same(damaged):
    """What it would come to, row by row; not a byte is changed, and nothing is left behind."""
    before = {
        path: path.read_bytes() for path in damaged.rglob("*") if path.is_file() and path.suffix not in (".db-wal", ".db-shm")
    }
    planned = yiku.repair(damaged, dry_run=True)

    assert before == {path: path.read_bytes() for path in before}
    assert [] == [*(damaged / "damaged").glob("*")]
    repaired = yiku.repair(damaged)
    assert (planned.problems, planned.rows, planned.lost) == (repaired.problems, repaired.rows, repaired.lost)


def test_without_a_backup_what_is_lost_is_named_by_its_id(damaged):
    """The rows of the damaged pages are gone; each is named as its index knew it, and no link points to one."""
    shutil.rmtree(damaged / "backups")
    repaired = yiku.repair(damaged)

    whole(damaged / "yiku.db")
    lost = {what.split(" ")[1] for what in repaired.lost if what.startswith(("turn ", "memory "))}
    with Memory(damaged) as memory:
        kept = {item.id for item in memory.timeline(limit=10_000)}
        assert kept and not lost & kept
        assert all(
            m.superseded_by not in lost for m in memory.get_all(limit=1_000, where={"state": {"in": ["active", "archived"]}})
        )
    assert lost


def test_what_pointed_to_a_lost_version_points_to_the_next_or_is_live_again(home):
    """Of three homes in a row the second is lost: the first is superseded by the third. Then the third is: the first is live."""
    with clocked(home) as memory:
        bergen, oslo, beijing = (memory.remember(text).memory for text in ("I live in Bergen.", "我住在 Oslo。", "I live in 北京"))
    for lost, successor in ((oslo, beijing.id), (beijing, None)):
        connection = apsw.Connection(str(home / "yiku.db"))
        connection.execute("delete from memories where id = ?", (lost.id,))
        connection.close()
        assert any(f"superseded by {lost.id}" in problem for problem in yiku.check(home).problems)
        repaired = yiku.repair(home)

        assert any(what.startswith("memory in row") for what in repaired.lost)
        whole(home / "yiku.db")
        with Memory(home) as memory:
            assert successor == memory.get(bergen.id).superseded_by
    with Memory(home) as memory:
        assert ["I live in Bergen."] == [m.content for m in memory.get_all()]


def test_a_table_whose_schema_is_damaged_comes_from_the_backup(homes, home):
    """A letter of a column's name is another: those rows come from the backup, and all others from the file."""
    copied(homes.rest, home)
    content = (home / "yiku.db").read_bytes()
    (home / "yiku.db").write_bytes(content.replace(b"entity text not null", b"entitx text not null", 1))
    repaired = yiku.repair(home)

    whole(home / "yiku.db")
    assert {"20260302T090000Z.db"} == {*repaired.rows["memory_entities"]}
    assert {"the file"} == {*repaired.rows["memories"]} == {*repaired.rows["conversation_turns"]}


def test_repair_refuses_what_nothing_can_be_read_of(home):
    """Garbage and no backup: an error, and it stays as it lies."""
    clocked(home).close()
    for path in home.glob("yiku.db*"):
        path.unlink()
    garbage = Random(1).randbytes(20_000)
    (home / "yiku.db").write_bytes(garbage)
    (home / "store.id").unlink()

    with pytest.raises(Damaged):
        yiku.repair(home)
    assert garbage == (home / "yiku.db").read_bytes()


def test_repair_waits_for_nobody_who_has_the_home_open(damaged):
    """Another process that has it open would go on with the old file: StoreBusy, and nothing is changed."""
    before = (damaged / "yiku.db").read_bytes()
    hear, tell = READY.Pipe()
    process = READY.Process(target=_opened, args=(damaged, tell))
    process.start()
    tell.close()
    assert "open" == hear.recv()
    try:
        with pytest.raises(StoreBusy, match="close it"):
            yiku.repair(damaged)
    finally:
        hear.send("go")
        process.join()
    assert before == (damaged / "yiku.db").read_bytes()
    assert yiku.repair(damaged).kept


def _opened(home: Path, pipe: object) -> None:
    with Memory(home):
        pipe.send("open")
        pipe.recv()


def test_the_command_line_repairs_when_it_is_told_to(damaged):
    """Without --yes a script is refused; --dry-run tells; --yes does it, and says where the old file lies."""
    refused, planned = run(damaged, "repair"), run(damaged, "repair", "--dry-run", "--json")

    assert 2 == refused.code and "--yes" in refused.err
    assert 0 == planned.code and json.loads(planned.out)["repair"]["dry_run"]
    done = run(damaged, "repair", "--yes")
    assert 0 == done.code and "repaired" in done.out and "damaged" in done.out
    assert "nothing to repair" in run(damaged, "repair", "--yes").out


# ------------------------------------------------------------------ a kill meanwhile


def test_a_repair_killed_while_it_puts_files_in_place_can_be_done_again(homes, tmp_path):
    """Killed before each sixth step from the first renaming to the end, a WAL in play: what is there then is mended, with nothing less."""
    assert 2 < killed_repairs(homes, tmp_path, first="rename", every=6)


def killed_repairs(homes: Sound, folder: Path, first: str = "", every: int = 1) -> int:
    """Run it in a process of its own, which may fork; how many operations were tried, from the first that is called so."""
    process = READY.Process(target=kill_repairs, args=(homes, folder, first, every))
    process.start()
    process.join()
    assert 0 == process.exitcode
    return int((folder / "operations").read_text())


def kill_repairs(homes: Sound, folder: Path, first: str, every: int) -> None:
    """One child a disk operation; of a run of them on one file that nobody sees yet, its ends."""
    template = copied(homes.wal, folder / "template")
    flipped("memories")(Case(template, homes, Random(3)))
    expected = lost_of(copied(template, folder / "first"))
    with failing(folder) as disk:
        disk.arm(0, None)
        home = copied(template, folder / "counted")
        start = len(disk.seen)
        yiku.repair(home)
        seen = [None, *disk.seen[start:], None]
    steps = [n for n in range(1, len(seen) - 1) if not unseen(seen[n - 1]) == unseen(seen[n]) == unseen(seen[n + 1])]
    began = next(n for n in steps if first in str(seen[n]))
    steps = [n for n in steps if n >= began][::every]
    for n in steps:
        home = copied(template, folder / "home")
        child = os.fork()
        if child == 0:
            with failing(folder) as disk:
                disk.arm(n, None)
                yiku.repair(home)
                os._exit(0)
        assert -signal.SIGKILL == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert lost_of(home) in (expected, []), f"killed before {seen[n]}"
    (folder / "operations").write_text(str(len(steps)))


def unseen(operation: str | None) -> str | None:
    """What an operation is to others: nothing, while it is on the store that is being built."""
    return (
        "building" if operation and ("new.db" in operation or "before.db" in operation) and "rename" not in operation else operation
    )


def lost_of(home: Path) -> list[str]:
    """Mend a home that is damaged or mended already; what was lost then."""
    lost = [*yiku.repair(home).lost]
    whole(home / "yiku.db")
    assert () == yiku.check(home).problems
    return lost


def test_what_was_dropped_or_done_since_does_not_come_back_from_a_backup(home):
    """An attachment that was undone, a job that is done: the backup has them, and repair leaves them there; the episode stays."""
    with clocked(home) as memory:
        memory.record_turn("user", "请帮我写报告 tulips.md", session="s")
        memory.sessions.attach("/tmp/猫.jpg", session="s")
        operation = memory.admin.journal(limit=1)[0].transaction
        episode = memory.sessions.end("s").episode
        handle, now = memory._handle, memory._handle.now()
        job = Job(kind="extract", session="s", turn_n=1, content_hash=b"h", due_at=now, created_at=now)
        handle.store.apply(handle.writes(), [AddJobs([job])], handle.cause("learn"))
        memory.admin.backup()
        memory.admin.undo(operation)
        (job,) = handle.store.learning.jobs(handle.writes())
        handle.store.apply(handle.writes(), [EndJob(job)], handle.cause("learn"))
    connection = apsw.Connection(str(home / "yiku.db"))
    connection.execute("delete from changes where number = 3")
    connection.close()
    repaired = yiku.repair(home)

    assert repaired.problems and not any("attachment" in lost for lost in repaired.lost)
    whole(home / "yiku.db")
    with Memory(home) as memory:
        assert ([], [], [episode]) == (memory.sessions.attachments(), memory.admin.queue(), memory.sessions.episodes())
