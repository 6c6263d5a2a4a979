"""`sync`: the notes index follows the files of the vault."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from documents import document
from faults.damage import pages_of

from yiku import Memory
from yiku.errors import InvalidInput, Paused
from yiku.maintenance import check, repair
from yiku.rules.text import analyze


def write(root: Path, path: str, text: str | bytes) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def rows(memory: Memory) -> list:
    """Every passage in the index."""
    store = memory._handle.store
    return [note for scope in memory._handle.own() for note in store.notes.after(scope, 0, 100_000)]


def found(memory: Memory, words: str) -> set[str]:
    """The paths of the files that hold all of some words, by the search index."""
    handle = memory._handle
    terms = list(analyze.question(words).words)
    postings = handle.store.postings("note", handle.own(), terms, past=False, cap=1 << 40).found
    ns = set.intersection(*(set(one.ns.tolist()) for one in postings))
    return {note.path for note in handle.store.notes.read(handle.own(), sorted(ns))}


@pytest.mark.spec("S4-01", "S4-02", "S4-06", "S2-01")
def test_a_file_in_the_vault_is_found_without_any_other_service(memory, home):
    """MEMORY.md, a daily log, a document and a skill, in either language; what they are follows from where they lie."""
    write(home, "MEMORY.md", "# 备忘\n\nThe spare key is under the mossy flowerpot.\n")
    write(home, "memory/2026-03-14.md", "### 09:12:00\n今天下午在奥斯陆见了小雨。\n")
    write(home, "memory/archive/2025-01-02.md", "An old log about a heron.\n")
    write(home, "documents/design/garden.md", "# Garden\n\nThe hedge is hornbeam.\n")
    write(home, "skills/deploy.md", "# Deploy\n\nRun the ferret script first.\n")
    report = memory.notes.sync()

    assert (
        "MEMORY.md",
        "documents/design/garden.md",
        "memory/2026-03-14.md",
        "memory/archive/2025-01-02.md",
        "skills/deploy.md",
    ) == tuple(sorted(report.added))
    assert {"MEMORY.md"} == found(memory, "mossy flowerpot")
    assert {"memory/2026-03-14.md"} == found(memory, "奥斯陆")
    assert ["archive", "daily", "document", "memory", "skill"] == sorted(row.source for row in rows(memory))
    assert "2026-03-14" == next(row.said_at.date().isoformat() for row in rows(memory) if row.source == "daily")


@pytest.mark.spec("S4-33", "T-33")
def test_a_passage_names_the_lines_in_which_it_stands(memory, home):
    """Of 30 documents in both languages, as they lie on the disk."""
    texts = {f"documents/{seed}.md": document(seed)[0] for seed in range(30)}
    for path, text in texts.items():
        write(home, path, text)
    memory.notes.sync()

    for row in rows(memory):
        lines = texts[row.path].replace("\r\n", "\n").split("\n")
        assert row.text in "\n".join(lines[row.start_line - 1 : row.end_line])
    assert set(texts) == {row.path for row in rows(memory)}


@pytest.mark.spec("S4-12", "S4-91")
def test_an_edit_replaces_only_what_changed(memory, home):
    """Passages that an edit leaves alone keep their rows; the new words are found, the old ones are not."""
    file = write(home, "documents/long.md", document(2 + 3 * 4)[0] + "\n\n# The end\n\nA walrus 海象 sat there.\n")
    memory.notes.sync()
    before = {(row.heading, row.text): row.n for row in rows(memory)}
    file.write_text(file.read_text().replace("walrus 海象", "narwhal 独角鲸"))
    report = memory.notes.sync()
    after = {(row.heading, row.text): row.n for row in rows(memory)}

    assert (("documents/long.md",), 0) == (report.changed, report.unchanged)
    assert 1 == len(after.keys() - before.keys()) and len(before) > 1
    assert all(before[words] == n for words, n in after.items() if words in before)
    assert {"documents/long.md"} == found(memory, "narwhal") and not found(memory, "walrus") and not found(memory, "海象")


def test_lines_that_move_are_followed(memory, home):
    """What stands behind an edit has its new lines, in its old row."""
    file = write(home, "documents/a.md", "# One\n\n" + "It is dry. " * 60 + "\n\n# Two\n\n" + "It rains. " * 60)
    memory.notes.sync()
    before = {row.n: row for row in rows(memory)}
    file.write_text("A new line.\n\n\n" + file.read_text())
    memory.notes.sync()
    after = {row.n: row for row in rows(memory)}
    last = max(before)

    assert before[last].text == after[last].text
    assert before[last].start_line + 3 == after[last].start_line
    assert before[last].id == after[last].id


@pytest.mark.spec("S4-12")
def test_a_file_that_moves_keeps_its_passages(memory, home):
    """A file that is renamed, and one whose folder is; with an edit too."""
    write(home, "documents/a/one.md", "# 一\n\nThe ocelot 豹猫 sleeps.\n")
    write(home, "documents/a/two.md", "# 二\n\nThe tapir 貘 swims.\n")
    memory.notes.sync()
    before = {row.text: row.n for row in rows(memory)}
    (home / "documents/a").rename(home / "documents/b")
    (home / "documents/b/one.md").rename(home / "documents/b/three.md")
    with (home / "documents/b/two.md").open("a") as file:
        file.write("\nAnd dives.\n")
    report = memory.notes.sync()

    assert {"documents/b/three.md": "documents/a/one.md", "documents/b/two.md": "documents/a/two.md"} == report.renamed
    assert (("documents/b/three.md",), ()) == (tuple(found(memory, "ocelot")), report.removed)
    assert before["# 一\n\nThe ocelot 豹猫 sleeps."] in {row.n for row in rows(memory)}


def test_a_file_that_goes_leaves_the_index(memory, home):
    file = write(home, "documents/a.md", "The quokka 短尾矮袋鼠 smiles.")
    memory.notes.sync()
    file.unlink()

    assert ("documents/a.md",) == memory.notes.sync().removed
    assert not rows(memory) and not found(memory, "quokka")


def test_many_files_that_are_gone_at_once_stay_until_that_is_meant(memory, home):
    """Over 20 of them, and over a fifth: more likely a folder that is not mounted."""
    for number in range(30):
        write(home, f"documents/{number}.md", f"Note number {number}.")
    memory.notes.sync()
    (home / "documents").rename(home / "elsewhere")
    report = memory.notes.sync()

    assert (30, (), 30) == (len(report.held), report.removed, len(rows(memory)))
    assert "30 notes are gone" in " ".join(memory.status().troubles)
    assert memory.status().waiting == {}
    assert 30 == len(memory.notes.sync(force=True).removed)
    assert not rows(memory)


def test_nothing_is_read_twice_while_nothing_changes(memory, home):
    """A second sync reads no file; a change that leaves size and mtime as they were is found all the same."""
    file = write(home, "documents/a.md", "one")
    time.sleep(0.05)
    memory.notes.sync()
    info = file.stat()
    assert (1, False) == ((again := memory.notes.sync()).unchanged, again.anything)
    file.write_text("two")
    os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))

    assert ("documents/a.md",) == memory.notes.sync().changed


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"\xff\xfe\x00a", "NUL"), ("é".encode("latin-1"), "not UTF-8"), (b"x" * (8 << 20) + b"y", "8 MiB")],
    ids=["binary", "latin-1", "too large"],
)
def test_what_cannot_be_indexed_is_said(memory, home, content, why):
    """Once it can be, it is."""
    file = write(home, "documents/a.md", content)
    write(home, "documents/文.md", "可以编入。")

    assert why in memory.notes.sync().failed["documents/a.md"]
    assert {"documents/文.md"} == {row.path for row in rows(memory)}
    file.write_text("Now it is text.")
    assert not memory.notes.sync().failed
    assert 2 == len(rows(memory))


@pytest.mark.parametrize("content", ["not text".encode("utf-16"), "不是文本".encode("gbk")], ids=["en", "zh"])
def test_what_cannot_be_indexed_is_said_by_each_sync(memory, home, content):
    """Until it can be, or is gone; it counts neither as added nor as unchanged."""
    file = write(home, "documents/a.md", content)
    write(home, "documents/b.md", "Text 文字.")
    first = memory.notes.sync()
    os.utime(file, ns=(time.time_ns() - 60 * 10**9,) * 2)
    memory.notes.sync()
    time.sleep(0.05)
    memory.notes.sync()
    later = memory.notes.sync()

    assert (("documents/b.md",), 0, 1) == (first.added, first.unchanged, later.unchanged)
    assert first.failed == later.failed and "not text" in later.failed["documents/a.md"]
    file.unlink()
    assert {} == memory.notes.sync().failed


def test_links_and_hidden_files_are_passed_over(memory, home, tmp_path):
    """Nothing outside the vault is read, whatever links there are; nor a pipe, which would make us wait."""
    write(tmp_path, "outside/secret.md", "The lynx 猞猁 is outside.")
    write(home, "documents/.obsidian/x.md", "The lynx is hidden.")
    write(home, "documents/.draft.md", "The lynx is hidden.")
    write(home, "documents/picture.png", "The lynx is no text.")
    (home / "documents/link.md").symlink_to(tmp_path / "outside/secret.md")
    (home / "documents/folder").symlink_to(tmp_path / "outside")
    (home / "documents/loop").symlink_to(home / "documents")
    (home / "skills").symlink_to(tmp_path / "outside")
    os.mkfifo(home / "documents/pipe.md")

    assert ((), {}) == ((report := memory.notes.sync()).added, report.failed)
    assert not rows(memory)


def test_private_parts_and_secrets_stay_out_and_lines_stay_right(memory, home):
    """What is fenced off over several lines, and a key; what stands behind keeps its line."""
    key = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 4 + "-----END PRIVATE KEY-----"
    write(home, "documents/a.md", f"start\n\n<private>\nthe ibex\n私事\n</private>\n\n{key}\n\nThe last line 最后一行.\n")
    memory.notes.sync()
    text = "\n".join(row.text for row in rows(memory))
    lines = (home / "documents/a.md").read_text().split("\n")

    assert "ibex" not in text and "私事" not in text and "MIIEvQ" not in text
    last = rows(memory)[-1]
    assert lines[last.end_line - 1].endswith("The last line 最后一行.") and last.text.endswith("The last line 最后一行.")


def test_nothing_is_indexed_while_memory_is_paused(memory, home):
    write(home, "documents/a.md", "早")
    memory.admin.pause()

    with pytest.raises(Paused):
        memory.notes.sync()
    memory.admin.resume()
    assert 1 == len(memory.notes.sync().added)


def test_a_scope_without_a_vault_says_so(home):
    with Memory(home, owner="user:mei"), Memory(home, scope="team") as memory, pytest.raises(InvalidInput, match="its owner's"):
        memory.notes.sync()


def test_an_interrupted_sync_is_finished_by_the_next(home):
    """Killed at any time, each file is in the index whole, or not at all."""
    for number in range(300):
        write(home, f"documents/{number % 10}/{number}.md", document(number)[0])
    script = f"from yiku import Memory\nwith Memory({str(home)!r}, owner='user:mei') as m:\n    m.notes.sync(progress=print)\n"
    process = subprocess.Popen([sys.executable, "-u", "-c", script], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("210 "):
            process.kill()
            break
    process.wait()
    process.stdout.close()
    with Memory(home, owner="user:mei") as memory:
        some = {row.path for row in rows(memory)}
        assert 0 < len(some) < 300
        report = memory.notes.sync()
        assert 300 == len({row.path for row in rows(memory)})
        assert len(report.added) + len(some) == 300
        assert not memory.admin.check("deep").problems


def test_two_syncs_at_once_leave_one_index(home):
    """A second process is told that another one is at it, or finds all done."""
    for number in range(100):
        write(home, f"documents/{number}.md", document(number)[0])
    script = (
        "from yiku import Memory\nfrom yiku.errors import StoreBusy\n"
        f"with Memory({str(home)!r}, owner='user:mei') as m:\n"
        "    try:\n        m.notes.sync()\n    except StoreBusy:\n        pass\n"
    )
    with Memory(home, owner="user:mei"):
        pass
    for process in [subprocess.Popen([sys.executable, "-c", script]) for _ in range(3)]:
        assert 0 == process.wait()
    with Memory(home, owner="user:mei") as memory:
        assert not memory.notes.sync().anything
        assert 100 == len({row.path for row in rows(memory)})
        assert not memory.admin.check("deep").problems


def test_status_says_what_waits_and_what_cannot_be_indexed(memory, home):
    """Files that were added, changed or removed since the last sync; recall does not sync by itself."""
    file = write(home, "documents/a.md", "The plover 鸻 nests.")
    write(home, "documents/b.md", "Another.")
    assert 2 == memory.status().waiting["notes to index"]
    assert not memory.recall("plover", types=["note"])
    memory.notes.sync()
    assert "notes to index" not in memory.status().waiting
    file.write_text("The plover left.")
    (home / "documents/b.md").unlink()
    write(home, "documents/c.md", b"\xff\x00")
    assert 3 == memory.status().waiting["notes to index"]
    memory.notes.sync()

    assert "notes to index" not in memory.status().waiting
    assert "1 note cannot be indexed: yiku sync says why" in memory.status().troubles


def test_the_index_is_derived(memory, home, tmp_path):
    """An export holds nothing of it, and repair leaves it behind: the next sync makes it anew, and gives no number twice."""
    write(home, "documents/a.md", "The plover 鸻 nests.")
    memory.record_turn("user", "Hello 你好")
    memory.notes.sync()
    before = {row.n for row in rows(memory)}
    lines = tmp_path / "out.jsonl"
    with lines.open("wb") as file:
        memory.admin.export(file, everything=True)
    assert b"plover" not in lines.read_bytes()
    memory.close()
    page = pages_of(home / "yiku.db")["chunks"][0]
    with (home / "yiku.db").open("r+b") as file:
        file.seek((page - 1) * 4096 + 100)
        file.write(b"\xff" * 64)
    assert check(home).problems
    assert not repair(home).lost
    with Memory(home) as again:
        assert not rows(again)
        again.notes.sync()

        assert ["The plover 鸻 nests."] == [row.text for row in rows(again)]
        assert before.isdisjoint(row.n for row in rows(again))
        assert not again.admin.check("deep").problems


def test_a_sync_that_is_stopped(memory, home):
    """What it read is indexed, what it did not get to is left as it was, and the next sync does the rest."""
    (home / "documents").mkdir()
    for i in range(6):
        (home / f"documents/{i}.md").write_text(f"Note {i} 笔记.\n")
    memory.notes.sync()
    for i in range(6):
        (home / f"documents/{i}.md").rename(home / f"documents/new {i}.md")
    done: list[int] = []
    stopped = memory.notes.sync(progress=lambda count, total: done.append(count), stopped=lambda: len(done) == 2)

    assert (2, (), 6) == (len(stopped.renamed), stopped.removed, stopped.chunks)
    assert (4, 6) == (len((last := memory.notes.sync()).renamed), last.chunks)


def test_closing_ends_a_first_index_soon(home, clock):
    """Many files, a watcher in the background: closing waits for the file at hand and a transaction, no longer."""
    Memory(home, owner="user:mei").close()
    (home / "documents").mkdir()
    for i in range(3_000):
        (home / f"documents/{i}.md").write_text(f"# Note {i}\n\n" + f"The pump {i} hums at night. 水泵夜里嗡嗡响。\n" * 20)
    memory = Memory(home, clock=clock, background=True, watch_debounce_s=0.05)
    while not memory._handle.store.notes.count([1]):
        time.sleep(0.01)
    began = time.monotonic()
    memory.close()
    took = time.monotonic() - began
    with Memory(home, clock=clock) as after:
        assert 0 < after.admin.stats().notes < 3_000
    assert took < 1.4  # without being told to stop it takes 1.5 s, the most that closing waits for a thread
