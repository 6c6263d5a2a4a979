"""The goals of the notes memory in its own terms, and its usage example."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from bitwise_homes import OFF, Provider
from canaries import has_number
from pages import ROOT, blocks, comparable, run_python

from yiku_compat import bitwise
from yiku_compat.bitwise import BitwiseAI
from yiku_compat.bitwise.core import memory as names

PACKAGE = Path(bitwise.__file__).parent
MODULES = {  # one responsibility each
    "core/memory": ("__init__", "types", "schema", "storage", "chunker", "indexer", "searcher", "watcher", "manager"),
    "core/memory/embeddings": ("__init__", "base", "openai_provider"),
    "core": ("__init__", "document_manager", "skill_indexer", "rag_engine"),
}


@pytest.fixture
def offline(monkeypatch):
    """No connection to anywhere."""

    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.spec("S4-01", "S4-02", "S4-06", "S4-84", "S4-89")
def test_goal_one_and_five_one_local_database_and_nothing_to_set_up(home, tmp_path, monkeypatch, offline):
    """Without configuration, key, service or network it writes, finds and keeps all of it in one folder that can be moved."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with BitwiseAI() as ai:
        ai.append_to_memory("今天学习了 ARM 指令")
        ai.append_to_memory("ARM multiply: Rd and Rm must differ.", to_long_term=True)
        assert ai.search_memory("Which registers must differ in ARM multiply?")
    assert {".bitwiseai"} == {path.name for path in tmp_path.iterdir() if path.is_dir()}
    databases = [path.name for path in (tmp_path / ".bitwiseai").rglob("*.db")]
    shutil.move(tmp_path / ".bitwiseai", tmp_path / "moved")
    with BitwiseAI(OFF, workspace_dir=tmp_path / "moved") as ai:
        assert "memory/" in ai.search_memory("今天学习了什么指令？")[0].path

    assert ["yiku.db"] == databases


@pytest.mark.spec("S4-03", "S4-85", "S4-10", "S4-13", "S4-14", "S4-90")
def test_goal_two_two_levels_of_memory_in_files_that_a_person_reads_and_edits(home, clock):
    """The log of the day and the long-term file, in order of topics; an edit of either is what is found."""
    with BitwiseAI(OFF, workspace_dir=home, clock=clock) as ai:
        ai.append_to_memory("The build was green. 构建通过了。")
        ai.memory_manager.promote_to_long_term("Rd and Rm must differ. Rd 和 Rm 不能相同。", topic="ARM")
        log, lasting = home / "memory" / "2026-03-01.md", home / "MEMORY.md"
        assert "构建通过了。" in log.read_text() and "## ARM" in lasting.read_text()
        log.write_text(log.read_text().replace("green", "red").replace("通过", "失败"))
        lasting.write_text(lasting.read_text().replace("Rd 和 Rm", "Rd 与 Rn"))

        assert "red" in ai.search_memory("How was the build? 构建")[0].text
        assert "MEMORY.md" == ai.search_memory("Rd 与 Rn")[0].path


@pytest.mark.spec("S4-04", "S4-86", "S4-37", "S4-38")
def test_goal_three_search_by_meaning_and_by_words(home, clock):
    """What shares no word is found by its vector, an exact name by its words, and a hit says what each route gave."""
    provider = Provider()
    provider.hashed.known = {"hounds": "dogs", "犬": "狗"}
    with BitwiseAI(OFF, workspace_dir=home, embedding_provider=provider, clock=clock) as ai:
        ai.add_text("The hounds bark at night.", "dogs.md")
        ai.add_text("犬在夜里叫。", "gou.md")
        ai.add_text("Error E4711 means that the fuse is gone. 保险丝坏了。", "fuse.md")
        by_meaning, exact = ai.search_memory("dogs")[0], ai.search_memory("E4711")[0]

        assert ("documents/dogs.md", None) == (by_meaning.path, by_meaning.text_score)
        assert "documents/gou.md" == ai.search_memory("狗")[0].path
        assert ("documents/fuse.md", 1.0) == (exact.path, exact.text_score)


@pytest.mark.spec("S4-05", "S4-87", "S4-12")
def test_goal_four_changed_markdown_is_indexed_by_itself(home):
    """While the application runs; a file that is gone is found no more."""
    with BitwiseAI({"memory": {"sync": {"watch_debounce_ms": 100}}}, workspace_dir=home) as ai:
        storage = ai.memory_manager.storage

        def until(wanted):
            end = time.monotonic() + 20
            while bool(storage.search_fts("bittern 麻鳽")) is not wanted and time.monotonic() < end:
                time.sleep(0.05)
            return bool(storage.search_fts("bittern 麻鳽")) is wanted

        (home / "memory").mkdir(exist_ok=True)
        (home / "memory" / "2026-02-01.md").write_text("The bittern calls at dusk. 麻鳽在黄昏鸣叫。\n")
        assert until(True)
        (home / "memory" / "2026-02-01.md").unlink()
        assert until(False)


