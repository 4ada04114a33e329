"""The user's command from its start to the end of the last process that it left."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from typing import Any

from trainsleuth.launcher import processes
from trainsleuth.launcher.census import Census
from trainsleuth.launcher.output import Output
from trainsleuth.launcher.wire import tell

CHUNK = 1 << 18
GRACE = 0.3  # seconds between SIGTERM and SIGKILL, and for children to end after their parent
AFTER_FINISH = 6.0  # seconds that the rest has once a process ended on purpose at its step budget
KILL_TIME = 5.0  # seconds after which a process that SIGKILL does not end is given up on


class Watch:
    """The command while it runs. `code` is its exit code, negative for a signal, None until it is known."""

    def __init__(self, job: dict[str, Any], unheard: bytes) -> None:
        self.job = job
        self.output = Output(job["output_bytes"])
        self.census = Census(job["folder"], job["memory_bytes"])
        self.code: int | None = None
        self.seconds = 0.0
        self._stop = ""
        self._heard_bytes = 0
        self._hear(unheard)

    def start(self) -> None:
        """Start the command in a session of its own, its output in our pipe. Raises OSError."""
        read, write = os.pipe()
        wake, waker = os.pipe()
        for descriptor in (read, wake, waker, 0):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self._hear(b"cancel"))
        self.selector = selectors.DefaultSelector()
        for descriptor, hear in ((read, self._on_output), (wake, self._on_wake), (0, self._on_word)):
            self.selector.register(descriptor, selectors.EVENT_READ, hear)
        self.began = time.monotonic()
        try:
            self.process = subprocess.Popen(
                self.job["command"],
                cwd=self.job["cwd"],
                env=self.job["environment"],
                stdin=subprocess.DEVNULL,
                stdout=write,
                stderr=write,
                start_new_session=True,
            )
        finally:
            os.close(write)
        tell("started", pid=self.process.pid)

    def until_over(self) -> str:
        """Why it is over: exited, finished, timeout, out_of_memory, cancelled or orphaned."""
        next_word = 0.0
        while True:
            self._turn(0.1)
            now = time.monotonic()
            self.seconds = round(now - self.began, 3)
            if self.code is not None:
                return "exited"
            if self._stop:
                return self._stop
            if self.seconds > self.job["seconds"]:
                return "timeout"
            if now > self.census.finished_at + AFTER_FINISH:
                return "finished"
            if now >= self.census.next_look and self.census.look():
                return "out_of_memory"
            if now >= next_word:
                next_word = now + 1.0
                tell("alive", seconds=self.seconds, line=self.output.last_line())

    def end(self, how: str) -> list[list[str]]:
        """End whatever still runs; return the command lines of what outlived the command."""
        outlived: list[list[str]] = []
        if how == "exited":
            self._wait_for_none(GRACE)
            outlived = [processes.arguments(process.pid) for process in self._tree()]
        if how != "orphaned":
            self._signal(signal.SIGTERM)
            self._wait_for_none(GRACE)
        self._signal(signal.SIGKILL)
        until = time.monotonic() + KILL_TIME
        while self._tree() and time.monotonic() < until:
            self._signal(signal.SIGKILL)
            self._turn(0.005)
        while self._turn(0.0):  # what is still in the pipe
            continue
        return [line for line in outlived if line]

    def _turn(self, seconds: float) -> bool:
        """Wait for news and take it; True when there was output."""
        before = self._heard_bytes
        for key, _ in self.selector.select(seconds):
            key.data(key.fd)
        self._reap()
        return self._heard_bytes > before

    def _on_output(self, descriptor: int) -> None:
        chunk = os.read(descriptor, CHUNK)
        if not chunk:
            self.selector.unregister(descriptor)
        self._heard_bytes += len(chunk)
        self.output.feed(chunk)

    def _on_wake(self, descriptor: int) -> None:
        os.read(descriptor, 4096)

    def _on_word(self, descriptor: int) -> None:
        word = os.read(descriptor, 4096)
        if not word:
            self.selector.unregister(descriptor)
            self._stop = "orphaned"
        self._hear(word)

    def _hear(self, word: bytes) -> None:
        if b"cancel" in word:
            self._stop = self._stop or "cancelled"

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self.process.pid:
                    self.code = self.process.returncode = os.waitstatus_to_exitcode(status)

    def _tree(self) -> list[processes.Process]:
        return processes.descendants(os.getpid())

    def _signal(self, number: signal.Signals) -> None:
        if processes.is_supported():
            processes.send(self._tree(), number)
        else:
            with suppress(OSError):
                os.killpg(self.process.pid, number)

    def _wait_for_none(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._is_alive() and time.monotonic() < until:
            self._turn(0.01)

    def _is_alive(self) -> bool:
        return bool(self._tree()) if processes.is_supported() else self.code is None
