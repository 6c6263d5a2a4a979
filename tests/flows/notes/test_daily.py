"""`append_daily` and `promote`: entries in daily logs and lasting notes in MEMORY.md, in both languages."""

import subprocess
from pathlib import Path

import pytest
import workers

from yiku import Memory
from yiku.errors import InvalidInput, KeptOut, Paused, TooLarge
from yiku.rules.pages import region


@pytest.mark.spec("S4-10", "S4-85")
def test_the_log_of_a_day(memory: Memory, home: Path, clock) -> None:
    """Each note stands in the log of its day with its time, and the answer says where."""
    first = memory.notes.append_daily("We chose Postgres.", {"source": "chat"})
    clock.advance(minutes=5)
    second = memory.notes.append_daily("明天和小王一起试 SQLite。")
    clock.advance(days=1)
    third = memory.notes.append_daily("A new day.")

    log = (home / "memory" / "2026-03-01.md").read_text()
    assert log == (
        '# 2026-03-01\n\n## 09:00:00\n<!-- {"source": "chat"} -->\n\nWe chose Postgres.\n\n## 09:05:00\n\n明天和小王一起试 SQLite。\n'
    )
    assert ("memory/2026-03-01.md", 3, 6) == (first.path, first.start_line, first.end_line)
    assert ["## 09:05:00", "", "明天和小王一起试 SQLite。"] == log.splitlines()[second.start_line - 1 : second.end_line]
    assert "memory/2026-03-02.md" == third.path
    assert 0o600 == (home / "memory" / "2026-03-01.md").stat().st_mode & 0o777


def test_the_day_is_that_of_who_spoke(memory: Memory, home: Path, clock) -> None:
    """What was said in Tokyo late in the evening stands in the log of that evening there."""
    noted = memory.notes.append_daily("東京で", said_at="2026-02-28T23:30:00+09:00")

    assert "memory/2026-02-28.md" == noted.path
    assert "## 23:30:00" in (home / noted.path).read_text()


def test_a_note_is_found_at_once(memory: Memory) -> None:
    """Nobody has to call sync: what is noted is found, with its file and lines."""
    memory.notes.append_daily("The harbour opens at seven. 港口七点开门。")
    memory.notes.promote("Ann's boat is called Zephyr. 安的船叫西风。", topic="Boats 船")

    for question, path in (("when does the harbour open?", "memory/2026-03-01.md"), ("安的船叫什么？", "MEMORY.md")):
        hit = memory.recall(question, types=["note"])[0]
        assert path == hit.item.path


@pytest.mark.spec("S4-85")
def test_a_lasting_note(memory: Memory, home: Path) -> None:
    """It stands under its topic in MEMORY.md, a person's own text stays as it is, and told twice it stands there once."""
    own = "# Mine 我的\r\n\r\n## Boats 船\r\n\r\n- Zephyr 西风\r\n\r\nSome prose 散文。\r\n"
    (home / "MEMORY.md").write_bytes(own.encode())
    first = memory.notes.promote("安喜欢喝茶", topic="Food 饮食")
    second = memory.notes.promote("Ann sold the boat.\nShe bought a bicycle.", topic="BOATS 船", summary="No boat any more")
    again = memory.notes.promote("安喜欢喝茶", topic="food 饮食")

    text = (home / "MEMORY.md").read_bytes().decode()
    assert (True, True, False) == (first.new, second.new, again.new)
    assert (first.start_line + 5, 1) == (again.start_line, text.count("安喜欢喝茶"))  # what came above it moved it down
    left = iter(text.split("\r\n"))
    assert all(line in left for line in own.split("\r\n"))
    assert "**No boat any more**\r\n\r\nAnn sold the boat.\r\nShe bought a bicycle.\r\n\r\n## Food 饮食" in text
    lines = text.split("\r\n")[second.start_line - 1 : second.end_line]
    assert ("**No boat any more**", "She bought a bicycle.") == (lines[0], lines[-1])


@pytest.mark.parametrize(("text", "heading"), [("Ann likes tea.", "## Notes"), ("安喜欢喝茶。", "## 笔记")])
def test_without_a_topic(memory: Memory, home: Path, text: str, heading: str) -> None:
    """It stands under a heading in its own language."""
    memory.notes.promote(text)

    assert f"{heading}\n\n- {text}\n" == (home / "MEMORY.md").read_text()


def test_the_region_that_yiku_writes(memory: Memory, home: Path) -> None:
    """A note never goes between the markers, also where its topic is a heading there; text that is a marker is refused."""
    page = "## Mine\n\n- a\n\n<!-- yiku:begin 5f6e7d8c-90ab12cd34ef Kept by Yiku. -->\n## Rules\n\n- Be short. #1234abcd\n<!-- yiku:end -->\n"
    (home / "MEMORY.md").write_text(page)
    memory.notes.promote("my own rule", topic="Rules")
    text = (home / "MEMORY.md").read_text()

    assert text.startswith(page)
    assert text.endswith("<!-- yiku:end -->\n\n## Rules\n\n- my own rule\n")
    for marker in ("x\n<!-- yiku:end -->", "<!-- yiku:begin 5f6e7d8c-90ab12cd34ef a -->\nx\n<!-- yiku:end -->", "<<<<<<< HEAD\nx"):
        with pytest.raises(InvalidInput, match="marker"):
            memory.notes.promote(marker, topic="Mine")
    assert text == (home / "MEMORY.md").read_text()
    assert isinstance(region.find(text), region.Page)


