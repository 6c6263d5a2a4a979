"""
A real local HTTP server that answers as a test tells it: right, late, wrong, cut off.

Its vectors depend on the text alone, so whoever mixes up texts and vectors is found out.
"""

import base64
import hashlib
import json
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 8


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """What the server's model says of a text; not of unit length."""
    return [byte / 50 - 2.5 for byte in hashlib.sha256(text.encode()).digest()[:dimensions]]


def rows(texts: list[str], dimensions: int = DIMENSIONS) -> list[dict[str, Any]]:
    return [
        {"object": "embedding", "index": n, "embedding": vector(text, dimensions or DIMENSIONS)} for n, text in enumerate(texts)
    ]


@dataclass
class Answer:
    """One answer: by default the right one."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Callable[[dict[str, Any]], Any] = lambda asked: {"data": rows(asked["input"], asked.get("dimensions", 0))}
    delay_s: float = 0.0
    cut_at: int | None = None  # bytes of the body that are sent before the line goes dead
    drip_s: float = 0.0  # between two bytes of the body


def error(status: int, message: str = "no", **headers: str) -> Answer:
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, lambda _: {"error": message})


def raw(content: bytes) -> Answer:
    """A body that is sent as it is."""
    return Answer(body=lambda _: content)


def in_base64(asked: dict[str, Any]) -> Any:
    found = rows(asked["input"])
    for row in found:
        row["embedding"] = base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *row["embedding"])).decode()
    return {"data": found}


def says(content: Any, *, finish: str | None = "stop", usage: Any = None, **message: Any) -> Answer:
    """A chat model's reply."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return Answer(body=lambda _: {"object": "chat.completion", "choices": [choice], "usage": usage})


def ranked(scores: list[float] | Callable[[str], float]) -> Answer:
    """A reranker's answer: scores in the order of the documents, or by their text; the best first, as all send it."""

    def body(asked: dict[str, Any]) -> Any:
        given = scores if isinstance(scores, list) else [scores(text) for text in asked["documents"]]
        rows = [{"index": n, "relevance_score": score} for n, score in enumerate(given)]
        return {"model": asked["model"], "results": sorted(rows, key=lambda row: -row["relevance_score"])}

    return Answer(body=body)


class Server:
    """What it was asked, and what it answers next; when nothing is left to say, rightly."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.next: list[Answer] = []
        self.always: Callable[[dict[str, Any]], Answer] = lambda asked: Answer()
        self.url = ""

    def answer(self, asked: dict[str, Any]) -> Answer:
        return self.next.pop(0) if self.next else self.always(asked)


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a free port of 127.0.0.1, until the block ends."""
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(asked)
            server.headers.append(dict(self.headers))
            server.paths.append(self.path)
            answer = server.answer(asked)
            time.sleep(answer.delay_s)
            body = answer.body(asked)
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if answer.drip_s:
                for byte in content:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(answer.drip_s)
            else:
                self.wfile.write(content[: answer.cut_at])

        def do_GET(self) -> None:  # a redirect that is followed would arrive here
            server.asked.append({"method": "GET"})
            self.send_error(404)

        def log_message(self, *_: object) -> None: ...

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None: ...  # a client that hangs up is what some tests are about

    with Quiet(("127.0.0.1", 0), Handler) as http:
        server.url = f"http://127.0.0.1:{http.server_port}/v1"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
