"""`compact`: old daily logs move whole to the archive; idempotent and safe to interrupt."""

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from models.chat_server import USAGE
from models.server import Answer, Server, error, says, serving

from yiku import Memory
from yiku.errors import InvalidInput, ModelUnavailable, Paused

LOG = "# {0}\n\n## 09:00:00\n\nWe chose Postgres. 我们选了 Postgres。\n\nThe deadline is 1 April.\n\nLunch was late.\n"


@pytest.fixture
def logs(memory: Memory, home: Path) -> Path:
    """Logs of 10 days up to today, 1 March, and what else lies beside them."""
    (home / "memory").mkdir(exist_ok=True)
    for day in ("2026-02-20", "2026-02-21", "2026-02-22", "2026-02-23", "2026-02-28", "2026-03-01"):
        (home / "memory" / f"{day}.md").write_text(LOG.format(day))
    (home / "memory" / "ideas.md").write_text("# Ideas\n")
    (home / "memory" / "2026-02-30.md").write_text("no such day\n")
    return home / "memory"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.spec("T-34", "S4-11")
def test_twice_is_once(memory: Memory, logs: Path) -> None:
    """Logs older than seven days lie whole in the archive; the second time there is nothing to do."""
    before = tree(logs)
    found = memory.notes.compact()
    after = tree(logs)
    again = memory.notes.compact()

    old = ["2026-02-20", "2026-02-21"]
    assert {f"memory/{day}.md": f"memory/archive/{day}.md" for day in old} == found.archived
    assert ({}, ()) == (found.kept, found.summarized)
    assert after == {name if name[:10] not in old else f"archive/{name}": content for name, content in before.items()}
    assert (({}, {}), after) == ((again.archived, again.kept), tree(logs))


@pytest.mark.spec("S4-11")
@pytest.mark.parametrize(
    ("older_than", "left"),
    [
        (timedelta(days=3), ["2026-02-28", "2026-03-01"]),
        (0, ["2026-03-01"]),
        (8, ["2026-02-21", "2026-02-22", "2026-02-23", "2026-02-28", "2026-03-01"]),
    ],
)
def test_how_old(memory: Memory, logs: Path, older_than: object, left: list[str]) -> None:
    """How long a log stays is said by the caller; today's always does."""
    memory.notes.compact(older_than=older_than)

    assert left == sorted(path.stem for path in logs.glob("2026*.md") if path.stem != "2026-02-30")


@pytest.mark.spec("S4-11")
def test_the_setting(memory: Memory, logs: Path, home: Path, clock) -> None:
    """Where nobody says it, the setting does."""
    with Memory(home, clock=clock, daily_days=1) as other:
        assert 4 == len(other.notes.compact(dry_run=True).archived)
        assert 6 == len([*logs.glob("2026-0[23]-[012]*.md")])


@pytest.mark.parametrize(
    "wrong", [{"older_than": -1}, {"older_than": "week"}, {"older_than": float("nan")}, {"strategy": "delete"}]
)
def test_what_is_no_retention(memory: Memory, logs: Path, wrong: dict) -> None:
    """No time, and no way to lose a log."""
    before = tree(logs)
    with pytest.raises(InvalidInput):
        memory.notes.compact(**wrong)
    memory.admin.pause()
    with pytest.raises(Paused):
        memory.notes.compact()
    assert before == tree(logs)


def test_what_is_in_the_archive_is_found(memory: Memory, logs: Path) -> None:
    """A log is found in the archive as it was before, and once."""
    (logs / "2026-02-20.md").write_text("# 2026-02-20\n\nThe parrot is called Xylo. 鹦鹉叫木琴。\n")
    memory.notes.sync()
    memory.notes.compact()

    for question in ("what is the parrot called?", "鹦鹉叫什么？"):
        hits = [hit for hit in memory.recall(question, types=["note"]) if "Xylo" in hit.text]
        assert ["memory/archive/2026-02-20.md"] == [hit.item.path for hit in hits]


def test_nothing_unlearned_is_archived(memory: Memory, logs: Path, home: Path) -> None:
    """A log that cannot be indexed stays where it is, and the answer says why."""
    (logs / "2026-02-20.md").write_bytes("港口".encode("gb18030") + b"\xff\x00")
    found = memory.notes.compact()

    assert ["memory/2026-02-20.md"] == [*found.kept]
    assert (logs / "2026-02-20.md").exists() and not (logs / "archive" / "2026-02-20.md").exists()


