"""Our end of the supervisor: hand it a job, hear how it went, and be sure that all is over."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from trainsleuth.launcher import processes

Report = dict[str, Any]

_START = "import sys; sys.path.append(sys.argv[1]); from trainsleuth.launcher.supervisor import main; main()"
_PACKAGE_FOLDER = str(Path(__file__).resolve().parents[2])
_PATIENCE = 15.0  # seconds past its own limits after which a supervisor counts as stuck


def supervise(
    job: Mapping[str, Any], cancelled: Callable[[], bool], progress: Callable[[str], None]
) -> tuple[Report, int | None]:
    """(last report, pid of the command). The report's kind is "unable", "refused", "ended" or "lost"."""
    last: Report = {"kind": "lost"}
    pid = None
    asked_to_stop = False
    with _supervisor(job) as process:
        give_up = time.monotonic() + job["seconds"] + _PATIENCE
        for report in _reports(process):
            if report is None:
                if not asked_to_stop and cancelled():
                    asked_to_stop = True
                    _send(process, b"cancel\n")
                if time.monotonic() > give_up:
                    break
                continue
            if report["kind"] == "started":
                pid = report["pid"]
            elif report["kind"] == "alive":
                progress(f"{report['seconds']:.0f} s of {job['seconds']:.0f} s: {report['line']}".rstrip(": "))
            else:
                last = report
    if last["kind"] == "lost":
        last["code"] = process.returncode
        _sweep(job["folder"])
    return last, pid


@contextmanager
def _supervisor(job: Mapping[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    with open(os.path.join(job["folder"], "supervisor.log"), "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, _PACKAGE_FOLDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            start_new_session=True,
        )
    try:
        _send(process, json.dumps(job).encode() + b"\n")
        yield process
    finally:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()  # the lifeline: with it goes everything that still runs
        try:
            process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    rest = memoryview(data)
    with suppress(BrokenPipeError):  # it is over already, and says so on the other pipe
        while rest:
            rest = rest[process.stdin.write(rest) :]


def _reports(process: subprocess.Popen[bytes]) -> Iterator[Report | None]:
    """What the supervisor says, and None about ten times a second in between."""
    assert process.stdout is not None
    unfinished = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            yield None
            if not selector.select(0.1):
                continue
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                return
            *lines, unfinished = (unfinished + chunk).split(b"\n")
            yield from map(json.loads, lines)


def _sweep(folder: str) -> None:
    """Kill what a dead supervisor left: it bears the run folder in its environment."""
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        left = [process for process in processes.marked(folder) if not process.is_zombie]
        if not left:
            return
        for process in left:
            with suppress(OSError):
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.02)
