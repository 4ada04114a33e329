"""The detection table: healthy programs x planted faults x observing probes. Writes evidence/faults/RESULTS.md.

    python evidence/faults/table.py [--program NAME ...] [--fault TEXT ...]

The programs are the healthy twins under tests/runs and the programs under tests/targets/questions. The first
row is the one without a fault: every alarm in it is a false one. Cells run for 60 steps in one process.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(HERE)]

from faults import FAULTS  # noqa: E402
from trainsleuth import probes  # noqa: E402
from trainsleuth.finding import Finding  # noqa: E402
from trainsleuth.trace import Trace  # noqa: E402

STEPS = 60


@dataclass(frozen=True)
class Program:
    name: str
    folder: Path
    program: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One fault in one program: `seen` when an alarm suspects one of its causes, `other` when only others do."""

    program: str
    fault: str | None
    fired: bool
    alarms: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        wanted = FAULTS[self.fault][1] if self.fault else ()
        if any(set(alarm.suspects) & set(wanted) for alarm in self.alarms):
            return "seen"
        return "other" if self.alarms else "missed"


def programs() -> Iterator[Program]:
    for case in sorted((ROOT / "tests" / "runs").glob("*/case.yaml")):
        words = yaml.safe_load(case.read_text(encoding="utf-8"))["command"][1:]
        words = words[1:] if words[0] == "-m" else words
        yield Program(case.parent.name, case.parent / "healthy", words[0], tuple(words[1:]))
    for path in sorted((ROOT / "tests" / "targets" / "questions").glob("*.py")):
        yield Program(path.stem, path.parent, path.name, ())


class Host:
    """The process that forks for every cell."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "host.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def cell(self, program: Program, fault: str | None) -> Cell:
        assert self.process.stdin is not None and self.process.stdout is not None
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "program")
            shutil.copytree(program.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
            events = Path(place, "events.jsonl")
            experiment = {**probes.EXPERIMENTS["observe"], "steps": STEPS}
            order: dict[str, Any] = {
                "folder": str(folder), "program": program.program, "arguments": program.arguments, "fault": fault,
                "events": str(events), "run_folder": place, "experiment": experiment,
            }  # fmt: skip
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
            told = tuple(json.loads(line) for line in events.read_text().splitlines()) if events.exists() else ()
        trace = Trace(0, None, told)
        crashed = [Finding("probe:run", "fail", e["message"], severity="error") for e in trace.events("crash")]
        found = [finding for finding in probes.judge("observe", trace) if finding.is_alarm]
        return Cell(program.name, fault, fault is None or answer["fired"], tuple(found + crashed))


def table(cells: list[Cell]) -> Iterator[str]:
    healthy = [cell for cell in cells if cell.fault is None]
    planted = [cell for cell in cells if cell.fault is not None and cell.fired]
    alarms = sum(bool(cell.alarms) for cell in healthy)
    seen, other = (sum(cell.verdict == word for cell in planted) for word in ("seen", "other"))
    yield "# Faults planted into healthy programs"
    names = ", ".join(cell.program for cell in healthy)
    yield f"Written by `make faults`. One run of {STEPS} steps per cell, observing probes only, CPU. Programs: {names}."
    yield (
        f"- **False alarms**: {alarms} of {len(healthy)} healthy programs.\n"
        f"- **Seen**: {seen} of {len(planted)} cells name the planted cause ({seen / max(1, len(planted)):.0%}); in {other} more "
        "another alarm was raised; the rest are silent."
    )
    lines = ["| fault | programs | seen | other alarm | silent | by |", "|---|---|---|---|---|---|"]
    for fault in FAULTS:
        row = [cell for cell in planted if cell.fault == fault]
        by = sorted({a.by.partition(":")[2] for c in row for a in c.alarms if set(a.suspects) & set(FAULTS[fault][1])})
        counts = [sum(cell.verdict == word for cell in row) for word in ("seen", "other", "missed")]
        lines.append(f"| {fault} | {len(row)} | {counts[0]} | {counts[1]} | {counts[2]} | {', '.join(by)} |")
    yield "\n".join(lines)
    yield "## Cells that stay silent, or name another cause"
    missed = [cell for cell in planted if cell.verdict != "seen"]
    yield "\n".join(
        f"- {cell.fault}, in {cell.program}: {', '.join(dict.fromkeys(a.by for a in cell.alarms)) or 'silent'}"
        for cell in missed
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", help="only programs whose name holds this")
    parser.add_argument("--fault", action="append", help="only faults whose name holds this")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no further program after this time")
    given = parser.parse_args()
    host, cells = Host(), list[Cell]()
    until = time.monotonic() + 60 * given.minutes
    for program in programs():
        if given.program and not any(word in program.name for word in given.program):
            continue
        if time.monotonic() > until:
            continue
        for fault in (None, *FAULTS):
            if fault is not None and given.fault and not any(word in fault for word in given.fault):
                continue
            cells.append(host.cell(program, fault))
            last = cells[-1]
            if last.fired:
                print(f"{program.name:24}{last.verdict:8}{fault or 'healthy'}", flush=True)
    text = "\n\n".join(table(cells)) + "\n"
    if given.fault:
        print(text)
    else:
        (HERE / "RESULTS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
