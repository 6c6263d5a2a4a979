"""
A model on loopback for real coding agents: speaks the APIs that they speak, and says what a script says.

    Anthropic messages    POST /v1/messages                                     Claude Code
    OpenAI responses      POST /v1/responses                                    Codex
    Gemini                POST /v1beta/models/…:generateContent                 Gemini CLI
    OpenAI chat           POST /v1/chat/completions                             OpenCode

Where the agent offers a tool whose name ends in `memory_search`, and the conversation has no result of it yet, the first answer
calls it; the next one is a text. Every request is kept, so that a test can look at what reached the model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REPLY = "Noted: the walrus is grey. 海象是灰色的。"
TOOL = "memory_search"
WAIT = "WaitForMcpServers"  # what Claude Code offers while a server is starting
USAGE = {"input_tokens": 10, "output_tokens": 5}


class FakeModel(ThreadingHTTPServer):
    """The server; `requests` are path and body of each, in order."""

    daemon_threads = True

    def __init__(self, query: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.query = query
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> FakeModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: FakeModel
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send("text/plain", b"")

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = self.path.partition("?")[0]
        self.server.requests.append((self.path, body))
        if path.endswith("/count_tokens"):
            self._json({"input_tokens": 10})
        elif path.endswith(":countTokens"):
            self._json({"totalTokens": 10})
        elif path.endswith("/messages"):
            self._anthropic(body)
        elif path.endswith("/responses"):
            self._events(_responses(body, self.server.query))
        elif "generateContent" in path.lower() or "GenerateContent" in path:
            self._gemini(body, stream="stream" in path)
        elif path.endswith("/chat/completions"):
            self._chat(body)
        else:
            self._json({})

    # -------------------------------------------------------------- the four APIs

    def _anthropic(self, body: dict[str, Any]) -> None:
        names = [tool.get("name") for tool in body.get("tools") or []]
        tool, before = _named(iter(names)), json.dumps(body.get("messages"))
        block: dict[str, Any] = {"type": "text", "text": REPLY}
        if tool and f'"name": "{tool}"' not in before:
            block = {"type": "tool_use", "id": "toolu_2", "name": tool, "input": {"query": self.server.query}}
        elif not tool and WAIT in names and WAIT not in before:
            block = {"type": "tool_use", "id": "toolu_1", "name": WAIT, "input": {}}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": USAGE,
        }
        if not body.get("stream"):
            self._json(message)
            return
        self._events(_anthropic_events(message, block))

    def _gemini(self, body: dict[str, Any], *, stream: bool) -> None:
        declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
        tool = _named(one.get("name") for one in declared)
        called = '"functionResponse"' in json.dumps(body.get("contents"))
        wants_json = (body.get("generationConfig") or {}).get("responseMimeType") == "application/json"
        part: dict[str, Any] = {"text": REPLY}
        if wants_json:
            part = {
                "text": json.dumps({"reasoning": "simple", "model_choice": "flash", "complexity_score": 1, "next_speaker": "user"})
            }
        elif tool and not called:
            part = {"functionCall": {"name": tool, "args": {"query": self.server.query}}}
        answer = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        }
        if stream:
            self._send("text/event-stream", f"data: {json.dumps(answer)}\n\n".encode())
        else:
            self._json(answer)

    def _chat(self, body: dict[str, Any]) -> None:
        tool = _named((one.get("function") or {}).get("name") for one in body.get("tools") or [])
        called = any(message.get("role") == "tool" for message in body.get("messages") or [])
        delta: dict[str, Any] = {"role": "assistant", "content": REPLY}
        if tool and not called:
            function = {"name": tool, "arguments": json.dumps({"query": self.server.query})}
            delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
        end = "tool_calls" if "tool_calls" in delta else "stop"
        head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
        if not body.get("stream"):
            choice = {"index": 0, "message": delta, "finish_reason": end}
            self._json({**head, "object": "chat.completion", "choices": [choice]})
            return
        chunks = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {
                **head,
                "choices": [{"index": 0, "delta": {}, "finish_reason": end}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
            },
        ]
        lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        self._send("text/event-stream", f"{lines}data: [DONE]\n\n".encode())

    # -------------------------------------------------------------- sent

    def _json(self, value: Any) -> None:
        self._send("application/json", json.dumps(value).encode())

    def _events(self, events: Iterator[dict[str, Any]]) -> None:
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send("text/event-stream", text.encode())

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _named(names: Iterator[Any]) -> str | None:
    return next((name for name in names if isinstance(name, str) and name.endswith(TOOL)), None)


def _anthropic_events(message: dict[str, Any], block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": block["text"]}}
    else:
        yield {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": USAGE}
    yield {"type": "message_stop"}


def _responses(body: dict[str, Any], query: str) -> Iterator[dict[str, Any]]:
    found = None
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            inner = _named(one.get("name") for one in tool.get("tools") or [])
            found = found or ((inner, tool.get("name")) if inner else None)
        elif (name := _named([tool.get("name")])) is not None:
            found = found or (name, None)
    called = '"function_call_output"' in json.dumps(body.get("input"))
    item: dict[str, Any]
    if found and not called:
        item = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": found[0],
            "arguments": json.dumps({"query": query}),
        }
        item |= {"namespace": found[1]} if found[1] else {}
    else:
        content = [{"type": "output_text", "text": REPLY, "annotations": []}]
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    usage = {
        "input_tokens": 10,
        "input_tokens_details": None,
        "output_tokens": 5,
        "output_tokens_details": None,
        "total_tokens": 15,
    }
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}
