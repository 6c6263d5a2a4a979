"""
Serve several MCP clients over streamable HTTP, on this machine only.

The address is a loopback one; guard.py says who may speak. Idle sessions end, and there are never more than SESSIONS.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

from yiku.errors import InvalidInput, YikuError
from yiku.interfaces.mcp import guard, server
from yiku.interfaces.mcp.home import OpenHome
from yiku.interfaces.tools import Tools

HOSTS = ("127.0.0.1", "::1")
CONNECTIONS = 64
SESSIONS = 64
IDLE_S = 1_800.0  # until a session of the former protocol is closed
HEADERS_S = 10.0  # until a connection that has sent no request is closed
ENDS_WITHIN_S = 2


class _Impatient(H11Protocol):
    """The protocol of uvicorn, closing a connection on which no request came in time: it holds a place of others."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(HEADERS_S, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises InvalidInput for another machine's address, YikuError where the port is taken."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        address = None
    if address is None or str(address) not in HOSTS:
        raise InvalidInput(f"the host must be 127.0.0.1 or ::1, not {host[:80]!r}: memory is not served to other machines")
    bound = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((str(address), port))
    except OSError as error:
        bound.close()
        raise YikuError(f"port {port} of {address} cannot be used: {error.strerror}; --port chooses another one") from error
    return bound


def serve(home: OpenHome, tools: Tools, bound: socket.socket, token: str, *, ready: Callable[[str], object]) -> None:
    """Serve until a signal ends it; `ready` is told the address."""
    host, port = bound.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        application(home, tools, token, port),
        http=_Impatient,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=guard.HEADER_BYTES,
        timeout_graceful_shutdown=ENDS_WITHIN_S,
    )
    bound.listen()  # who is told the address may connect at once
    ready(f"http://{name}:{port}{guard.PATH}")
    asyncio.run(uvicorn.Server(config).serve(sockets=[bound]))


def application(home: OpenHome, tools: Tools, token: str, port: int) -> guard.Guard:
    """Return the ASGI application, guarded."""
    hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    app = server.make(home, tools).streamable_http_app(
        streamable_http_path=guard.PATH,
        max_request_body_size=guard.BODY_BYTES,
        session_idle_timeout=IDLE_S,
        max_sessions=SESSIONS,
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts]),
    )
    return guard.Guard(app, token=token, port=port)
