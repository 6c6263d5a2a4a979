"""A client's handshake is answered before the SDK is loaded, in the SDK's own words; all else is the SDK's."""

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from yiku.interfaces.mcp import handshake, server
from yiku.interfaces.mcp.home import OpenHome
from yiku.interfaces.tools import Tools

YIKU = Path(sys.executable).with_name("yiku")


def asked(version="2025-11-25", **more):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params} | more


def answered(request, tools):
    """What the SDK answers to a request."""

    async def run():
        made = server.make(OpenHome("/nowhere", None), tools)
        async with create_client_server_memory_streams() as (client, ours), anyio.create_task_group() as group:
            group.start_soon(made.run, *ours, made.create_initialization_options())
            await client[1].send(SessionMessage(types.jsonrpc_message_adapter.validate_python(request, by_name=False)))
            message = (await client[0].receive()).message
            group.cancel_scope.cancel()
            return message.model_dump(by_alias=True, exclude_unset=True)

    return anyio.run(run)


def given(lines):
    """What `answer_first` writes for some bytes of a client, and the input that it leaves."""
    (reads, writes), (from_ours, ours) = os.pipe(), os.pipe()

    def send():
        with open(writes, "wb") as file:
            file.write(lines)

    threading.Thread(target=send).start()  # a pipe holds less than some of them
    left = handshake.answer_first(Tools(), reads, ours)
    os.close(ours)
    with open(from_ours, "rb") as file:
        return file.read(), left


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("version", [*handshake.VERSIONS, "2026-07-28", "1999-01-01"])
def test_the_answer_is_that_of_the_sdk(version, language):
    """For each version with a handshake, and for one that nobody knows."""
    tools = Tools(language=language, learning=True)

    assert answered(asked(version), tools)["result"] == handshake.result(tools, asked(version)["params"])


def test_a_handshake_is_answered_and_handed_on():
    """At once; what follows it, in the same read or later, is there for the SDK."""
    lines = f"{json.dumps(asked())}\n{json.dumps({'jsonrpc': '2.0', 'method': 'notifications/initialized'})}\n你好\n"
    written, left = given(lines.encode())

    assert (7, 7) == (json.loads(written)["id"], left.answered)
    assert lines == left.lines.read()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"not JSON\n",
        b"[]\n",
        json.dumps(asked()).encode(),  # not a whole line
        f"{json.dumps(asked(id=True))}\n".encode(),
        f"{json.dumps(asked(id='a' + chr(0xD83D)))}\n".encode(),  # half of an emoji
        b'{"a": ' + b"[" * 3_000 + b"]" * 3_000 + b"}\n",
        f"{json.dumps(asked(params={}))}\n".encode(),
        f"{json.dumps(asked(method='server/discover'))}\n".encode(),
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": 5}\n',
        b"\xff\xfe\n",
        b"x" * (handshake.LINE_BYTES + 10) + b"\n",
    ],
)
def test_what_is_no_handshake_is_left_to_the_sdk(line):
    """Nothing is written, and nothing is lost."""
    written, left = given(line)

    assert (b"", None) == (written, left.answered)
    assert io.TextIOWrapper(io.BytesIO(line), "utf-8", errors="replace").read() == left.lines.read()


def test_the_client_has_its_answer_before_the_sdk_is_loaded(home):
    """Even where the SDK cannot be loaded at all."""
    code = (
        "import sys; sys.modules['mcp.server.stdio'] = None\n"
        "import importlib.util; importlib.util.find_spec = lambda name: name\n"
        "from yiku.interfaces.cli import run; sys.argv = ['yiku', 'mcp']; run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=f"{json.dumps(asked())}\n".encode(), capture_output=True, timeout=60, check=False,
        env={**os.environ, "YIKU_HOME": str(home)},
    )  # fmt: skip

    assert 7 == json.loads(done.stdout)["id"]
    assert b"mcp.server.stdio" in done.stderr


def test_a_client_gets_one_answer(home):
    """The SDK's own answer to the same line is left out; the next request has its answer."""
    lines = [asked(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 8, "method": "ping"}]
    with subprocess.Popen(
        [YIKU, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "YIKU_HOME": str(home)}
    ) as running:
        running.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        running.stdin.flush()
        ids = [json.loads(running.stdout.readline())["id"] for _ in range(2)]
        running.stdin.close()

        assert ([7, 8], b"") == (ids, running.stdout.read())


def test_a_handshake_with_half_a_character_as_id_is_refused(home):
    """Its id cannot be repeated: an error says so, and the server goes on."""
    lines = [asked(id="a" + chr(0xD83D)), asked()]
    with subprocess.Popen(
        [YIKU, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "YIKU_HOME": str(home)}
    ) as running:
        running.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        running.stdin.flush()
        answers = [json.loads(running.stdout.readline()) for _ in range(2)]
        running.stdin.close()

        assert (b"", 0) == (running.stdout.read(), running.wait())
    assert [(None, False), (7, True)] == [(answer.get("id"), "result" in answer) for answer in answers]
