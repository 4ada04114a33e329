"""A stand-in of the Messages API on loopback: says what a script says, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CUT = b"cut"  # a reply that ends in the middle


@dataclass
class StandIn:
    """`script` holds, for each request, the content blocks of a reply, or (status, error type), or CUT; or a function
    of the request's body that returns one of these, request after request, until it returns None.

    `asked` are the bodies of the requests. The last entry of the script is repeated.
    """

    script: Sequence[Any]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    _place: int = 0

    def reply(self, body: dict[str, Any]) -> Any:
        """What the script says to this request."""
        self.asked.append(body)
        while True:
            entry = self.script[min(self._place, len(self.script) - 1)]
            if not callable(entry):
                self._place += 1
                return entry
            if (made := entry(body)) is not None:
                return made
            self._place += 1

    def results(self, turn: int) -> list[dict[str, Any]]:
        """The tool results that the request number `turn` brought as its last message."""
        content = self.asked[turn]["messages"][-1]["content"]
        return [block for block in content if block["type"] == "tool_result"]

    def text(self, turn: int) -> str:
        """All text of those results."""
        return "\n".join(_text(block["content"]) for block in self.results(turn))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A content block: the model calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{abs(hash((name, repr(arguments)))):x}", "name": name, "input": arguments}


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@contextmanager
def stand_in(*script: Any) -> Iterator[StandIn]:
    """Serves while the block runs."""
    state = StandIn(script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = state.reply(body)
            if isinstance(reply, tuple):
                status, kind = reply
                self._send(status, {"type": "error", "error": {"type": kind, "message": f"stand-in says {kind}"}})
            elif reply is CUT:
                self._send(200, _message([say("this is cut")]), cut=40)
            else:
                message = reply if isinstance(reply, dict) else _message(reply)
                self._stream(message) if body.get("stream") else self._send(200, message)

        def _stream(self, message: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in _events(message):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.close_connection = True

        def _send(self, status: int, plain: Any, cut: int = 0) -> None:
            raw = json.dumps(plain).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("retry-after-ms", "1")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw[:-cut] if cut else raw)
            self.close_connection = True

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


def _message(content: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": "msg_stand_in",
        "type": "message",
        "role": "assistant",
        "model": "stand-in",
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1_000, "output_tokens": 100},
        **more,
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same message as the API streams it: each block begun empty, filled by one delta, ended."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        told = block["type"] == "text"
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if told
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        begun = {**block, "text": ""} if told else {**block, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}


def refusal() -> dict[str, Any]:
    """The model declines."""
    return _message([], stop_reason="refusal")
