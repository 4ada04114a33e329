"""Small programs run with the runtime inside, many in the time of one start: see runtime_host.py."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training_python import TRAINING_PYTHON
from trainsleuth.trace import Trace

HERE = Path(__file__).parent
RUNTIME = HERE.parent / "tools" / "trainsleuth" / "runtime"


class Host:
    """One process that has imported torch and forks for every program."""

    def __init__(self, **variables: str) -> None:
        command = [TRAINING_PYTHON, str(HERE / "runtime_host.py"), str(RUNTIME)]
        environment = dict(os.environ, OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", **variables)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(
        self, program: Path, folder: Path, experiment: dict[str, Any], run_folder: Path | None = None
    ) -> tuple[Trace, dict[str, Any]]:
        """What one program told, and how it ended. Its events and files lie in `folder`."""
        assert self.process.stdin is not None and self.process.stdout is not None
        events = folder / f"{program.stem}.jsonl"
        order = {
            "program": str(program),
            "events": str(events),
            "run_folder": str(run_folder or folder),
            "experiment": experiment,
        }
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        ended = json.loads(self.process.stdout.readline())
        told = tuple(json.loads(line) for line in events.read_text().splitlines())
        return Trace(0, None, told), ended

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)


def edited(program: Path, edits: Sequence[tuple[str, str]], into: Path) -> Path:
    """The program with each first text replaced by the second, in a folder of its own."""
    text = program.read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) >= 1, f"{program.name} has no {old!r}"
        text = text.replace(old, new)
    into.mkdir(parents=True, exist_ok=True)
    target = into / program.name
    target.write_text(text, encoding="utf-8")
    return target
