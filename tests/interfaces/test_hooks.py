"""The capture hook as agents run it: JSON on stdin, always exit code 0, empty stdout, the event in the inbox."""

import errno
import fcntl
import json
import os
import shutil
import stat
import subprocess
import sys

import pytest
import workers
from canaries import has_number
from hooking import LAUNCHER, PROMPT, append_or_record, captured, record_once
from hooking import run as hook

from yiku import Memory
from yiku.files import inbox, inbox_append
from yiku.files.vault import Home
from yiku.interfaces.hooks import capture


def silent(done):
    """Nothing that an agent would take for an answer or a failure."""
    return (done.returncode, done.stdout) == (0, b"")


def test_an_event_is_in_the_inbox_when_the_hook_ends(home):
    """Whole, on one line, in a file that only its owner can read; the home need not be there."""
    done = hook(home)

    assert silent(done) and done.stderr == b""
    (event,) = captured(home)
    assert (PROMPT, "prompt", "claude-code", None) == (event.payload, event.hook, event.agent, event.scope)
    assert (0o700, 0o600) == tuple(stat.S_IMODE((home / name).stat().st_mode) for name in ("inbox", "inbox/events.jsonl"))
    assert 1 == (home / "inbox" / "events.jsonl").read_bytes().count(b"\n")


def test_the_command_line_has_the_same_hook(home):
    """`yiku hook` for configurations that are shared: no path of a machine is in them."""
    done = subprocess.run(
        [sys.executable, "-m", "yiku", "hook", "reply", "--agent=codex", f"--home={home}"],
        input=b'{"last_assistant_message": "Oslo."}', capture_output=True, timeout=60, check=False,
    )  # fmt: skip

    assert silent(done)
    assert [("reply", "codex", {"last_assistant_message": "Oslo."})] == [(e.hook, e.agent, e.payload) for e in captured(home)]


def test_the_hook_loads_little_of_the_standard_library_and_nothing_else(home):
    """What takes long to load is loaded only where it is needed, so that it runs within 60 ms."""
    code = (
        "import sys; sys.argv = sys.argv[1:]\n"
        f"sys.path.append({str(LAUNCHER.parents[3])!r})\n"
        "from yiku.interfaces.hooks import capture\n"
        "import os; os._exit = lambda code: None\n"
        "capture.main(['prompt'])\n"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-E", "-P", "-S", "-c", code], capture_output=True, check=True,
                          input='{"session_id": "s", "cwd": "/tmp/工作", "prompt": "x"}'.encode(),
                          env={"YIKU_HOME": str(home)})  # fmt: skip
    loaded = done.stdout.decode().split()

    assert {"yiku", "yiku.files", "yiku.files.inbox_append", "yiku.interfaces", "yiku.interfaces.hooks",
            "yiku.interfaces.hooks.capture"} == {name for name in loaded if name.startswith("yiku")}  # fmt: skip
    assert set() == {"json", "re", "typing", "pathlib", "datetime", "subprocess", "site", "contextlib"} & {*loaded}
    assert 1 == len(captured(home))


