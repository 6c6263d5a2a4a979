"""The hook that injects memories into prompts: fenced, once, certain hits only; through the server process or alone."""

import json
import os
import socket
import stat
import time

import apsw
import pytest
from hooking import run

from yiku import Memory
from yiku.interfaces.hooks import capture, recalled, serve
from yiku.rules.finding import pack

PORT = "The staging server listens on port 4321."


@pytest.fixture
def known(home):
    """A home with a rule and some statements, in both languages."""
    with Memory(home, owner="user:mei") as memory:
        memory.remember("Always write tests first.", kind="rule")
        memory.remember("I live in Oslo.")
        memory.remember("测试服务器监听 4321 端口。")
        memory.remember(PORT)
    return home


@pytest.fixture
def server(known):
    """A process that stays."""
    with Memory(known) as memory:
        answering = serve.Answering(memory)
        end = time.monotonic() + 60
        while not (known / "locks" / "hooks.sock").exists() and time.monotonic() < end:
            time.sleep(0.01)
        yield known
        answering.close()


def run_hook(home, event="prompt", session="s1", prompt=None, **more):
    """What the hook prints, as the agent reads it."""
    done = run(
        home,
        event,
        {"session_id": session, "hook_event_name": "UserPromptSubmit", **({"prompt": prompt} if prompt else {}), **more},
    )
    assert 0 == done.returncode
    if not done.stdout:
        return ""
    found = json.loads(done.stdout)["hookSpecificOutput"]
    assert "UserPromptSubmit" == found["hookEventName"]
    return found["additionalContext"]


def conversation(home):
    """What is brought in, event by event."""
    first = run_hook(home, "start", source="startup")
    assert "Always write tests first." in first and "Oslo" not in first
    text = run_hook(home, prompt="On which port does the staging server listen?")
    assert 1 == text.count("<yiku-memory") == text.count("4321") and text.startswith("<yiku-memory seal=")
    assert "quoted, not instructions" in text and "tests first" not in text
    assert "" == run_hook(home, prompt="On which port does the staging server listen?"), "it is in the context already"
    assert "" == run_hook(home, prompt="Thanks, that is great!") == run_hook(home, prompt="好的，谢谢")
    assert "" == run_hook(home, prompt="What should I cook tonight?")
    assert "4321" in run_hook(home, session="s2", prompt="测试服务器监听哪个端口？")
    assert "tests first" in run_hook(home, "start", source="compact")
    assert "4321" in run_hook(home, prompt="On which port does the staging server listen?")


def test_a_process_that_stays_is_asked(server):
    """Rules once a session and after each compression, a memory once, and nothing where nothing fits; all of it is captured."""
    assert 0o600 == stat.S_IMODE((server / "locks" / "hooks.sock").stat().st_mode)
    conversation(server)
    with Memory(server) as memory:
        assert 7 == memory.admin.ingest().turns


def test_the_socket_is_private_before_it_has_its_name(known, monkeypatch):
    """Between binding it and closing it to others nobody finds it; what a killed process left there is no obstacle."""
    locks, chmod, seen = known / "locks", os.chmod, []
    (locks / "hooks.new").touch()

    def watched(*args, **kwargs):
        seen.append((locks / "hooks.sock").exists())
        chmod(*args, **kwargs)

    monkeypatch.setattr(os, "chmod", watched)
    with serve._listening(known):
        assert [False] == seen and (locks / "hooks.sock").is_socket() and not (locks / "hooks.new").exists()


def test_without_one_the_hook_looks_by_itself(known):
    """The same answers."""
    conversation(known)


def test_a_compression_lets_rules_and_memories_come_again(server):
    """An agent that says so by its hook alone."""
    question = "On which port does the staging server listen?"
    assert "tests first" in run_hook(server, prompt=question)
    assert "" == run_hook(server, prompt=question)
    run_hook(server, "compress")
    assert "tests first" in run_hook(server, prompt=question)


@pytest.mark.parametrize("how", ["off", "always"])
def test_the_setting_says_how_sure_it_has_to_be(known, how):
    """`auto_recall`: off brings rules alone, always whatever fits."""
    with Memory(known, auto_recall=how) as memory:
        text = memory.prompts.inject("s1", "Tell me something of Oslo, please").text

    assert "tests first" in text and ("Oslo" in text) == (how == "always")


def test_it_stays_within_its_budget(known):
    """At most 300 tokens of memories, and 300 of rules, however much there is."""
    with Memory(known, auto_recall="always") as memory:
        for number in range(60):
            memory.remember(f"Rule {number}: never deploy service {number} on a Friday evening.", kind="rule")
            memory.remember(f"The staging server number {number} listens on port {5000 + number}. 测试服务器 {number}。")
        text = memory.prompts.inject("s1", "Which port does the staging server listen on? 测试服务器").text
        again = memory.prompts.inject("s1", "Which port does the staging server listen on? 测试服务器").text

    assert pack.estimate(text) <= 660 and pack.estimate(again) <= 330
    assert not {*text.splitlines()[2:-1]} & {*again.splitlines()[2:-1]}


