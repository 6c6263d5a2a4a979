"""An older copy laid over a home: opening notices erasures made since, and `repair` applies them again."""

import json
import os
import shutil
from pathlib import Path

import canaries
import commands
import integrity
import pytest
from faults.test_migration import old_home
from workers import READY, clocked

import yiku
from yiku import Memory
from yiku.errors import ErasureUndone, StoreMismatch

WORD, HAN = "zqvblorptinx", "𩺙𨏏𢝫𤍚"
LONG = "The lantern burns. 灯笼亮着。\n" * 1_050  # twice it is a text that becomes a blob


def said(home: Path) -> None:
    """A secret in a statement, in its turn, in a long turn and in a backup; and something else."""
    with clocked(home) as memory:
        memory.record_turn("user", f"It rained. My watchword is Dr. {WORD} {HAN}. Bye.", session="s1")
        memory.record_turn("user", f"{LONG}My watchword is Dr. {WORD} {HAN}.\n{LONG}", session="s1")
        memory.remember("I live in Oslo. 我住在奥斯陆。")
        memory.admin.backup()


def erased(home: Path, word: str = WORD) -> None:
    """Every statement with a word goes."""
    with Memory(home) as memory:
        for one in [one for one in memory.get_all() if word in one.content]:
            assert memory.admin.erase(one.id).clean


def laid_over(home: Path, old: Path) -> None:
    """As `cp -a old/. home/` does it: what the old copy does not have stays."""
    shutil.copytree(old, home, dirs_exist_ok=True)


def contents(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file() and path.suffix != ".db-shm"
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `both` copies."""
    home = tmp_path_factory.mktemp("made") / "home"
    said(home)
    with Memory(home) as memory:
        memory.admin.erase(memory.remember("My cat is Tom. 我的猫").memory.id)
        if not any(WORD in one.content for one in memory.get_all()):
            memory.remember(f"My watchword is Dr. {WORD} {HAN}.")
    shutil.copytree(home, home.with_name("old"))
    erased(home)
    return home


@pytest.fixture
def both(made: Path, home: Path) -> tuple[Path, Path]:
    """A home from which a secret was erased, and a copy of it from before; an earlier erasure is known to both."""
    shutil.copytree(made, home)
    return home, made.with_name("old")


@pytest.mark.spec("T-39")
def test_what_was_erased_is_not_served_again(both):
    """Opening refuses at each time, names what to do and writes nothing; check names it; repair erases it again, in every copy."""
    home, old = both
    assert [] == canaries.sung(home, [WORD, HAN])
    laid_over(home, old)
    assert canaries.sung(home, [WORD, HAN])
    before = contents(home)
    for _ in range(2):
        with pytest.raises(ErasureUndone, match=r"yiku\.db holds what an erasure took.*yiku repair"):
            Memory(home)
    assert before == contents(home)
    assert ["1 erasure is undone: an older copy lies over this home"] == [*yiku.check(home).problems]
    planned = yiku.repair(home, dry_run=True)
    assert before == contents(home)
    repaired = yiku.repair(home)

    assert planned.problems == repaired.problems == ("1 erasure is undone: an older copy lies over this home",)
    assert [] == canaries.sung(home, [WORD, HAN])
    assert () == yiku.check(home, "deep").problems
    integrity.check(home / "yiku.db")
    with Memory(home) as memory:
        assert ["I live in Oslo. 我住在奥斯陆。"] == [one.content for one in memory.get_all()]
        assert "It rained. [已抹去] Bye." == memory.search_traces("rained")[0].content
        assert not any("erasure" in trouble for trouble in memory.status().troubles)
        assert "Refused" == type(memory.remember(f"My watchword is Dr. {WORD} {HAN}.")).__name__
    assert () == yiku.repair(home).problems


def test_the_command_line_says_so_too(both):
    """Each verb ends with 1 and names `yiku repair`; that does it, and then all is well."""
    home, old = both
    laid_over(home, old)
    asked = commands.run("recall", "watchword", YIKU_HOME=home)
    mended = commands.run("repair", "--yes", YIKU_HOME=home)

    assert (1, True) == (asked.code, "yiku repair" in " ".join(asked.err.split()))
    assert WORD not in asked.out + asked.err
    assert (0, True) == (mended.code, "erasure is undone" in mended.out)
    assert (0, "nothing to repair") == ((again := commands.run("repair", "--yes", YIKU_HOME=home)).code, again.out.strip())
    assert [] == canaries.sung(home, [WORD, HAN])


def test_a_mirror_of_an_earlier_version_is_compared_too(tmp_path):
    """A home of schema 4 has one file `erased`: it opens; a line that its database does not know is noticed, and taken over by repair."""
    home = old_home(tmp_path / "home", 4)
    with Memory(home) as memory:
        assert memory.get_all()
    lines = (home / "erased").read_text().splitlines()
    unknown = json.loads(lines[0])
    unknown["at"] += 1
    (home / "erased").write_text("".join(f"{line}\n" for line in (*lines, json.dumps(unknown))))
    with pytest.raises(ErasureUndone):
        Memory(home)
    assert 1 == len(yiku.repair(home).problems)

    with Memory(home) as memory:
        assert memory.get_all()
    assert (False, 2) == ((home / "erased").exists(), len([*(home / "erasures").iterdir()]))


def test_what_is_no_older_copy_opens(both, tmp_path):
    """Backups that are restored, homes that were copied or moved, erasures whose process died, a mirror of another store, or garbage."""
    home, _ = both
    with Memory(home) as memory:
        memory.admin.restore_backup(memory.admin.backups()[-1].name)
        memory.admin.backup(tmp_path / "moved")
        memory.remember("The lantern is green. 灯笼是绿的")
    Memory(home).close()
    Memory(tmp_path / "moved").close()
    shutil.copytree(home, tmp_path / "copied")
    Memory(tmp_path / "copied").close()
    process = READY.Process(target=_erase_and_die, args=(home,))
    process.start()
    process.join()
    assert 9 == process.exitcode
    Memory(home).close()
    (home / "erasures" / "00000000-0000000000000000.json").write_text("{}")
    (home / "erasures" / ".half-written").write_text("{")
    for path in (home / "erasures").glob("*.json"):
        path.write_text("only the names are read")

    Memory(home).close()


def _erase_and_die(home: Path) -> None:
    """The erasure is committed, and nothing else is done."""
    from yiku.flows.erase import finish

    finish.clean_everywhere = lambda *args, **details: os._exit(9)  # type: ignore[assignment]
    erased(home, "lantern is green")


def test_it_is_one_of_the_mismatches():
    """Who handles a database that is not this home's handles this, too."""
    assert issubclass(ErasureUndone, StoreMismatch)


@pytest.mark.long
def test_a_statement_that_is_allowed_again_stays_allowed(both):
    """Erased, then meant after all: a repair of an older copy does not refuse it again."""
    home, old = both
    with Memory(home) as memory:
        memory.remember(f"My watchword is Dr. {WORD} {HAN}.", despite_erasure=True)
    laid_over(home, old)
    yiku.repair(home)

    with Memory(home) as memory:
        assert "New" == type(memory.remember(f"My watchword is Dr. {WORD} {HAN}.")).__name__
