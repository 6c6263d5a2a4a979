"""The MCP server over HTTP: clients with the token get in, common attacks are refused."""

import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.interfaces.mcp import guard
from yiku.interfaces.mcp import http as over_http

YIKU = Path(sys.executable).with_name("yiku")
PROTOCOL = "2025-11-25"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


class Served(NamedTuple):
    """A server: its port and token, and that of another scope of the same home."""

    port: int
    token: str
    other: str


class Answer(NamedTuple):
    """An answer: its status, headers and body."""

    status: int
    headers: dict[str, str]
    body: bytes


@pytest.fixture(scope="module")
def served(blank, tmp_path_factory) -> Iterator[Served]:
    """A real process that serves a home with one memory."""
    folder = tmp_path_factory.mktemp("served")
    home = folder / "home"
    shutil.copytree(blank, home)
    with Memory(home) as memory:
        memory.remember("The canary sings at dawn.")
        token = memory.agent.token()
    with Memory(home, scope="user:ann") as ann:
        other = ann.agent.token()
    environment = {"PATH": f"{YIKU.parent}:/usr/bin:/bin", "HOME": str(folder), "YIKU_HOME": str(home)}
    command = [YIKU, "mcp", "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as running:
        address = next(found for line in running.stderr if (found := re.search(r"http://127\.0\.0\.1:(\d+)/mcp", line)))
        yield Served(int(address[1]), token, other)
        running.terminate()
        assert "canary" not in running.stderr.read()
        assert "" == running.stdout.read()


def headers(served: Served, **more: str | None) -> dict[str, str]:
    """The headers of a client that may come in, with some changed or left out."""
    usual = {
        "Host": f"127.0.0.1:{served.port}",
        "Authorization": f"Bearer {served.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    changed = {name.replace("_", "-"): value for name, value in more.items()}
    return {name: value for name, value in (usual | changed).items() if value is not None}


def ask(served: Served, body: Any = INITIALIZE, method: str = "POST", path: str = "/mcp", **more: str | None) -> Answer:
    """Send one request, exactly so, and read the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    content = body if isinstance(body, bytes | Iterator) or body is None else json.dumps(body).encode()
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    given = headers(served, **more)
    if isinstance(content, bytes) and "Content-Length" not in given:
        given["Content-Length"] = str(len(content))
    if isinstance(content, Iterator):
        given["Transfer-Encoding"] = "chunked"
    for name, value in given.items():
        connection.putheader(name, value)
    with suppress(BrokenPipeError, ConnectionResetError):  # it has heard enough, and may have said so
        connection.endheaders(content, encode_chunked=isinstance(content, Iterator))
    answer = connection.getresponse()
    said = b""
    with suppress(ConnectionResetError):  # who is refused unread is cut off: of the answer what came before that counts
        said = answer.read(65_536)
    connection.close()
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, said)


@asynccontextmanager
async def connected(served: Served, mode: str) -> AsyncIterator[Client]:
    """The SDK's client, with the token."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {served.token}"}, timeout=60) as sender:
        transport = streamable_http_client(f"http://127.0.0.1:{served.port}/mcp", http_client=sender)
        async with Client(transport, mode=mode) as client:
            yield client


def alive(served: Served) -> bool:
    """Whether an honest client is still served."""
    return ask(served).status == 200


# ------------------------------------------------------------------ who may


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_with_the_token_is_served(served, mode):
    """The SDK's client of both versions of the protocol finds what is known."""

    async def run() -> None:
        with anyio.fail_after(60):
            async with connected(served, mode) as client:
                found = await client.call_tool("memory_search", {"query": "what does the canary do?"})
                assert "sings at dawn" in found.content[0].text

    anyio.run(run)


def test_several_clients_are_served_at_once(served):
    """Eight clients, each with its own questions, all get their answers."""

    async def one(number: int) -> None:
        async with connected(served, "legacy" if number % 2 else "auto") as client:
            for _ in range(3):
                found = await client.call_tool("memory_search", {"query": "what does the canary do?"})
                assert "sings at dawn" in found.content[0].text

    async def run() -> None:
        with anyio.fail_after(100):
            async with anyio.create_task_group() as group:
                for number in range(8):
                    group.start_soon(one, number)

    anyio.run(run)


# ------------------------------------------------------------------ who may not

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
LONG = b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"x" * guard.BODY_BYTES + b'"}'


def chunks(body: bytes) -> Iterator[bytes]:
    yield from (body[start : start + 65_536] for start in range(0, len(body), 65_536))


ATTACKS: dict[str, tuple[set[int], dict[str, Any]]] = {
    "a name that was rebound to this machine": ({421}, {"Host": "memory.attacker.example:80"}),
    "this machine's name with another port": ({421}, {"Host": "127.0.0.1:1"}),
    "a name that begins as ours": ({421}, {"Host": "localhost.attacker.example"}),
    "no host": ({400, 421}, {"Host": None}),
    "a page of another site": ({403}, {"Origin": "https://attacker.example"}),
    "a page without an origin": ({403}, {"Origin": "null"}),
    "a site that is called as we are": ({403}, {"Origin": "http://localhost.attacker.example"}),
    "a page of another port": ({403}, {"Origin": "http://localhost:1"}),
    "a browser that says it is another site's": ({403}, {"Sec_Fetch_Site": "cross-site"}),
    "no token": ({401}, {"Authorization": None}),
    "a wrong token": ({401}, {"Authorization": f"Bearer {'0' * 32}"}),
    "a token as a password": ({401}, {"Authorization": "Basic dXNlcjpwYXNz"}),
    "a token in the address": ({400, 401, 404}, {"path": "/mcp?token=TOKEN", "Authorization": None}),
    "a body that says it is too large": ({413}, {"Content_Length": str(64 * 1024 * 1024)}),
    "a body that is too large": ({413}, {"body": LONG}),
    "a length that is no number": ({400}, {"Content_Length": "-1"}),
    "plain text, as a form of a page sends it": ({415}, {"Content_Type": "text/plain"}),
    "a form": ({415}, {"Content_Type": "multipart/form-data; boundary=x"}),
    "no content type": ({415}, {"Content_Type": None}),
    "another character set": ({415}, {"Content_Type": "application/json; charset=utf-7"}),
    "a compressed body": ({415}, {"Content_Encoding": "gzip"}),
    "a path out of the folder": ({404}, {"path": "/mcp/../../etc/passwd"}),
    "an encoded path": ({404}, {"path": "/%6dcp"}),
    "another path": ({404}, {"path": "/.well-known/openid-configuration"}),
    "a preflight": ({405}, {"method": "OPTIONS", "body": None, "Access_Control_Request_Method": "POST"}),
    "a method that is none of ours": ({405}, {"method": "PUT"}),
    "a trace": ({405}, {"method": "TRACE", "body": None}),
    "a stream without a session": ({400, 406, 404}, {"method": "GET", "body": None}),
    "the end of a session that nobody has": ({400, 404}, {"method": "DELETE", "body": None, "Mcp_Session_Id": "0" * 32}),
    "a batch": ({400}, {"body": [INITIALIZE] * 1_000}),
    "an empty batch": ({400}, {"body": []}),
    "JSON that is too deep": ({400}, {"body": DEEP}),
    "lists that never close": ({400}, {"body": b"[" * 500_000}),
    "a number with a million digits": ({400}, {"body": b'{"id":' + b"9" * 1_000_000 + b"}"}),
    "no JSON": ({400}, {"body": b"{"}),
    "no UTF-8": ({400}, {"body": b'{"a": "\xff\xfe"}'}),
    "a session of somebody else": (
        {404},
        {"Mcp_Session_Id": "a" * 32, "body": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
    ),
    "a session id that is a path": ({400}, {"Mcp_Session_Id": "../../etc/passwd"}),
    "a session id that is too long": ({400}, {"Mcp_Session_Id": "a" * 1_000}),
    "a protocol that is not known": (
        {400},
        {"MCP_Protocol_Version": "1999-01-01", "body": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
    ),
    "a header that is too large": ({400, 431}, {"X_Large": "x" * 100_000}),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused(served, attack):
    """The status says why, no header lets a browser read it, and nothing of memory is in it."""
    expected, how = ATTACKS[attack]
    how = {name: value.replace("TOKEN", served.token) if isinstance(value, str) else value for name, value in how.items()}
    answer = ask(served, **how)

    assert answer.status in expected, answer
    assert [] == [name for name in answer.headers if name.startswith("access-control")]
    assert b"canary" not in answer.body


def test_a_body_in_pieces_is_counted(served):
    """A body without a length is read no further than the limit."""
    assert 413 == ask(served, chunks(LONG * 4)).status
    assert alive(served)


def test_many_headers_are_refused(served):
    """Hundreds of headers are not stored."""
    assert 431 == ask(served, **{f"X_{number}": "x" for number in range(200)}).status


def test_a_doubled_header_is_refused(served):
    """Two hosts, or two tokens of which one is right: who counts which, is no question."""
    for name, value, status in (("Host", "attacker.example", 400), ("Authorization", "Bearer x", 401)):
        lines = [f"{key}: {given}" for key, given in headers(served, Content_Length="2").items()]
        request = "\r\n".join(["POST /mcp HTTP/1.1", f"{name}: {value}", *lines, "", "{}"])
        with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
            raw.sendall(request.encode())
            assert int(raw.recv(100).split()[1]) in (status, 421)


def test_the_token_of_another_scope_opens_nothing(served):
    """Each scope of a home has its own token."""
    assert served.token != served.other
    assert 401 == ask(served, Authorization=f"Bearer {served.other}").status


def test_a_session_is_named_by_the_server(served):
    """A client cannot choose the name of its session: another client could know it."""
    fixed = ask(served, Mcp_Session_Id="f" * 32)
    own = ask(served)

    assert (404, 200) == (fixed.status, own.status)
    assert len(own.headers["mcp-session-id"]) >= 32
    assert own.headers["mcp-session-id"] != ask(served).headers["mcp-session-id"]


def test_a_session_needs_the_token_each_time(served):
    """To know the name of a session is not enough."""
    session = ask(served).headers["mcp-session-id"]
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    assert 401 == ask(served, body, Mcp_Session_Id=session, Authorization=None).status
    assert 401 == ask(served, None, "DELETE", Mcp_Session_Id=session, Authorization=None).status
    assert 401 == ask(served, None, "GET", Mcp_Session_Id=session, Authorization=None).status


def test_the_address_is_this_machines_alone(served):
    """It listens on loopback, and another address is refused."""
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), served.port, type=socket.SOCK_STREAM)}
    for address in addresses - {"127.0.0.1", "127.0.1.1", "::1"}:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address, served.port), timeout=5).close()
    for host in ("0.0.0.0", "::", "192.0.2.1", "attacker.example", ""):
        with pytest.raises(InvalidInput):
            over_http.bind(host, 0)