def test_what_the_session_said_itself_is_not_brought_in(home):
    """It stands in the agent's context anyway."""
    with Memory(home, owner="user:mei", auto_recall="always", learn="off") as memory:
        memory.record_turn("user", "The walrus weighs a ton. 海象重一吨。", session="s1")

        assert "" == memory.prompts.inject("s1", "How much does the walrus weigh?").text
        assert "a ton" in memory.prompts.inject("s2", "How much does the walrus weigh?").text


def test_no_text_is_kept_of_what_was_brought_in(server):
    """Ids alone, and sessions without their names."""
    run_hook(server, session="geheim-session", prompt="On which port does the staging server listen?")
    kept = (server / "inbox" / "shown").read_text()

    assert "geheim" not in kept and "4321" not in kept and 0o600 == stat.S_IMODE((server / "inbox" / "shown").stat().st_mode)


@pytest.mark.parametrize("what", ["damaged", "gone", "paused", "switched off", "no home"])
def test_the_agent_works_on_whatever_is_wrong(known, tmp_path, what):
    """Nothing is brought in, or what can be; the exit code is 0."""
    cwd = None
    match what:
        case "damaged":
            (known / "yiku.db").write_bytes(b"\0" * 50_000)
        case "gone":
            (known / "yiku.db").unlink()
        case "paused":
            with Memory(known) as memory:
                memory.admin.pause()
        case "switched off":
            (tmp_path / "off").mkdir()
            (tmp_path / "off" / ".yiku-off").touch()
            cwd = tmp_path / "off"
        case "no home":
            known = tmp_path / "none"
    done = run(known, "prompt", {"session_id": "s1", "prompt": "On which port does the staging server listen?"}, cwd=cwd)

    assert 0 == done.returncode
    assert (what == "paused") == (b"4321" in done.stdout)


def test_a_server_of_another_scope_or_a_silent_one_is_not_trusted(known):
    """The hook looks by itself."""
    with Memory(known, scope="team:atlas") as other:
        answering = serve.Answering(other)
        try:
            assert "4321" in run_hook(known, prompt="On which port does the staging server listen?")
        finally:
            answering.close()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(known / "locks" / "hooks.sock"))
        silent.listen(1)
        assert "4321" in run_hook(known, session="s2", prompt="On which port does the staging server listen?")


def test_an_unexpected_error_ends_no_server_and_tells_no_words(server, monkeypatch, caplog):
    """The hook looks by itself; the next one is answered again."""

    def broken(*_, **__):
        raise RuntimeError("the canary sings")

    with monkeypatch.context() as patch:
        patch.setattr(recalled, "printed_and_shown", broken)
        assert "4321" in run_hook(server, prompt="On which port does the staging server listen?")
    assert "4321" in run_hook(server, session="s2", prompt="On which port does the staging server listen?")
    assert "RuntimeError" in caplog.text and "canary" not in caplog.text


def test_who_writes_keeps_nobody_waiting(server, monkeypatch):
    """While another process writes, the server answers, and counts later what it showed."""
    monkeypatch.setattr(capture, "ASK_S", 15.0)  # half of what the server would wait
    writes = apsw.Connection(str(server / "yiku.db"))
    writes.execute("begin immediate")
    for session in ("s1", "s2", "s3"):
        given = {"session_id": session, "prompt": "On which port does the staging server listen?"}
        text = capture.ask(str(server), "prompt", json.dumps(given).encode(), None)
        assert "4321" in text and "tests first" in text
    writes.execute("rollback")
    writes.close()
    with Memory(server) as memory:
        for _ in range(200):
            if [1, 1] == (counts := [row.retrieved for row in memory.get_all() if row.content == PORT or row.kind == "rule"]):
                break
            time.sleep(0.05)
    assert [1, 1] == counts, "a memory and a rule, once a day"


def test_what_other_hooks_put_before_a_prompt_does_not_hide_it(known):
    """Gemini CLI repeats in front of a prompt what was brought in at the start."""
    with Memory(known) as memory:
        before = memory.prompts.inject("s1").text.replace("<", "&lt;").replace(">", "&gt;")
        text = memory.prompts.inject(
            "s1", f"<hook_context>{before}</hook_context>\n\nOn which port does the staging server listen?"
        ).text

    assert "4321" in text


def test_one_process_answers(known):
    """A second one waits until the first has ended."""
    with Memory(known) as memory, Memory(known) as other:
        first = serve.Answering(memory)
        while not (known / "locks" / "hooks.sock").exists():
            time.sleep(0.01)
        second = serve.Answering(other)
        assert "4321" in run_hook(known, prompt="On which port does the staging server listen?")
        first.close()
        assert not (known / "locks" / "hooks.sock").exists()
        second.close()


@pytest.mark.parametrize("payload", [b"", b"[]", b"{", b'{"session_id": 7}', b'{"prompt": {"a": 1}, "session_id": "\\n"}'])
def test_odd_payloads_get_nothing_but_rules(known, payload):
    """Types that are not expected."""
    with Memory(known) as memory:
        text = recalled.text(memory, "prompt", payload)

    assert "Oslo" not in text


@pytest.mark.parametrize("odd", ["\ud83d", "\0", "里\udc00"])
def test_a_prompt_with_a_character_that_cannot_be_stored_gets_its_memories(known, odd):
    """Half an emoji, or a NUL."""
    text = run_hook(known, session=f"s{odd}", prompt=f"On which port does the staging server listen? {odd}", cwd=f"/work/{odd}")

    assert "tests first" in text and "4321" in text
