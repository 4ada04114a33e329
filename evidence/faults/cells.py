"""Runs one cell of the matrix: a program with one fault, observed once, then asked what the fault is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from matrix import HERE, Fault, Program, plant

sys.path[:0] = [str(HERE.parents[1] / "tools")]
os.environ["TRAINSLEUTH_CACHE"] = "off"

from trainsleuth import probes  # noqa: E402
from trainsleuth.checks import run_checks  # noqa: E402
from trainsleuth.finding import Finding  # noqa: E402
from trainsleuth.repository import Repository  # noqa: E402
from trainsleuth.trace import Trace, traces  # noqa: E402

MAX_WORDS = 300  # of a message that is kept


@dataclass(frozen=True)
class Alarm:
    by: str
    severity: str
    place: str
    suspects: tuple[str, ...]
    message: str


@dataclass(frozen=True)
class Cell:
    """What one fault in one program raised. `fault` is "" for the healthy program.

    `alarms`: failures of probes at warning or above. `checks`: those that report more than in the healthy
    program; `questions`: those that ask more (notes). `open`: probes that could not decide. `cpu`: seconds of all
    runs of the program together.
    """

    fault: str
    alarms: tuple[Alarm, ...]
    checks: tuple[str, ...]
    questions: tuple[str, ...]
    open: tuple[str, ...]
    asked: tuple[str, ...]
    cpu: float

    def verdict(self, suspects: Sequence[str]) -> str:
        """ "seen" when an alarm suspects one of these; "other" when only others do; else "silent"."""
        if any(set(alarm.suspects) & set(suspects) for alarm in self.alarms):
            return "seen"
        if any("program-crashes" in alarm.suspects for alarm in self.alarms):
            return "crashed"
        return "other" if self.alarms else "silent"


class Runner:
    """Runs programs in forks of a process that has torch."""

    def __init__(self, preload: Sequence[str] = ()) -> None:
        self.host = subprocess.Popen(
            [sys.executable, str(HERE / "host.py"), *preload], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def close(self) -> None:
        assert self.host.stdin is not None
        self.host.stdin.close()
        self.host.wait(timeout=30)

    def cell(self, program: Program, fault: Fault | None, healthy: Cell | None = None) -> Cell:
        """`healthy`: the cell of the same program without a fault, once it is there."""
        with tempfile.TemporaryDirectory() as place:
            folder = plant(program, fault.id if fault else None, Path(place, program.name))
            read = [finding for finding in run_checks(Repository(folder)).findings if finding.outcome == "fail"]
            alarms: list[Alarm] = []
            undecided: list[str] = []
            asked: list[str] = []
            cpu = 0.0
            for experiment in _experiments(fault):
                found, seconds = self._asked(program, folder, experiment, Path(place))
                asked.append(experiment)
                cpu += seconds
                alarms += [_alarm(finding) for finding in found if finding.is_alarm]
                undecided += [finding.by for finding in found if finding.outcome == "open"]
                if fault and any(set(alarm.suspects) & set(fault.suspects) for alarm in alarms):
                    break
        return Cell(
            fault.id if fault else "", tuple(alarms),
            _more([finding for finding in read if finding.is_alarm], healthy.checks if healthy and fault else None),
            _more([finding for finding in read if not finding.is_alarm], healthy.questions if healthy and fault else None),
            tuple(dict.fromkeys(undecided)), tuple(asked), round(cpu, 2),
        )  # fmt: skip

    def _asked(self, program: Program, folder: Path, experiment: str, place: Path) -> tuple[list[Finding], float]:
        """Findings of one experiment, and the seconds of CPU that the program took."""
        times = int(probes.EXPERIMENTS[experiment].get("times", 1))
        ran = [self._run(program, folder, experiment, place) for _ in range(times)]
        told, crashes, cpu = [r[0] for r in ran], [r[1] for r in ran], sum(r[2] for r in ran)
        together = [one[0] for one in told if one] if times > 1 else told[0]
        found = list(probes.judge_together(experiment, together)) if together else []
        found += [finding for trace in told[-1] for finding in probes.judge(experiment, trace)]
        return found + [c for c in crashes if c is not None], cpu

    def _run(
        self, program: Program, folder: Path, experiment: str, place: Path
    ) -> tuple[list[Trace], Finding | None, float]:
        assert self.host.stdin is not None and self.host.stdout is not None
        run_folder = Path(tempfile.mkdtemp(dir=place))
        events = run_folder / "events.jsonl"
        wanted = dict(probes.EXPERIMENTS[experiment])
        if experiment == "observe":
            wanted["steps"] = program.steps
        order: dict[str, Any] = {
            "folder": str(folder), "command": program.command[1:], "events": str(events),
            "run_folder": str(run_folder), "experiment": wanted, "ranks": program.ranks,
        }  # fmt: skip
        self.host.stdin.write(json.dumps(order) + "\n")
        self.host.stdin.flush()
        answer = json.loads(self.host.stdout.readline())
        told = [event for rank in range(program.ranks) for event in _events(Path(f"{events}-{rank}"), rank, program)]
        crash = next((f"{e['type']}: {e['message']}" for e in told if e["kind"] == "crash"), None)
        if crash is None and (answer["code"] or not told):
            crash = f"exit code {answer['code']}: {answer['output'][-MAX_WORDS:]}"
        crash = None if wanted.get("intervenes") else crash
        return [trace for trace in traces(told) if trace.trains], _crashed(crash), answer["cpu"]


def _experiments(fault: Fault | None) -> Iterator[str]:
    """A healthy program is asked everything; a faulty one what may see the fault."""
    yield "observe"
    yield from fault.asks if fault else [name for name in probes.EXPERIMENTS if name != "observe"]


def _events(path: Path, rank: int, program: Program) -> Iterator[dict[str, Any]]:
    """What one rank told, each event with its process and rank as the launcher adds them."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        yield {**json.loads(line), "pid": rank, "rank": rank if program.ranks > 1 else None}


def _crashed(why: str | None) -> Finding | None:
    if why is None:
        return None
    return Finding("probe:run", "fail", why, severity="error", suspects=("program-crashes",))


def _more(findings: Sequence[Finding], usual: Sequence[str] | None) -> tuple[str, ...]:
    """The checks of these, once per report; where it is known what is usual, those that report more, once each."""
    names = sorted(finding.by.partition(":")[2] for finding in findings)
    if usual is None:
        return tuple(names)
    return tuple(sorted({name for name in names if names.count(name) > usual.count(name)}))


def _alarm(finding: Finding) -> Alarm:
    return Alarm(finding.by, finding.severity, finding.place, finding.suspects, finding.message[:MAX_WORDS])


def to_plain(cell: Cell) -> dict[str, Any]:
    return asdict(cell)


def from_plain(plain: dict[str, Any]) -> Cell:
    alarms = tuple(Alarm(**{**alarm, "suspects": tuple(alarm["suspects"])}) for alarm in plain["alarms"])
    return Cell(
        plain["fault"], alarms, tuple(plain["checks"]), tuple(plain["questions"]), tuple(plain["open"]),
        tuple(plain["asked"]), plain["cpu"],
    )  # fmt: skip