def test_it_is_still_alive(served):
    """After all of this an honest client is served."""
    assert alive(served)


# ------------------------------------------------------------------ what takes time


FOREIGN = {
    421: [("host", "memory.attacker.example:1"), ("host", "127.0.0.1:2"), ("host", "localhost.attacker.example:1")],
    403: [
        ("origin", "https://attacker.example"),
        ("origin", "null"),
        ("origin", "http://localhost:2"),
        ("sec-fetch-site", "cross-site"),
    ],
    401: [("authorization", "Bearer wrong"), ("authorization", "Basic t"), ("authorization", "")],
}


@pytest.mark.parametrize(("status", "name", "value"), [(status, *one) for status, some in FOREIGN.items() for one in some])
def test_our_own_checks_refuse_alone(status, name, value):
    """What the SDK checks, too, is refused before it is asked; without the one header the same request is let in."""
    asked: list[str] = []
    sent: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["path"])

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    usual = {"host": "127.0.0.1:1", "authorization": "Bearer t", "content-type": "application/json"}
    for given in (usual, usual | {name: value}):
        named = [(key.encode(), text.encode()) for key, text in given.items()]
        scope = {"type": "http", "path": "/mcp", "raw_path": b"/mcp", "method": "POST", "headers": named, "query_string": b""}
        anyio.run(guard.Guard(application, token="t", port=1), scope, receive, send)

    assert ["/mcp"] == asked
    assert [status] == [message["status"] for message in sent if message["type"] == "http.response.start"]


