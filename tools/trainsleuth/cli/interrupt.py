"""Ctrl-C and a kill, while the user's program runs: its whole tree ends first, then we do."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndedBySignalError(Exception):
    """A signal asked us to end; `number` is which."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextmanager
def cancellable() -> Iterator[Callable[[], bool]]:
    """Gives the question "was a signal received?". Raises EndedBySignalError at the end when one was.

    A second signal does not wait: the supervisor of the run sees our end and kills the tree.
    """
    received: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        if received:
            _end(number)
        received.append(number)

    before = {one: signal.signal(one, receive) for one in SIGNALS}
    try:
        yield lambda: bool(received)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    if received:
        raise EndedBySignalError(received[0])


def _end(number: int) -> NoReturn:
    raise SystemExit(128 + number)
