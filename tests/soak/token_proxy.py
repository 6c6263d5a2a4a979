"""A proxy on loopback that adds the token to each request, for clients that cannot send one."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator

HEAD_BYTES = 1 << 16


@contextlib.contextmanager
def token_proxy(server: int, token: str) -> Iterator[int]:
    """The port of a proxy for the server at a port; who names the proxy as Host or Origin names the server behind it."""
    ready: list[int] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = []
    started = threading.Event()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(HEAD_BYTES):
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        kept = []
        for line in head.decode("latin-1").split("\r\n")[:-2]:
            name = line.partition(":")[0].lower()
            if name != "connection":
                kept.append(line.replace(f":{ready[0]}", f":{server}") if name in ("host", "origin") else line)
        theirs, ours = await asyncio.open_connection("127.0.0.1", server)
        kept += ["Connection: close", f"Authorization: Bearer {token}"]
        ours.write(("\r\n".join(kept) + "\r\n\r\n").encode("latin-1"))
        await asyncio.gather(pass_on(reader, ours), pass_on(theirs, writer))

    async def run() -> None:
        listening = await asyncio.start_server(serve, "127.0.0.1", 0, limit=HEAD_BYTES)
        ready.append(listening.sockets[0].getsockname()[1])
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        started.set()
        async with listening:
            await listening.serve_forever()

    def work() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(run())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield ready[0]
    finally:
        (loop, task) = running[0]
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)
