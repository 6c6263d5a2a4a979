"""A real HTTP server that embeds texts as an OpenAI-compatible endpoint does, and tells what it was sent."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from embedders import Hashed


class Endpoint:
    """What the server was asked, and whether it answers."""

    def __init__(self) -> None:
        self.model = Hashed(known={"groundnut": "peanuts"})
        self.asked: list[tuple[list[str], str]] = []
        self.broken = False
        self.url = ""

    def texts(self) -> list[str]:
        return [text for texts, _ in self.asked for text in texts]

    def sent_keys(self) -> list[str]:
        return [key for _, key in self.asked]

    def clear(self) -> None:
        self.asked.clear()


@contextmanager
def running() -> Iterator[Endpoint]:
    """Serve until the block ends."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.asked.append((asked["input"], self.headers.get("Authorization", "")))
            vectors = endpoint.model.embed(asked["input"], "passage").tolist()
            rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
            body = json.dumps({"error": "down"} if endpoint.broken else {"data": rows}).encode()
            self.send_response(401 if endpoint.broken else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