@pytest.mark.spec("S4-25", "S4-91")
def test_what_was_embedded_once_is_not_embedded_again(home, clock):
    """Neither by another process, nor after a move of its file."""
    first, second = Provider(), Provider()
    with BitwiseAI(OFF, workspace_dir=home, embedding_provider=first, clock=clock) as ai:
        ai.add_text("The heron stood in the pond. 苍鹭站在池塘里。", "a.md")
    (home / "documents" / "a.md").rename(home / "documents" / "b.md")
    with BitwiseAI(OFF, workspace_dir=home, embedding_provider=second, clock=clock) as ai:
        assert "documents/b.md" == ai.search_memory("heron")[0].path

    assert (1, []) == (len(first.asked), second.asked)


@pytest.mark.spec("S4-88", "S4-64", "S4-68")
def test_there_is_no_vector_server_and_watching_is_a_plain_dependency():
    """Nothing of the replaced one is left: no module, no import, no requirement."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[^\w-]", one)[0].casefold() for one in project["dependencies"]}
    source = "".join(path.read_text() for path in PACKAGE.rglob("*.py")).casefold()

    assert "watchdog" in needed and len(needed) <= 8
    assert not re.search(r"milvus", source + " ".join(needed))
    assert not list(PACKAGE.rglob("vector_database*"))


@pytest.mark.spec("S4-07", "S4-08", "S4-09", "S4-66")
def test_the_modules_have_their_names_and_one_responsibility_each():
    """And the memory module exports every class of the design."""
    for folder, modules in MODULES.items():
        assert set(modules) <= {path.stem for path in (PACKAGE / folder).glob("*.py")}
    wanted = "SQLiteStorage MemoryIndexer MemorySearcher MemoryManager FileWatcher PollingFileWatcher EmbeddingProvider"
    assert {*wanted.split(), "OpenAIEmbeddingProvider", "LocalEmbeddingProvider"} <= {*names.__all__}
    assert bitwise.core.memory is names
    json.loads((PACKAGE / "config.json.example").read_text())


@pytest.mark.spec("S4-63", "S4-79", "S4-80", "S4-81", "S4-82", "S4-83")
def test_the_usage_example_runs(tmp_path):
    """examples/bitwise.py makes the calls of the design and prints what came of them."""
    example = ROOT / "examples" / "bitwise.py"
    calls = re.findall(r"ai\.(\w+)\(", example.read_text())
    done = subprocess.run([sys.executable, str(example), str(tmp_path / "work")], capture_output=True, text=True, check=False)

    assert "" == done.stderr
    assert {"append_to_memory", "search_memory", "add_text", "compact_memory", "get_memory_stats"} <= {*calls}
    assert "MEMORY.md" in done.stdout.splitlines()[0]
    assert "3 files" in done.stdout


def test_the_page_for_those_who_come_from_it_runs(home, tmp_path, monkeypatch):
    """docs/from/bitwise.md, from top to bottom; each output stands below its block."""
    monkeypatch.setenv("HOME", str(tmp_path))
    page = ROOT / "docs" / "from" / "bitwise.md"
    said = {block.line: block.output for block in blocks(page)}
    printed = run_python(page)

    assert 2 == len(printed)
    for line, out in printed:
        assert comparable(said[line] or "", home) == comparable(out, home), f"bitwise.md:{line}"


@pytest.mark.parametrize("said", ["My locker code is 4711.", "我的柜子密码是4711。"])
def test_an_erasure_reaches_every_note_that_is_written_here(home, clock, said):
    """Logs, the long-term file, documents, skills and the archive; the receipt is clean."""
    with BitwiseAI(OFF, workspace_dir=home, embedding_provider=Provider(), clock=clock) as ai:
        ai.append_to_memory(said)
        clock.advance(days=9)
        ai.append_to_memory(said)
        ai.append_to_memory(said, to_long_term=True)
        ai.add_text(f"The gym is on the third floor. 健身房在三楼。\n\n{said}\n", "gym.md")
        (home.parent / "gym.md").write_text(f"# Gym\n\n{said}\n")
        ai.skills.index_skill(home.parent / "gym.md", {"name": "gym", "note": said})
        ai.compact_memory(7)
        assert len(ai.search_memory("4711", 9, 0)) >= 5
        memory = ai.memory_manager.storage.memory
        receipt = memory.admin.erase(memory.remember(said).memory.id)

        assert receipt.clean
        assert [] == [one for one in ai.search_memory("4711", 9, 0) if "4711" in one.text]
        assert [] == [one for one in ai.memory_manager.select("select text from chunks") if "4711" in one[0]]
    assert [] == [str(path) for path in home.rglob("*") if path.is_file() and has_number(path.read_bytes(), "4711")]
    assert "健身房在三楼" in (home / "documents" / "gym.md").read_text()