def test_a_body_that_never_ends_is_given_up():
    """Who sends a byte now and then does not hold a place for ever; who goes away is not waited for."""
    sent: list[dict[str, Any]] = []

    async def never(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("the application was asked")

    async def send(message: Any) -> None:
        sent.append(message)

    async def slowly() -> Any:
        await anyio.sleep_forever()

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    names = [(b"host", b"127.0.0.1:1"), (b"authorization", b"Bearer t"), (b"content-type", b"application/json")]
    scope = {"type": "http", "path": "/mcp", "raw_path": b"/mcp", "method": "POST", "headers": names, "query_string": b""}
    guarded = guard.Guard(never, token="t", port=1, body_s=0.01)
    anyio.run(guarded, scope, slowly, send)
    anyio.run(guarded, scope, gone, send)

    assert [408, 400] == [message["status"] for message in sent if message["type"] == "http.response.start"]


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b"[" * 32, False),
        (b"[" * 33, True),
        (b'"' + b"[" * 100 + b'"', False),
        (b'"\\"' + b"[" * 100 + b'"', False),
        (b"[]" * 1_000, False),
        (b'{"a":[' * 17, True),
    ],
)
def test_depth_is_counted_outside_of_texts(body, deep):
    """Brackets in a text are no depth, nor are lists beside each other."""
    assert deep is guard.too_deep(body)


# ------------------------------------------------------------------ the token


def test_the_token_is_printed_and_can_be_ones_own(home, tmp_path):
    """`yiku mcp --token` prints that of the scope; a file of one's own is taken if nobody else may read it."""
    environment = {"PATH": f"{YIKU.parent}:/usr/bin:/bin", "HOME": str(tmp_path), "YIKU_HOME": str(home)}
    Memory(home).close()

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([YIKU, "-q", *more], env=environment, capture_output=True, text=True, check=False)

    first, again, other = run("mcp", "--token"), run("mcp", "--token"), run("--scope", "user:ann", "mcp", "--token")
    assert re.fullmatch(r"[0-9a-f]{32}\n", first.stdout)
    assert first.stdout == again.stdout != other.stdout
    file = tmp_path / "token"
    file.write_text("k" * 40 + "\n", encoding="ascii")
    file.chmod(0o644)
    assert (2, True) == ((refused := run("mcp", "--token", "--token-file", str(file))).returncode, "chmod 600" in refused.stderr)
    file.chmod(0o600)
    assert "k" * 40 + "\n" == run("mcp", "--token", "--token-file", str(file)).stdout
    file.write_text("short", encoding="ascii")
    assert 2 == run("mcp", "--token", "--token-file", str(file)).returncode
    assert 2 == run("mcp", "--http", "--host", "0.0.0.0").returncode