def test_what_stays_out(memory: Memory, home: Path) -> None:
    """Private parts and keys are not written down; nothing is while memory is paused."""
    noted = memory.notes.append_daily("password=Xk29fjQ8vLmPz71w <private>my diary</private> 好", {"t": "<私密>x</私密>"})
    text = (home / noted.path).read_text()
    assert "[secret" in text and "[private]" in text and "好" in text and "[私密]" in text
    assert "diary" not in text and "Xk29" not in text
    with pytest.raises(KeptOut):
        memory.notes.promote("<private>all of it</private>")
    memory.admin.pause()
    with pytest.raises(Paused):
        memory.notes.append_daily("x")
    assert not (home / "MEMORY.md").exists()


@pytest.mark.parametrize("text", ["", "  \n ", None, 5, "a\0b", "\ud800", "x" * 300_000])
def test_what_is_no_note(memory: Memory, home: Path, text: object) -> None:
    """What cannot be written down is refused, and no file is made."""
    for verb in (memory.notes.append_daily, memory.notes.promote):
        with pytest.raises((InvalidInput, TooLarge)):
            verb(text)
    for more in ({"metadata": {"a": object()}}, {"said_at": "soon"}):
        with pytest.raises(InvalidInput):
            memory.notes.append_daily("x", **more)
    for more in ({"topic": "a\nb"}, {"topic": ""}, {"summary": ""}):
        with pytest.raises(InvalidInput):
            memory.notes.promote("x", **more)

    assert not (home / "memory").exists() and not (home / "MEMORY.md").exists()


def test_another_scope(memory: Memory, home: Path, clock) -> None:
    """The notes of a home are its owner's; another scope writes none."""
    with Memory(home, scope="team:atlas", clock=clock) as other:
        for verb in (other.notes.append_daily, other.notes.promote):
            with pytest.raises(InvalidInput, match="team:atlas"):
                verb("x")
        with pytest.raises(InvalidInput, match="team:atlas"):
            other.notes.compact()


def note_many(home: Path, who: str, count: int) -> int:
    with workers.clocked(home) as memory:
        for i in range(count):
            memory.notes.append_daily(f"{who} {i} 记录")
            if i % 5 == 0:
                memory.notes.promote(f"{who} {i} 要点", topic="Shared 共同")
    return count


def test_several_processes(memory: Memory, home: Path) -> None:
    """What several processes note down at once is all there, once each, below one title and one heading."""
    assert [20, 20, 20] == workers.together(note_many, [(home, who, 20) for who in "abc"])
    (log,) = (home / "memory").iterdir()

    assert sorted(f"{who} {i} 记录" for who in "abc" for i in range(20)) == sorted(
        line for line in log.read_text().splitlines() if "记录" in line
    )
    text = (home / "MEMORY.md").read_text()
    assert 1 == text.count("## Shared") and 1 == log.read_text().count("# 2") - log.read_text().count("## 2")
    assert sorted(f"- {who} {i} 要点" for who in "abc" for i in range(0, 20, 5)) == sorted(
        line for line in text.splitlines() if "要点" in line
    )


@pytest.mark.spec("S4-84", "S4-89")
def test_nothing_but_files(home: Path) -> None:
    """A new home takes notes without any configuration, and they are plain files: copied elsewhere they are all found again."""
    with Memory(home, owner="user:mei") as memory:
        memory.notes.append_daily("The harbour opens at seven. 港口七点开门。")
        memory.notes.promote("Ann's boat is called Zephyr.", topic="Boats")
    other = home.with_name("other")
    Memory(other, owner="user:mei").close()
    subprocess.run(["cp", "-r", home / "memory", home / "MEMORY.md", other], check=True)

    with Memory(other) as memory:
        memory.notes.sync()
        assert "MEMORY.md" == memory.recall("what is the boat called?", types=["note"])[0].item.path
        assert memory.recall("港口几点开门？", types=["note"])[0].item.path.startswith("memory/")


def test_the_first_note_of_another_scope(home: Path, tmp_path: Path) -> None:
    """A scope that asked for notes of its own gets their folder with the first note, the first document, the first log."""
    Memory(home, owner="user:mei").close()
    (tmp_path / "plan.md").write_text("Plant the quince. 种木瓜。\n")
    for scope, write in {
        "team:a": lambda memory: memory.notes.append_daily("The pump hums. 水泵嗡嗡响。"),
        "team:b": lambda memory: memory.notes.promote("The pump hums. 水泵嗡嗡响。"),
        "team:c": lambda memory: memory.notes.index_document(tmp_path / "plan.md"),
    }.items():
        with Memory(home, scope=scope, vaults=[scope]) as memory:
            memory.remember("Our tea is green. 我们的茶是绿的。")
            write(memory)
            assert 1 == len(memory.recall("pump quince", types=["note"]))
