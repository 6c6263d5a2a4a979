"""The MCP server over stdio, by the SDK's own client on a real process and home."""

import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client

from yiku import Memory
from yiku.interfaces.mcp import server, stdio
from yiku.interfaces.mcp.home import OpenHome
from yiku.interfaces.tools import Tools

YIKU = Path(sys.executable).with_name("yiku")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def talk(transport: Any, scenario: Callable[[Client], Awaitable[None]], **how: Any) -> None:
    """Run a scenario with a connected client."""

    async def run() -> None:
        with anyio.fail_after(120):
            async with Client(transport, **how) as client:
                await scenario(client)

    anyio.run(run)


def process(home: Path, *more: str) -> Any:
    """The server as a host starts it: a bare name, a tiny PATH, another folder."""
    environment = {"PATH": f"{YIKU.parent}:/usr/bin:/bin", "HOME": str(home.parent), "YIKU_HOME": str(home)}
    return stdio_client(StdioServerParameters(command="yiku", args=["mcp", *more], env=environment, cwd="/"))


@pytest.fixture
def opened(memory, home):
    """The server of a home in this process, without a transport."""
    place = OpenHome(str(home), None)
    yield server.make(place, Tools(learning=True))
    place.close()


# ------------------------------------------------------------------ a real process


@pytest.mark.long
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_adds_and_finds_over_stdio(memory, home, mode):
    """A client of today's and of the former protocol lists the tools, adds a statement and finds what is known."""
    memory.remember("I live in Oslo.")

    async def scenario(client: Client) -> None:
        tools = await client.list_tools()
        assert [tool["name"] for tool in Tools(learning=True).mcp()] == [tool.name for tool in tools.tools]
        assert "memory_search" in (client.instructions or "")
        added = await client.call_tool("memory_add", {"text": "我的办公室在卑尔根。"})
        found = await client.call_tool("memory_search", {"query": "where do I live?"})
        office = await client.call_tool("memory_search", {"query": "办公室在哪里？"})
        assert "candidate" == added.structured_content["state"]
        assert "Oslo" in found.content[0].text
        assert "卑尔根" in office.content[0].text

    talk(process(home), scenario, mode=mode)
    assert 1 == memory.get_all(where={"state": "active"})[0].retrieved


@pytest.mark.long
def test_several_servers_serve_one_home(memory, home):
    """What one agent adds, another finds at once; nobody waits for the other."""

    async def scenario() -> None:
        with anyio.fail_after(120):
            async with Client(process(home)) as one, Client(process(home)) as two:
                for number in range(5):
                    await one.call_tool("memory_add", {"text": f"Lamp {number} is in the north room."})
                    await two.call_tool("memory_add", {"text": f"Chair {number} is in the south room."})
                found = await two.call_tool("memory_list", {"state": "candidate", "limit": 50})
                assert 10 == len(found.structured_content["items"])

    anyio.run(scenario)


