"""`import` of sessions that hooks have captured: nothing comes in twice, and nothing that was forgotten comes back."""

import json
from datetime import UTC, datetime, timedelta

import commands
import pytest
from hooking import capture

from yiku import Memory
from yiku.errors import Paused, StoreBusy
from yiku.interfaces.importers import formats, run
from yiku.store.api import one_at_a_time

ALLERGIES = ("I am allergic to walnuts.", "我对核桃过敏。")


def hooks_capture(home, said):
    """What hooks of Claude Code leave in the inbox of a home."""
    capture(home, "prompt", prompt=said)
    capture(home, "reply", last_assistant_message="Noted. 记下了。")


@pytest.fixture
def transcript(tmp_path):
    """The agent's own transcript of the same session."""

    def written(said):
        (folder := tmp_path / "projects" / "x").mkdir(parents=True)
        now = datetime.now(UTC)
        lines = [
            {
                "type": role,
                "uuid": f"0000000{at}-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
                "sessionId": "s1",
                "timestamp": (now + timedelta(seconds=at)).isoformat().replace("+00:00", "Z"),
                "cwd": "/work/atlas",
                "message": {"role": role, "content": text},
            }
            for at, (role, text) in enumerate([("user", said), ("assistant", "Noted. 记下了。")])
        ]
        (folder / "s1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return tmp_path / "projects"

    return written


def imported(memory, path, **options):
    (done,) = run.each(memory, formats.find(path), **options)
    return done.report.turns, dict(done.report.skipped)


@pytest.mark.parametrize("said", ALLERGIES)
def test_a_forgotten_session_does_not_come_back(home, transcript, said):
    """Its turns are hidden, but they were captured all the same; what was learned from them stays forgotten, too."""
    hooks_capture(home, said)
    with Memory(home, owner="user:mei") as memory:
        memory.admin.ingest()
        memory.learn()
        assert memory.get_all()
        memory.forget(session="s1")
        assert (0, {"captured by hooks": 2}) == imported(memory, transcript(said))
        memory.learn()

        assert ([], []) == (memory.search_traces(), memory.get_all())


def test_a_session_of_which_the_newest_turns_are_forgotten_does_not_come_back(home, transcript):
    """From when to when is asked of all captured turns."""
    hooks_capture(home, ALLERGIES[0])
    with Memory(home, owner="user:mei") as memory:
        memory.admin.ingest()
        first, last = memory.admin.captured("s1")
        memory.forget(memory.search_traces(role="assistant")[0].id)

        assert (first, last) == memory.admin.captured("s1") and first < last
        assert memory.admin.captured("s2") is None


@pytest.mark.parametrize("said", ALLERGIES)
def test_what_waits_in_the_inbox_is_recorded_before_an_import(home, transcript, said):
    """So that the conversation does not come in twice. A dry run records nothing, and says that something waits."""
    hooks_capture(home, said)
    path = transcript(said)
    tried = commands.run("import", path, "--dry-run", "--home", home)
    with Memory(home, owner="user:mei") as memory:
        assert [] == memory.search_traces()
    done = commands.run("import", path, "--home", home)
    with Memory(home) as memory:
        assert [said, "Noted. 记下了。"] == [turn.content for turn in memory.search_traces()][::-1]

    assert "2 events of hooks wait" in " ".join(tried.out.split()) and "wait" not in done.out
    assert "imported 0 turns" in done.out and "captured by hooks 2" in done.out


def test_an_import_that_cannot_record_the_inbox_first_says_so(home, transcript):
    """Memory is paused, or another process records the inbox at the moment: nothing is imported."""
    hooks_capture(home, ALLERGIES[0])
    path = transcript(ALLERGIES[0])
    with Memory(home, owner="user:mei") as memory:
        memory.admin.pause()
        with pytest.raises(Paused):
            imported(memory, path)
        memory.admin.resume()
        with one_at_a_time(home / "locks" / "inbox.lock", "", 0.0), pytest.raises(StoreBusy, match="records the inbox"):
            imported(memory, path)

        assert [] == memory.search_traces()
        assert (0, {"captured by hooks": 2}) == imported(memory, path)
