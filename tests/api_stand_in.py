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
    """`script` holds, for each request, the content blocks of a reply, or (status, error type), or CUT.

    `asked` are the bodies of the requests. The last entry of the script is repeated.
    """

    script: Sequence[Any]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

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
            reply = state.script[min(len(state.asked), len(state.script) - 1)]
            state.asked.append(body)
            if isinstance(reply, tuple):
                status, kind = reply
                self._send(status, {"type": "error", "error": {"type": kind, "message": f"stand-in says {kind}"}})
            elif reply is CUT:
                self._send(200, _message([say("this is cut")]), cut=40)
            else:
                self._send(200, reply if isinstance(reply, dict) else _message(reply))

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


def refusal() -> dict[str, Any]:
    """The model declines."""
    return _message([], stop_reason="refusal")
