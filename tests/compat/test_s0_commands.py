"""The memory system's eighteen commands, and QMD, over a Yiku home."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from compat import s0_homes

from yiku import Memory
from yiku_compat import console
from yiku_compat import memory_system as ms
from yiku_compat.memory_system import command, qmd, views

ROOT = Path(__file__).resolve().parents[2]
# A search program with QMD's command line: it reads the pages that were exported for it, and finds lines by their words.
QMD = """
    import pathlib, sys
    here = pathlib.Path(__file__).parent
    words = sys.argv[1:]
    if words[0] == "status":
        sys.exit(int((here / "broken").exists()))
    if words[0] == "collection":
        (here / "folder").write_text(words[2])
    if words[0] == "search":
        question = words[-1].lower().split()
        for page in sorted(pathlib.Path((here / "folder").read_text()).glob("*.md")):
            for line in page.read_text().splitlines():
                if any(word in line.lower() for word in question):
                    print(f"qmd://curated/{page.name} score 91%")
                    print(line)
        print("score 50%\\n- [f_20200101_gone] not there any more")
"""


@pytest.fixture
def run(home, monkeypatch, capsys):
    """Runs a command on the home; what it printed, parsed if it is JSON."""
    monkeypatch.setenv("YIKU_HOME", str(home))

    def call(*words: str, code: int = 0) -> list[object]:
        assert code == console.run(["ms", *words]), capsys.readouterr()
        lines = [line for line in capsys.readouterr().out.splitlines() if line]
        return [json.loads(line) if line[0] == "{" else line for line in lines]

    return call


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A folder with QMD in it, first in the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "qmd.py").write_text(textwrap.dedent(QMD))
    (folder / "qmd").write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/qmd.py "$@"\n')
    (folder / "qmd").chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.mark.spec("S0-105")
def test_all_eighteen_commands_are_there():
    """By the names of the document."""
    names = (
        "init status stats capture archive consolidate rebuild-index validate search record-access view-access-log view-expired-log"
        " inject export-qmd add-pending view-pending mini-consolidate migrate"
    )

    assert names.split() == list(command.COMMANDS)


@pytest.mark.spec("S0-105", "S0-84")
def test_each_command_does_its_work(run, home, tmp_path):
    """From an empty folder to a night, in both languages."""
    assert str(home) in run("init")[0]
    id = run("capture", "小明住在北京朝阳区", "--entity", "小明", "--importance", "0.9", "--source", "chat")[0]
    run("capture", "Ann may move.", "--type", "belief", "--confidence", "0.6")
    assert {id} == {row["id"] for row in run("search", "小明住在哪里", "--top-k", "1")}
    assert [id] == run("record-access", id, "--type", "user_mentioned")
    assert ["retrieval", "user_mentioned"] == [row["access_type"] for row in run("view-access-log")]
    assert ["user_mentioned"] == [row["access_type"] for row in run("view-access-log", "--limit", "1")]
    waiting = run("add-pending", "记住：Ann is allergic to nuts 对坚果过敏", "--urgent")[0]
    assert [waiting] == [entry["id"] for entry in run("view-pending")]
    assert [{"entries": 1, "kept": 1, "pending": 0}] == run("mini-consolidate")
    assert [] == run("view-pending")
    assert home == Path(run("status")[0]["home"])
    assert 3 <= sum(run("stats")[0]["memories"].values())
    (tmp_path / "today.txt").write_text("I live in Oslo.\n\n我的猫叫年糕。\n")
    night = run("consolidate", "--force", "--input", str(tmp_path / "today.txt"))[0]
    assert night["finished"]
    assert "not due" in run("consolidate")[0]["notes"][0]
    assert run("consolidate", "--phase", "7")[0]["finished"]
    assert run("rebuild-index")[0].startswith("indexes are whole")
    assert ["sound"] == run("validate")
    assert "小明住在北京朝阳区" in "\n".join(map(str, run("inject", "小明住在哪里")))
    assert run("inject", "--max-tokens", "300")
    assert {"facts", "beliefs", "summaries"} == run("export-qmd")[0].keys()
    assert ["1 archived"] == run("archive", id)
    assert run("archive")[0].endswith("archived")
    s0_homes.write(tmp_path / "old", 3)
    assert 0 < run("migrate", str(tmp_path / "old"))[0]["imported"]
    assert ["限时 offer 0"] == [row["content"] for row in run("view-expired-log")]


@pytest.mark.spec("S0-105")
def test_a_home_is_named_by_an_argument_and_errors_are_one_line(run, tmp_path, capsys):
    """`--memory-dir`; an unknown id is said on standard error, with exit code 1."""
    assert str(tmp_path / "other") in run("--memory-dir", str(tmp_path / "other"), "init")[0]
    assert 1 == console.run(["ms", "record-access", "f_20260101_none"])
    assert "NotFound: there is no memory with the id" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        console.run(["ms", "view-access-log", "--limit", "0"])
    assert "'0' is no number of lines" in capsys.readouterr().err


def test_the_installed_command_runs(home):
    """As a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "yiku_compat", "ms", "--memory-dir", str(home), "init"], capture_output=True, text=True, check=False
    )

    assert (0, f"{home}, scope") == (done.returncode, done.stdout[: len(f"{home}, scope")])


