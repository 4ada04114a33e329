"""Endless output in bounded space: the head and the tail, progress bars as their last state."""

from __future__ import annotations

from collections import deque

LINE_BYTES = 2_000


class Output:
    """Feed it bytes; `text` has at most about `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._dropped = 0
        self._unfinished = b""

    def feed(self, chunk: bytes) -> None:
        data = self._unfinished + chunk
        end = data.rfind(b"\n") + 1
        self._unfinished = _last_state(data[end:])
        if end:
            self._keep(_tidy(data[:end]))

    def _keep(self, lines: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += lines[:room]
            lines = lines[room:]
        if lines:
            self._tail.append(lines)
            self._tail_bytes += len(lines)
        while self._tail_bytes - len(self._tail[0] if self._tail else b"") > self._half:
            gone = len(self._tail.popleft())
            self._tail_bytes -= gone
            self._dropped += gone

    def last_line(self) -> str:
        """The newest line that says something, for a word on progress."""
        recent = b"".join((*list(self._tail)[-1:], self._unfinished)) or bytes(self._head[-LINE_BYTES:])
        lines = recent.decode("utf-8", "replace").replace("\r", "\n").split("\n")
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")

    def text(self) -> str:
        """What was kept, and in the middle how much was not. Bytes that are not UTF-8 become U+FFFD."""
        tail = b"".join(self._tail) + _tidy(self._unfinished)
        dropped = self._dropped
        if len(tail) > self._half:
            dropped += len(tail) - self._half
            tail = tail[-self._half :]
        middle = f"\n[... {dropped:,} bytes of output not kept ...]\n".encode() if dropped else b""
        return (bytes(self._head) + middle + tail).decode("utf-8", "replace")


def _tidy(data: bytes) -> bytes:
    """Whole lines: what a carriage return overwrote is gone, and none is longer than `LINE_BYTES`."""
    lines = data.split(b"\n")
    if b"\r" in data:
        lines = [line.rstrip(b"\r").rpartition(b"\r")[2] for line in lines]
    if max(map(len, lines)) > LINE_BYTES:
        lines = [line if len(line) <= LINE_BYTES else line[:LINE_BYTES] + b" [line cut]" for line in lines]
    return b"\n".join(lines)


def _last_state(line: bytes) -> bytes:
    """An unfinished line, short enough to carry on; a carriage return at its end still has its work to do."""
    returns = len(line) - len(line.rstrip(b"\r"))
    shown = line.rstrip(b"\r").rpartition(b"\r")[2]
    return shown[: LINE_BYTES + 1] + b"\r" * min(returns, 1)