def test_another_log_of_that_day(memory: Memory, logs: Path) -> None:
    """A log that comes back, from git or a backup, is not taken for the one in the archive unless it is the same."""
    memory.notes.compact()
    (logs / "2026-02-20.md").write_text(LOG.format("2026-02-20"))
    (logs / "2026-02-21.md").write_text("something else 别的\n")
    found = memory.notes.compact()

    assert {
        "memory/2026-02-20.md": "memory/archive/2026-02-20.md",
        "memory/2026-02-21.md": "memory/archive/2026-02-21-2.md",
    } == found.archived
    assert LOG.format("2026-02-21") == (logs / "archive" / "2026-02-21.md").read_text()
    assert "something else 别的\n" == (logs / "archive" / "2026-02-21-2.md").read_text()


def test_links(memory: Memory, logs: Path, tmp_path: Path) -> None:
    """A log that is a link is left alone, and nothing is moved through a folder that is one."""
    (tmp_path / "mine.md").write_text("mine")
    (logs / "2026-02-19.md").symlink_to(tmp_path / "mine.md")
    (tmp_path / "elsewhere").mkdir()
    (logs / "archive").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="link"):
        memory.notes.compact()

    assert (logs / "2026-02-19.md").is_symlink() and (logs / "2026-02-20.md").exists()
    assert [] == os.listdir(tmp_path / "elsewhere")


# ------------------------------------------------------------------ with a model


def points(*lines: str) -> Answer:
    return says(json.dumps({"points": lines}, ensure_ascii=False), usage=USAGE)


@pytest.fixture
def server():
    with serving() as server:
        yield server


def asking(home: Path, clock, server: Server) -> Memory:
    return Memory(home, clock=clock, chat_url=server.url, chat_model="m", chat_timeout_s=2)


def test_a_digest(memory: Memory, logs: Path, home: Path, clock, server: Server) -> None:
    """A model chooses sentences; those that stand in the log go into the digest of the month, others do not."""
    server.always = lambda asked: points("We chose Postgres.", "The moon is made of cheese.", "The deadline is  1 April.")
    before = tree(logs)
    with asking(home, clock, server) as other:
        found = other.notes.compact()
        again = other.notes.compact()

    assert ("memory/2026-02-20.md", "memory/2026-02-21.md") == found.summarized
    digest = (logs / "archive" / "2026-02.md").read_text()
    one = "## 2026-02-{0}\n\n- We chose Postgres.\n- The deadline is 1 April.\n\n[2026-02-{0}.md](2026-02-{0}.md)\n"
    assert f"# 2026-02\n\n{one.format(20)}\n{one.format(21)}" == digest
    assert before["2026-02-20.md"] == (logs / "archive" / "2026-02-20.md").read_bytes()
    assert (2, ()) == (len(server.asked), again.summarized)
    assert [("digest", "ok")] * 2 == [(call.purpose, call.outcome) for call in calls(memory)]


def calls(memory: Memory) -> list:
    handle = memory._handle
    return handle.store.learning.spent(handle.own()[0])


@pytest.mark.parametrize("answer", [error(500), says("no JSON"), points("The moon is made of cheese.")])
def test_a_model_that_fails(logs: Path, home: Path, clock, server: Server, answer: Answer) -> None:
    """Its log stays for the next time, and nothing of its reply is kept; archiving needs no model."""
    before = tree(logs)
    server.always = lambda asked: answer
    with asking(home, clock, server) as other:
        found = other.notes.compact()
        assert (["memory/2026-02-20.md", "memory/2026-02-21.md"], {}) == ([*found.kept], found.archived)
        assert before == tree(logs)
        server.always = lambda asked: points()
        assert 2 == len(other.notes.compact(strategy="archive").archived)
    assert not (logs / "archive" / "2026-02.md").exists()


def test_a_digest_without_a_model(memory: Memory, logs: Path) -> None:
    """Asked for by name it is an error; nothing is moved."""
    before = tree(logs)
    with pytest.raises(ModelUnavailable):
        memory.notes.compact(strategy="summarize")

    assert before == tree(logs)


def test_cut_off_between_digest_and_move(memory: Memory, logs: Path, home: Path, clock, server: Server) -> None:
    """A day that the digest has is not asked about again: the log is moved, and the digest stays as it is."""
    (logs / "archive").mkdir()
    (logs / "archive" / "2026-02.md").write_text("# 2026-02\n\n## 2026-02-20\n\n- mine\n")
    server.always = lambda asked: points("We chose Postgres.")
    with asking(home, clock, server) as other:
        found = other.notes.compact(older_than=8)

    assert ({"memory/2026-02-20.md": "memory/archive/2026-02-20.md"}, ()) == (found.archived, found.summarized)
    assert "# 2026-02\n\n## 2026-02-20\n\n- mine\n" == (logs / "archive" / "2026-02.md").read_text()
    assert not server.asked