@pytest.mark.spec("S0-102", "S0-11")
def test_pages_for_qmd_have_the_active_memories_with_their_ids(home):
    """A page a type, entities below; an export replaces the earlier one and leaves nothing half-made."""
    id = ms.add_memory(home, "小明\n住在北京", entities=["小明"])
    gone = ms.add_memory(home, "Old. 旧的")
    ms.export_for_qmd(home)
    ms.delete_memory(home, gone)
    counts = ms.export_for_qmd(home)
    ms.close(home)
    folder = home / "copies" / "qmd"

    assert {"facts": 1, "beliefs": 0, "summaries": 0} == counts
    assert f"# facts\n\n- [{id}] 小明 住在北京\n  entities: " in (folder / "facts.md").read_text()
    assert {"facts.md", "beliefs.md", "summaries.md", "meta.json"} == {path.name for path in folder.iterdir()}
    assert counts == json.loads((folder / "meta.json").read_text())["counts"]


@pytest.mark.spec("S0-102", "S0-11")
def test_qmd_is_asked_and_what_it_finds_is_looked_up(home, program):
    """What is gone from the database is not found, whatever QMD still has."""
    tea = ms.add_memory(home, "Ann prefers tea 茶", importance=0.9)
    gone = ms.add_memory(home, "Bob prefers tea")
    ms.export_for_qmd(home)
    ms.delete_memory(home, gone)
    answer = ms.qmd_search("tea", home)
    ms.close(home)

    assert ("qmd", None, [tea]) == (answer.engine, answer.why, [row["id"] for row in answer.rows])
    assert 0.91 == answer.rows[0]["qmd_score"]


@pytest.mark.spec("S0-102", "S0-11")
def test_without_qmd_yikus_search_answers_and_says_why(home, program, monkeypatch):
    """Not installed, broken, nothing exported, an export that was cut off, a stale one: found all the same."""
    ms.add_memory(home, "Ann prefers tea 茶")
    whys = [ms.qmd_search("茶", home)]
    ms.export_for_qmd(home)
    (program / "broken").touch()
    whys += [ms.qmd_search("茶", home)]
    (program / "broken").unlink()
    (home / "copies" / "qmd" / "health.lock").touch()
    whys += [ms.qmd_search("茶", home)]
    ms.export_for_qmd(home)
    for number in range(qmd.STALE_AFTER):
        ms.add_memory(home, f"Later {number} 后来")
    whys += [ms.qmd_search("茶", home)]
    monkeypatch.setenv("PATH", "/nowhere")
    whys += [ms.qmd_search("茶", home)]
    ms.close(home)

    assert [("yiku", "Ann prefers tea 茶")] * 5 == [(answer.engine, answer.rows[0]["content"]) for answer in whys]
    assert ["export first", "ended with 1", "cut off", "newer", "not installed"] == [
        next(word for word in ("export first", "ended with 1", "cut off", "newer", "not installed") if word in str(answer.why))
        for answer in whys
    ]


@pytest.mark.spec("T-39")
def test_an_erasure_reaches_the_pages_of_qmd(home):
    """The page that holds it is gone, and the receipt is clean."""
    id = ms.add_memory(home, "My watchword is Zephyrine. 暗号西风号")
    ms.export_for_qmd(home)
    receipt = ms.init_sqlite_db(home).admin.erase(id)
    left = [path for path in home.rglob("*") if path.is_file() and b"Zephyrine" in path.read_bytes()]
    ms.close(home)

    assert receipt.clean
    assert [] == left


@pytest.mark.spec("S0-91", "S0-87")
def test_the_example_runs(tmp_path):
    """examples/memory_system.py, as a process."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "memory_system.py"), str(tmp_path / "home")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert "" == done.stderr
    assert done.stdout.splitlines() == [
        "migrated 2 and again 0",
        "f_20260214_a1b2c3 小明住在北京朝阳区 小明 1",
        "f_20260214_d4e5f6 Ann prefers tea Ann 0",
        "new",
        "replaced",
        "junk 0",
    ]
    with Memory(tmp_path / "home") as memory:
        assert 3 == len(views.rows(memory, "select * from memories"))