@pytest.mark.long
def test_nothing_but_the_protocol_is_on_stdout(home):
    """A home that is made, warnings and errors go to stderr: each line on stdout is a message."""
    environment = {**os.environ, "YIKU_HOME": str(home)}
    lines = [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_status", "arguments": {}}}]
    with subprocess.Popen(
        [YIKU, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as running:
        running.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        running.stdin.flush()
        answers = [json.loads(running.stdout.readline()) for _ in range(2)]
        running.stdin.close()
        rest = running.stdout.read()
        output = running.stderr.read().decode()
        code = running.wait()

    assert [1, 2] == [answer["id"] for answer in answers]
    assert (b"", 0) == (rest, code)
    assert "made a new home" in output


def asks(query):
    """A request to search, as a line of JSON, with a query that is JSON already."""
    return f'{{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {{"name": "memory_search", "arguments": {query}}}}}'


HALF = "\\ud83d"  # of an emoji, as a program writes it that cuts texts at a number of UTF-16 units
HARD = {  # lines that a parser of JSON may refuse, with the id of the answer and what it says
    "half of an emoji": (asks(f'{{"query": "rocket {HALF}"}}'), 2, "query has half of a character"),
    "half of an emoji as a name": (asks(f'{{"query": "x", "a{HALF}": 1}}'), 2, "there is no argument a"),
    "half of an emoji in an object": (
        asks(f'{{"text": "x", "metadata": {{"a": ["b{HALF}"]}}}}').replace("memory_search", "memory_add"), 2, "metadata has half"),
    "half of an emoji in a prompt": (
        f'{{"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": {{"name": "recall", "arguments": {{"topic": "a{HALF}"}}}}}}',
        2, "Search my memory"),
    "half of an emoji as a tool": (asks('{"query": "x"}').replace("memory_search", HALF), 2, ""),
    "half of an emoji as a method": (f'{{"jsonrpc": "2.0", "id": 2, "method": "a{HALF}"}}', 2, ""),
    "half of an emoji as id": (f'{{"jsonrpc": "2.0", "id": "a{HALF}", "method": "ping"}}', None, "the id of a request"),
    "a broken number as id": ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, "the id of a request"),
    "a truth as id": ('{"jsonrpc": "2.0", "method": "ping", "id": true}', None, "the id of a request"),
    "null as id": ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, "the id of a request"),
    "5,000 digits as id": (f'{{"jsonrpc": "2.0", "id": 1{"0" * 5_000}, "method": "ping"}}', None, "the id of a request"),
    "a line break in the id": ('{"jsonrpc": "2.0", "id": "a\\n", "method": 7}', "a\n", "JSON-RPC"),
    "5,000 digits": (asks(f'{{"query": "x", "limit": 1{"0" * 5_000}}}'), 2, "limit"),
    "300 levels": (asks(f'{{"query": {"[" * 300}{"]" * 300}}}'), 2, "query"),
    "900 levels": (asks(f'{{"text": "x", "metadata": {{"a": {"[" * 900}{"]" * 900}}}}}').replace("search", "add"), 2, ""),
    "3,000 levels": (asks(f'{{"query": "}}\\"{{", "limit": {"[" * 3_000}{"]" * 3_000}}}'), 2, "nested too deep"),
    "3,000 levels before the id": (
        f'{{"params": {"[" * 3_000}"]"{"]" * 3_000}, "jsonrpc": "2.0", "id": "seven", "method": "ping"}}', "seven", "nested"),
    "no JSON": ("hello", None, "JSON"),
    "3,000 levels behind 1 MB": (
        f'{{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {{"a": "{"x" * (1 << 20)}", "b": {"[" * 3_000}{"]" * 3_000}}}}}',
        2, "nested"),
    "half of a line": (asks('{"query": "x"}')[:-3], 2, "JSON"),
    "half of a line in its id": ('{"jsonrpc": "2.0", "id": 12', None, "JSON"),
    "no request": ('{"jsonrpc": "2.0", "id": 2}', 2, "JSON-RPC"),
    "a batch": (f"[{asks('{}')}]", None, "JSON-RPC"),
    "nothing": ("[]", None, "JSON-RPC"),
}  # fmt: skip


def test_every_line_has_an_answer(memory, home):
    """A client waits for the answer to each request: none is left out since a parser refused the line, and the next one works."""
    memory.remember("The rocket starts in May.")
    with subprocess.Popen(
        [YIKU, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "YIKU_HOME": str(home)}
    ) as running:

        def answer(line):
            running.stdin.write(f"{line}\n\n".encode())
            running.stdin.flush()
            return json.loads(running.stdout.readline()) if select.select([running.stdout], [], [], 30)[0] else {}

        answer(json.dumps(INITIALIZE))
        got = {name: answer(line) for name, (line, _, _) in HARD.items()}
        found = answer(asks('{"query": "when does the 🚀 rocket start?"}'))
        running.stdin.close()

        assert (b"", 0) == (running.stdout.read(), running.wait())
    assert {name: id for name, (_, id, _) in HARD.items()} == {name: one.get("id") for name, one in got.items()}
    assert [] == [name for name, (_, _, says) in HARD.items() if says not in json.dumps(got[name])]
    assert "in May" in found["result"]["content"][0]["text"]


def test_a_broken_line_stops_no_other_answer():
    """However long it is: little of it is looked at once it could not be read."""
    line = asks(f'{{"query": "{"a" * (16 << 20)}"}}')[:-1]
    start = time.process_time()
    message, refused = stdio.read(line)

    assert (types.PARSE_ERROR, True) == (message.error.code, refused)
    assert time.process_time() - start < 0.3


# ------------------------------------------------------------------ what it answers


def test_every_tool_answers(opened, memory):
    """Each tool that is listed can be called, and its structured answer has the shape that it promises."""
    turn = memory.record_turn(
        "user", "We went over the plans for the museum for hours, and the board settled on granite for it.", session="s"
    )
    memory.remember("I live in Oslo.")
    id = memory.get_all(where={"content": "I live in Oslo."})[0].id
    given = {
        "memory_search": {"query": "where do I live?"},
        "memory_get": {"id": id},
        "memory_add": {"text": "The office is in Bergen."},
        "memory_update": {"id": id, "tags": ["home"]},
        "memory_delete": {"id": turn.id},
        "memory_timeline": {"id": id},
        "memory_traces": {"query": "granite"},
        "memory_learned": {"excerpt": "1-1", "statements": []},
    }

    async def scenario(client: Client) -> None:
        order = ["memory_learn", "memory_learned"]
        names = [tool.name for tool in (await client.list_tools()).tools]
        for name in [*order, *(name for name in names if name not in order)]:
            answer = await client.call_tool(name, given.get(name, {}))
            assert not answer.is_error, f"{name}: {answer.content}"
            assert isinstance(answer.structured_content["notes"], list), name

    talk(opened, scenario)


def test_what_fails_is_an_answer(opened, memory):
    """Wrong arguments, unknown ids and tools, and a pause: the agent reads what to do; nothing is a fault of the protocol."""
    memory.admin.pause()
    wrong = {
        "memory_get": ({"id": "ffffffff"}, "memory_list and memory_traces"),
        "memory_search": ({}, "query is missing"),
        "memory_add": ({"text": "x y z"}, "yiku resume"),
        "memory_erase": ({}, "There is no tool"),
    }

    async def scenario(client: Client) -> None:
        for name, (given, message) in wrong.items():
            answer = await client.call_tool(name, given)
            assert (True, True) == (answer.is_error, message in answer.content[0].text), (name, answer.content[0].text)

    talk(opened, scenario)


def test_a_fault_of_ours_tells_nothing_of_the_home(opened, memory, monkeypatch, caplog):
    """An error that should not be has its name in the answer, and no words of memory."""

    words = "the canary sings"

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError(words)

    monkeypatch.setattr(Memory, "recall", broken)

    async def scenario(client: Client) -> None:
        answer = await client.call_tool("memory_search", {"query": "x"})
        assert (True, True, False) == (
            answer.is_error,
            "RuntimeError" in answer.content[0].text,
            "canary" in answer.content[0].text,
        )

    talk(opened, scenario)
    assert ("RuntimeError" in caplog.text, "canary" in caplog.text) == (True, False)


def test_a_folder_that_is_kept_out_stores_nothing(opened, memory, tmp_path, monkeypatch):
    """Where the server runs in a folder with `.yiku-off` it answers questions and stores nothing."""
    memory.remember("I live in Oslo.")
    (tmp_path / ".yiku-off").touch()
    monkeypatch.chdir(tmp_path)

    async def scenario(client: Client) -> None:
        added = await client.call_tool("memory_add", {"text": "The office is in Bergen."})
        found = await client.call_tool("memory_search", {"query": "where do I live?"})
        assert (True, True, True) == (added.is_error, ".yiku-off" in added.content[0].text, "Oslo" in found.content[0].text)

    talk(opened, scenario)
    assert 1 == len(memory.get_all())


@pytest.mark.long
def test_the_server_takes_at_most_130_mb(memory, home):
    """A process that has opened its home, stored and searched stays small; the model of the local extra comes on top."""
    for number in range(300):
        memory.record_turn("user", f"Room {number} of the house has {number} chairs, 它有{number}把椅子。", session="s")
    environment = {**os.environ, "YIKU_HOME": str(home)}
    calls = [
        ("memory_add", {"text": "The office is in Bergen."}),
        ("memory_search", {"query": "chairs", "turns": True}),
        ("memory_status", {}),
    ]
    lines = [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    for number, (name, given) in enumerate(calls, 2):
        lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": given}})
    with subprocess.Popen(
        [YIKU, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as running:
        running.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        running.stdin.flush()
        answers = [json.loads(running.stdout.readline()) for _ in range(4)]
        status = Path(f"/proc/{running.pid}/status")  # Linux says the peak there
        peak_kb = int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii"))[1]) if status.exists() else 0
        running.stdin.close()
        running.wait()

    assert {1, 2, 3, 4} == {answer["id"] for answer in answers}
    assert peak_kb <= 130 * 1024


def test_a_home_that_does_not_open_is_an_answer(home):
    """A damaged home does not keep the server from serving: each call says what is wrong; once it is mended, calls work."""
    Memory(home).close()
    database = next(home.glob("*.db"))
    whole = database.read_bytes()
    database.write_bytes(b"not a database" * 1_000)
    place = OpenHome(str(home), None)

    async def scenario(client: Client) -> None:
        broken = await client.call_tool("memory_search", {"query": "x"})
        database.write_bytes(whole)
        mended = await client.call_tool("memory_status", {})
        assert (True, True, False) == (broken.is_error, "yiku" in broken.content[0].text, mended.is_error)

    talk(server.make(place, Tools()), scenario)
    place.close()


def test_resources_are_read(opened, memory):
    """The index, an item and a note are text, fenced; what is not there is a wrong parameter."""
    memory.remember("I live in Oslo.")
    id = memory.get_all()[0].id

    async def scenario(client: Client) -> None:
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        index = await client.read_resource("memory://index")
        item = await client.read_resource(f"memory://item/{id}")
        assert ["memory://index"] == [str(one.uri) for one in listed.resources]
        assert ["memory://item/{id}", "memory://note/{path}"] == [one.uri_template for one in templates.resource_templates]
        assert "memories: 1" in index.contents[0].text
        assert "<yiku-memory seal=" in item.contents[0].text
        for uri in (
            "memory://item/ffffffff",
            "memory://note/..%2F..%2Fetc%2Fpasswd",
            "memory://note/../store.db",
            "memory://x",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError) as error:
                await client.read_resource(uri)
            assert -32602 == error.value.code, uri

    talk(opened, scenario)


def test_prompts_are_filled(opened):
    """Three prompts, each with its argument in it; one that lacks it, or that nobody knows, is a wrong parameter."""

    async def scenario(client: Client) -> None:
        listed = await client.list_prompts()
        filled = await client.get_prompt("recall", {"topic": "the port of {} staging"})
        assert ["recall", "remember", "review"] == [prompt.name for prompt in listed.prompts]
        assert "the port of {} staging" in filled.messages[0].content.text
        for name, given in (("recall", {}), ("forget", {"topic": "x"})):
            with pytest.raises(MCPError) as error:
                await client.get_prompt(name, given)
            assert -32602 == error.value.code

    talk(opened, scenario)


def test_lists_are_the_same_for_every_client_and_say_how_long(opened):
    """The same bytes each time, private to the user, and fresh for an hour; what is read is never kept."""

    async def scenario(client: Client) -> None:
        first, second = [await client.list_tools() for _ in range(2)]
        assert first.model_dump_json() == second.model_dump_json()
        assert (3_600_000, "private") == (first.ttl_ms, first.cache_scope)
        index = await client.read_resource("memory://index")
        assert (0, "private") == (index.ttl_ms, index.cache_scope)

    talk(opened, scenario)
