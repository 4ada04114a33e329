"""Small programs run with the runtime inside, many in the time of one start: see runtime_host.py."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from training_python import TRAINING_PYTHON
from trainsleuth import probes
from trainsleuth.finding import Finding
from trainsleuth.launcher.environment import QUIET
from trainsleuth.trace import Trace

HERE = Path(__file__).parent
RUNTIME = HERE.parent / "tools" / "trainsleuth" / "runtime"

# what programs of ours need and an older torch, or an interpreter without the frameworks, has not
LACKS = re.compile(
    r"(ModuleNotFoundError|ImportError): .+|module 'torch\S*' has no attribute .+"
    r"|Currently, AutocastCPU only support Bfloat16|`fused=True` requires .+"
)


def first_ones(names: Iterable[str], count: int = 3) -> list[object]:
    """The others are among what takes longer (make twins)."""
    return [name if place < count else pytest.param(name, marks=pytest.mark.twins) for place, name in enumerate(names)]


def with_edits(text: str, edits: Iterable[tuple[str, str]]) -> str:
    """A program with one text after the other exchanged, each of which it must hold."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def failing(host: Host, folder: Path, text: str, probe: str, steps: int) -> list[Finding]:
    """What one probe accuses in a program that is observed for some steps; the program ends well, all hooks are there."""
    program = folder / "program.py"
    program.write_text(text)
    trace, ended = host.run(program, folder, {**probes.EXPERIMENTS["observe"], "steps": steps})
    assert ended["code"] == 0 and not trace.hooks_missing, (ended, trace.hooks_missing)
    told = list(probes.judge("observe", trace, frozenset({probe})))
    assert told
    return [one for one in told if one.outcome == "fail"]


class Host:
    """One process that has imported torch and forks for every program."""

    def __init__(self) -> None:
        command = [TRAINING_PYTHON, str(HERE / "runtime_host.py"), str(RUNTIME)]
        environment = {**os.environ, **QUIET, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(
        self, program: Path, folder: Path, experiment: dict[str, Any], run_folder: Path | None = None, **variables: str
    ) -> tuple[Trace, dict[str, Any]]:
        """What one program told, and how it ended. Its events and files lie in `folder`; it alone gets `variables`."""
        events = folder / f"{program.stem}.jsonl"
        order = {
            "program": str(program),
            "events": str(events),
            "run_folder": str(run_folder or folder),
            "experiment": experiment,
            "variables": variables,
        }
        ended = self.ask(order)
        if sys.executable != TRAINING_PYTHON and (lacks := LACKS.search(ended["output"])):
            pytest.skip(f"{program.stem} cannot run there: {lacks[0]}")
        told = tuple(json.loads(line) for line in events.read_text().splitlines())
        return Trace(0, None, told), ended

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        """The answer of runtime_host.py to one order."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def supervise(
        self, job: dict[str, Any], cancelled: Callable[[], bool], progress: Callable[[str], None]
    ) -> tuple[dict[str, Any], int | None]:
        """In place of the launcher's: the same job and report, without an interpreter that starts and imports torch."""
        if job["overlay"]:
            return {"kind": "unable", "why": "the host mounts nothing"}, None
        lifeline = os.open(job["lifeline"], os.O_RDWR | os.O_CLOEXEC)
        began = time.monotonic()
        ended = self.ask({"job": job})
        os.close(lifeline)
        Path(job["folder"], "output.txt").write_text(ended["output"], encoding="utf-8")
        how = {"how": "exited", "outlived": [], "unprobed": [], "used_bytes": 0, "peak_bytes": 0}
        report = {"kind": "ended", "code": ended["code"], "seconds": time.monotonic() - began, **how}
        return report, ended["pid"]

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)


def edited(program: Path, edits: Sequence[tuple[str, str]], into: Path) -> Path:
    """The program with each first text replaced by the second, in a folder of its own."""
    text = with_edits(program.read_text(encoding="utf-8"), edits)
    into.mkdir(parents=True, exist_ok=True)
    target = into / program.name
    target.write_text(text, encoding="utf-8")
    return target