@pytest.mark.parametrize("what", ["locked", "damaged", "gone", "a file", "no arguments", "no event", "unknown option"])
def test_the_hook_never_fails_the_agent(home, what):
    """The database locked, damaged or gone: captured all the same. What cannot be captured is said on stderr alone."""
    Memory(home, owner="user:mei").close()
    lock = (home / "locks" / "write.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    match what:
        case "damaged":
            (home / "yiku.db").write_bytes(b"\0" * 100_000)
        case "gone":
            shutil.rmtree(home)
        case "a file":
            shutil.rmtree(home)
            home.write_text("not a folder")
    words = {"no event": ["--home", str(home)], "unknown option": ["prompt", "--colour", "red"], "no arguments": []}
    if what in words:
        done = subprocess.run([sys.executable, str(LAUNCHER), *words[what]], input=b"{}", capture_output=True, check=False)
    else:
        done = hook(home)
    lock.close()

    assert silent(done)
    assert (what in (*words, "a file", "damaged")) == (done.stderr != b""), done.stderr
    assert (what not in (*words, "a file")) == (what not in (*words, "a file") and len(captured(home)) == 1)


@pytest.mark.parametrize("payload", [b"", b"not json", b"{", b"\xff\xfe\0\n\r", b"[" * 5_000, b'"\\ud800"', b"x" * 3_000_000])
def test_whatever_comes_is_kept_on_one_line(home, payload):
    """What is no event is kept for a person, and what comes after it is read."""
    assert silent(hook(home, "prompt", payload))
    assert silent(hook(home))
    with Memory(home, owner="user:mei") as memory:
        done = memory.admin.ingest()

    assert (1, 0) == (done.turns, done.waiting)
    assert {1} <= {done.unreadable + sum(done.skipped.values())}


# ------------------------------------------------------------------ what is kept out


def test_nothing_is_captured_while_memory_is_paused(home):
    """Until `resume`, or until the time that was given; a pause file that cannot be read counts."""
    with Memory(home, owner="user:mei") as memory:
        memory.admin.pause()
        hook(home)
        memory.admin.pause("2999-01-01")
        hook(home)
        (home / "paused").write_text("soon")
        hook(home)
        assert [] == captured(home)
        (home / "paused").write_text("2020-01-01T00:00:00")
        hook(home)
        memory.admin.resume()
        hook(home)

    assert 2 == len(captured(home))


@pytest.mark.parametrize(
    "said",
    [
        "The code is <private>4711</private>.",
        "暗号是 <私密>4711</私密>。",
        "x ＜ｐｒｉｖａｔｅ＞4711",
        "a &lt;PRIVATE&gt;4711&lt;/private&gt;",
    ],
)
def test_private_parts_never_reach_the_disk(home, said):
    """They are cut out before the event is appended, in each text of it; the rest stays."""
    for given in ({**PROMPT, "prompt": said, "tool_input": {"deep": [said]}}, {"prompt": json.loads(json.dumps(said))}):
        assert silent(hook(home, "prompt", json.dumps(given).encode()))

    assert not has_number((home / "inbox" / "events.jsonl").read_bytes(), "4711")
    assert 2 == len(captured(home)) and {"s1", None} == {event.payload.get("session_id") for event in captured(home)}


def test_code_with_the_word_private_is_kept_whole(home):
    """`private` is a word of programming languages, too."""
    given = {"tool_response": "class A { private int x; } // if (a < b) is private"}
    hook(home, "tool", given)

    assert [given] == [event.payload for event in captured(home)]


@pytest.mark.parametrize("switch", ["file", "file above", "setting", "environment"])
def test_nothing_is_captured_in_a_folder_that_is_off(home, tmp_path, switch):
    """A file `.yiku-off` in it or above it, or `private_folders`: looked at before anything is written."""
    (inside := tmp_path / "work" / "secret 密").mkdir(parents=True)
    environment = {}
    match switch:
        case "file":
            (inside / ".yiku-off").touch()
        case "file above":
            (tmp_path / "work" / ".yiku-off").touch()
        case "setting":
            home.mkdir()
            (home / "yiku.toml").write_text(f'owner = "user:mei"\nprivate_folders = ["{tmp_path}/work"]\n')
        case "environment":
            environment["YIKU_PRIVATE_FOLDERS"] = f"/nowhere, {tmp_path}/work"
    assert silent(hook(home, "prompt", PROMPT, cwd=inside, **environment))
    elsewhere = {**PROMPT, "tool_input": {"cwd": str(tmp_path)}, "cwd": str(inside)}  # the agent says where it works, too
    for given in (elsewhere, json.dumps(elsewhere).encode(), json.dumps({"cwd": f"{inside}/"}, indent=2).encode()):
        assert silent(hook(home, "prompt", given, cwd=tmp_path, **environment))
    assert [] == captured(home)

    hook(home, "prompt", PROMPT, cwd=tmp_path, **environment)
    hook(home, "tool", {"tool_input": {"cwd": str(inside)}, "cwd": str(tmp_path)}, cwd=tmp_path, **environment)  # only spoken of
    hook(home, "prompt", {"prompt": f'{{"cwd": "{inside}"}}', "cwd": f"{tmp_path}/gone\0"}, cwd=tmp_path, **environment)
    hook(home, "prompt", {"prompt": "x", "cwd": "/gone/\ud83d"}, cwd=tmp_path, **environment)
    assert 4 == len(captured(home))


def test_only_the_folder_of_the_event_itself_switches_it_off(home, tmp_path):
    """Not one that a tool is given, nor one in what is no JSON; also where the event names its own with an escaped key, or none."""
    (off := tmp_path / "off 关").mkdir()
    (off / ".yiku-off").touch()
    call = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls", "cwd": str(off)}, "tool_response": "密"}
    escaped = json.dumps({**call, "here": str(tmp_path)}).replace('"here"', '"c\\u0077d"')
    spoken_of = [
        call,
        {"x": [{}, {"cwd": str(off)}]},
        escaped.encode(),
        f'note: "cwd":"{off}"'.encode(),
        f'["cwd":"{off}"'.encode(),
    ]
    for given in spoken_of:
        assert silent(hook(home, "tool", given, cwd=tmp_path))
    assert len(spoken_of) == len(captured(home))

    own = {"tool_input": {"cwd": str(tmp_path)}, "here": str(off)}
    for key in ('"cwd"', '"c\\u0077d"', '"\\u0063wd"'):
        for known in (own, {"here": str(off)}):
            given = json.dumps(known, ensure_ascii=False).replace('"here"', key).encode()
            assert silent(hook(home, "tool", given, cwd=tmp_path))
            assert silent(hook(home, "tool", given[:-1] + b', "cut": "\xe5"}', cwd=tmp_path))  # a character that was cut off
    assert len(spoken_of) == len(captured(home))


@pytest.mark.parametrize("levels", [400, 5_000])
def test_a_deeply_nested_call_keeps_its_folder_and_its_private_parts_to_itself(home, tmp_path, levels):
    """As one does that is not nested."""
    (tmp_path / "off").mkdir()
    (tmp_path / "off" / ".yiku-off").touch()

    def call(inner, own):
        deep = f'{"[" * levels}{{"cwd": "{tmp_path}/{inner}", "a": "\\u003cprivate>gzhkxq</private> 深"}}{"]" * levels}'
        return f'{{"session_id": "s", "tool_input": {deep}, "cwd": "{tmp_path}/{own}"}}'.encode()

    assert silent(hook(home, "tool", call("on", "off"), cwd=tmp_path)) and [] == captured(home)
    assert silent(hook(home, "tool", call("off", "on"), cwd=tmp_path))
    (event,) = captured(home)
    assert ("s", f"{tmp_path}/on", False) == (event.payload["session_id"], event.payload["cwd"], b"gzhkxq" in event.raw)
    assert "深".encode() in event.raw


# ------------------------------------------------------------------ the file


def test_a_line_that_was_cut_off_costs_no_other(home):
    """A hook was killed within its line: the next one begins a line of its own."""
    hook(home)
    with (home / "inbox" / "events.jsonl").open("ab") as file:
        file.write(b'{"yiku":1,"id":"0011","at":17')
    hook(home)
    with Memory(home, owner="user:mei") as memory:
        done = memory.admin.ingest()
        assert (2, 1) == (done.turns, done.unreadable)
        assert "inbox/unreadable.jsonl has a line" in " ".join(memory.status().troubles)
    assert b'{"yiku":1,"id":"0011","at":17\n' == (home / "inbox" / "unreadable.jsonl").read_bytes()


def test_a_lock_that_is_held_stops_no_hook(home):
    """Somebody holds the lock of the file for good: the event goes to a file of its own, and is recorded like the others."""
    hook(home)
    with (home / "inbox" / "events.jsonl").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert silent(hook(home))
        assert 2 == len(inbox.every_file(Home(home)))
    with Memory(home, owner="user:mei") as memory:
        assert 2 == memory.admin.ingest().turns


def test_on_a_full_disk_the_reserve_takes_what_is_captured(home, monkeypatch):
    """What did not fit is not half there; the space held back is given up, once."""
    inbox_append.append(str(home), b'{"a":1}', hook="prompt", agent="a")
    write, full = os.write, [True, True]

    def refuse(descriptor, data):
        if full and not (home / "inbox" / "reserve").exists():
            full.clear()
        if full:
            write(descriptor, bytes(data)[:5])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(inbox_append.os, "write", refuse)
    inbox_append.append(str(home), b'{"a":2}', hook="prompt", agent="a")
    monkeypatch.undo()

    assert [{"a": 1}, {"a": 2}] == [event.payload for event in captured(home)]
    assert not (home / "inbox" / "reserve").exists()
    inbox_append.append(str(home), b'{"a":3}', hook="prompt", agent="a")
    assert inbox_append.RESERVE_BYTES == (home / "inbox" / "reserve").stat().st_size


def test_many_hooks_and_readers_lose_and_double_nothing(home):
    """Six agents append while two processes record: each event is one turn, in the order of its session."""
    Memory(home, owner="user:mei").close()

    tasks = [*(("append", str(home), f"s{number}", 40) for number in range(6)), *[("record", str(home), "", 6)] * 2]
    results = workers.together(append_or_record, tasks)
    assert 240 == sum(results) + record_once(home)

    with Memory(home) as memory:
        for session in range(6):
            said = [turn["content"] for turn in memory.sessions.messages(f"s{session}", limit=100).messages]
            assert [f"s{session} {number}" for number in range(40)] == said
        assert 0 == memory.admin.ingest().events


def test_a_scope_of_its_own(home):
    """`--scope` or YIKU_SCOPE: only a memory of that scope records it; the home's own memory leaves it."""
    hook(home, "prompt", PROMPT, "--scope", "team:atlas")
    hook(home, "prompt", PROMPT, YIKU_SCOPE="team:阿特拉斯")
    hook(home)
    with Memory(home, owner="user:mei") as memory:
        assert 1 == memory.admin.ingest().turns
    for scope in ("team:atlas", "team:阿特拉斯"):
        with Memory(home, scope=scope) as memory:
            assert [1, 1] == [memory.admin.ingest().turns, memory.admin.stats().turns]


def test_the_parts_of_the_command():
    """Options in both spellings; anything else names the usage."""
    assert ("tool", {"agent": "codex", "home": "/h"}) == capture.parse(["tool", "--agent", "codex", "--home=/h"])
    for wrong in ([], ["tool", "--agent"], ["tool", "more"], ["sing"]):
        with pytest.raises(ValueError, match="yiku hook"):
            capture.parse(wrong)
