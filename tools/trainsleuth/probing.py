"""Runs the user's program under as few experiments as the asked probes need, and lets the probes judge."""

from __future__ import annotations

import builtins
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainsleuth import launcher, probes
from trainsleuth.finding import Finding, best_first
from trainsleuth.launcher import Limits, Run
from trainsleuth.probes._nonfinite_words import sentence as nonfinite_in_words
from trainsleuth.trace import Event, Trace, traces

FIRST_SHARE = 0.55  # of the time, for the first of two experiments; what it leaves goes to the second
LAST_WORDS = 10.0  # seconds before a run is killed in which a step must end, so that the last questions can be asked
LAST_SHARE = 0.2  # of its time that they take at most
NEEDED = 3.0  # seconds to watch, below which a run is not worth its start
RECORD = "asked.json"  # in the folder of the last run: what was asked and found, for running it again after a change
_LET_IN = "start the Python that trains with the environment that it is given, so that it loads the probe"
NOT_OF_DATA = (NameError, AttributeError, ImportError, TypeError, FileNotFoundError, NotADirectoryError, IsADirectoryError,
               PermissionError)  # fmt: skip
"""Errors that a program makes however many batches it got."""
_LISTENER = "listener trace"  # which sees the steps
SAVING = "torch/serialization.py"  # raises RuntimeError for a folder that is not there
WHOLE_EPOCHS = "preflight with --whole-epochs and more --time"
NEVER_RAN = frozenset({"not_started", "not_probed", "cancelled"})


class ProbeError(ValueError):
    """The question cannot be put: an unknown probe, or no command."""


@dataclass(frozen=True)
class ProbeReport:
    """What the probes said, best first, and what they could look at."""

    findings: tuple[Finding, ...]
    examined: dict[str, Any]
    unresolved: tuple[str, ...]
    runs: tuple[Run, ...]
    ran: tuple[str, ...] = field(default=())
    seen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """How far each experiment saw: its steps, its processes, the hooks that took, and whether the program ended by itself."""

    @property
    def run(self) -> str:
        """The name of the last run's folder, by which it can be run again after a change."""
        return self.runs[-1].folder.name if self.runs else ""

    @property
    def unobserved(self) -> tuple[str, ...]:
        """The hooks that did not take, a line each: what no probe can have seen."""
        training = [trace for run in self.runs for trace in traces(run.events) if trace.trains]
        missing = {name: why for trace in training for name, why in trace.hooks_missing.items()}
        return tuple(
            f"the hook {name} did not take ({why}): what it would show was not observed"
            for name, why in missing.items()
        )

    @property
    def artifacts(self) -> tuple[dict[str, str], ...]:
        """Files that show what entered the model: {"path", "kind", "what"}."""
        shown = [one for run in self.runs for event in run.events for one in event.get("shown", ())]
        return tuple(one for one in shown if one.get("path") and Path(one["path"]).exists())

    @property
    def started(self) -> bool:
        """Was there a program to run at all?"""
        return any(run.ended != "not_started" for run in self.runs)

    @property
    def trained(self) -> bool:
        """Did the program take at least one step under our eyes?"""
        return any(trace.trains for run in self.runs for trace in traces(run.events))

    @property
    def saw_no_step(self) -> bool:
        """Did nothing train, or end by itself without a whole step? Another experiment would see as little."""
        return all(_saw_no_step(seen) for seen in self.seen.values())


@dataclass(frozen=True)
class Request:
    """One wish: which probes, on which command, within which bounds."""

    command: tuple[str, ...]
    only: frozenset[str] | None = None
    steps: int | None = None
    seconds: float = 60.0
    """For all runs together, with the start of the program."""
    watch: float | None = None
    """How many of them the training is watched; the rest is for a slow start. None: all but what others need."""
    given: float | None = None
    """The user's own limit, where `seconds` is what was left of it."""
    root: Path | None = None
    cwd: Path | None = None
    python: str | None = None
    contain: str = "auto"
    instead: Mapping[str, str] = field(default_factory=dict)  # launcher.launch says what
    cancelled: Callable[[], bool] | None = None
    progress: Callable[[str], None] | None = None
    listeners: tuple[str, ...] = ()
    """Of the runtime, besides those of the experiment."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the experiment, for these listeners."""

    def with_listener(self, name: str, **settings: Any) -> Request:
        """The same wish, with one more listener of the runtime in each run."""
        return replace(self, listeners=(*self.listeners, name), settings={**self.settings, **settings})

    def say(self, words: str) -> None:
        if self.progress is not None:
            self.progress(words)


def run_probes(request: Request) -> ProbeReport:
    """Puts the asked questions (all of them by default) to the program. Raises ProbeError for wrong usage."""
    known = probes.all_probes()
    unknown = sorted((request.only or frozenset()) - set(known))
    if unknown:
        raise ProbeError(f"no probe is called {unknown[0]!r}; there are: {', '.join(known)}")
    if not request.command:
        raise ProbeError("no command was given; put it after --, for example: -- python train.py")
    asked = [
        name
        for name in known
        if (known[name].EXPERIMENT in probes.usual() if request.only is None else name in request.only)
    ]
    experiments = list(dict.fromkeys(known[name].EXPERIMENT for name in asked))
    findings: list[Finding] = []
    runs: list[Run] = []
    seen: dict[str, Mapping[str, Any]] = {}
    started = time.monotonic()
    for number, experiment in enumerate(experiments):
        left = request.seconds - (time.monotonic() - started)
        if runs and left < start_up(runs) + NEEDED:
            findings.append(_no_time(experiment, left, request))
            break
        is_last = number == len(experiments) - 1
        watch = left if is_last else left * FIRST_SHARE
        repeated = _repeated(request, experiment, left, watch if request.watch is None else request.watch)
        runs += repeated
        seen[experiment] = _seen(repeated[-1])
        findings += _judged(experiment, repeated, request.only)
        if repeated[-1].ended in NEVER_RAN or _saw_no_step(seen[experiment]):
            break  # a second experiment would see as little
    report = replace(_report(findings, runs, asked), seen=seen)
    _keep(request, report)
    return report


def _seen(run: Run) -> dict[str, Any]:
    training = [trace for trace in traces(run.events) if trace.trains]
    lost = {name for trace in training for name in trace.hooks_missing}
    hooks = {name for trace in training for event in trace.events("hooks") for name in event.get("hooks", {})}
    return {
        "steps": max((trace.steps for trace in training), default=0),
        "processes": len(training),
        "hooks": sorted(hooks - lost),
        "whole": run.ended == "finished",
    }


def _saw_no_step(seen: Mapping[str, Any]) -> bool:
    return not seen["processes"] or (seen["whole"] and not seen["steps"])


def _keep(request: Request, report: ProbeReport) -> None:
    """Writes down what `again` needs. A folder that cannot be written is no reason to lose the answer."""
    folder = report.runs[-1].folder
    asked = {
        "command": request.command,
        "only": sorted(request.only or ()),
        "steps": request.steps,
        "seconds": request.seconds,
        "root": str(request.root.resolve()) if request.root else None,
        "cwd": str((request.cwd or Path.cwd()).resolve()),
        "python": request.python,
        "contain": request.contain,
        "seen": report.seen,
        "findings": [finding.to_dict() for finding in report.findings],
    }
    with suppress(OSError):
        (folder / RECORD).write_text(json.dumps(asked), encoding="utf-8")


def start_up(runs: Sequence[Run]) -> float:
    """Seconds from the launch of a program to its first training step, or to its end where it had none."""
    first = [event["t"] for event in runs[-1].events if event.get("kind") in ("tick", "frozen") or _is_backward(event)]
    return float(min(first, default=runs[-1].seconds))


def _is_backward(event: Event) -> bool:
    return event.get("op") == "backward"


def _no_time(experiment: str, left: float, request: Request) -> Finding:
    given = request.given or request.seconds
    return Finding(by="probe:run", outcome="open", next="allow more time with --time",
                   message=f"the experiment {experiment} was not run: {max(0.0, left):.0f} of {given:g} s were left")  # fmt: skip


def _repeated(request: Request, experiment: str, seconds: float, watch: float) -> list[Run]:
    """The runs of one experiment: one, unless it compares several; no further one after one that saw nothing."""
    times = int(probes.EXPERIMENTS[experiment].get("times", 1))
    until = time.monotonic() + seconds
    runs: list[Run] = []
    for number in range(times):
        left = (until - time.monotonic()) / (times - number)
        runs.append(launch_once(request, experiment, max(1.0, left), watch / times))
        if not any(trace.trains for trace in traces(runs[-1].events)):
            break
    return runs


def launch_once(request: Request, experiment: str, seconds: float, watch: float) -> Run:
    """One run, over after `seconds` however it goes, and `watch` seconds after its first step by itself."""
    wanted = {**probes.EXPERIMENTS[experiment], **request.settings}
    wanted["listeners"] = [*wanted["listeners"], *request.listeners]
    if request.steps is not None:
        wanted["steps"] = request.steps
    wanted["seconds"] = max(1.0, watch)
    wanted["until"] = seconds - min(LAST_WORDS, LAST_SHARE * seconds)
    shown = ", ".join(wanted["listeners"])
    request.say(f"{experiment}: running the program for up to {wanted['steps']} steps or {watch:.0f} s ({shown})")
    return launcher.launch(
        list(request.command),
        wanted,
        root=request.root,
        cwd=request.cwd,
        python=request.python,
        limits=Limits(seconds=seconds, given=request.given or request.seconds),
        contain=request.contain,  # type: ignore[arg-type]
        cancelled=request.cancelled,
        progress=request.progress,
        instead=request.instead,
    )


def _judged(experiment: str, runs: Sequence[Run], only: frozenset[str] | None) -> Iterator[Finding]:
    """Findings of every process that trains, told once when ranks agree; of all together; and how the runs ended."""
    by_run = [[trace for trace in traces(run.events) if trace.trains] for run in runs]
    for run, training in zip(runs, by_run, strict=True):
        yield from ending(run, training, experiment)
    if len(runs) > 1:
        yield from probes.judge_together(experiment, [training[0] for training in by_run if training], only)
    elif by_run[0]:
        yield from probes.judge_together(experiment, by_run[0], only)
    yield from told_once([list(probes.judge(experiment, trace, only)) for trace in by_run[-1]])


def told_once(by_process: Sequence[Sequence[Finding]]) -> Iterator[Finding]:
    """What several processes say of one place, and one process several times, once; failures with the number of
    processes.
    """
    found: dict[tuple[Any, ...], Finding] = {}
    processes: dict[tuple[Any, ...], set[int]] = {}
    for process, findings in enumerate(by_process):
        for finding in findings:
            key = (finding.by, finding.place, finding.outcome, finding.suspects)
            found.setdefault(key, finding)
            processes.setdefault(key, set()).add(process)
    for key, finding in found.items():
        several = len(processes[key]) > 1 and finding.outcome != "pass"
        measured = {**finding.measured, "processes": len(processes[key])} if several else finding.measured
        yield replace(finding, measured=measured)


def ending(run: Run, training: Sequence[Trace], experiment: str) -> Iterator[Finding]:
    """What the way the run ended says by itself: a crash is its own cause; no step at all leaves all open.

    Under an experiment that holds the data still, a crash may be the experiment's doing: it accuses nobody.
    """
    crash = next((event for event in run.events if event.get("kind") == "crash"), None)
    steps = max((trace.steps for trace in training), default=0)
    if run.ended == "crashed" and probes.EXPERIMENTS[experiment].get("intervenes"):
        what = f"{crash['type']}: {crash['message']}" if crash else run.why
        by = next(name for name, module in probes.all_probes().items() if experiment == module.EXPERIMENT)
        yield Finding(by=f"probe:{by}", outcome="open", next="where it does not crash without the probe: repeat one batch by hand",
                      message=f"this probe changed what the program got, and after {steps} steps it stopped: {what}")  # fmt: skip
    elif stopped_short(run):
        what = f"{crash['type']}: {crash['message']}" if crash else run.why
        yield Finding(
            by="probe:run",
            outcome="open",
            path=crash.get("path") if crash else None,
            line=crash.get("line") if crash else None,
            message=f"after {steps} steps it stopped: {what} (its epochs had been cut short, which may be why)",
            said=str(crash["traceback"])[-1500:] if crash else run.output[-800:],
            next=WHOLE_EPOCHS,
        )
    elif crash is not None and run.ended == "crashed":
        asked = (
            " (standard input is closed under a probe: give what it reads in a file)"
            if crash["type"] == "EOFError"
            else ""
        )
        yield Finding(
            by="probe:run",
            outcome="fail",
            severity="error",
            confidence="high",
            path=crash.get("path"),
            line=crash.get("line"),
            message=f"the program itself crashed after {steps} steps: {crash['type']}: {crash['message']}{asked}",
            suspects=("program-crashes",),
            said=str(crash["traceback"])[-1500:],
        )
    elif run.ended == "crashed" and run.exit_code is None:  # our own supervisor was killed, and the program with it
        yield Finding(by="probe:run", outcome="open", message=f"{run.why} ({steps} steps were seen before that)")
    elif run.ended == "crashed":
        yield Finding(by="probe:run", outcome="fail", severity="error", confidence="high", message=run.why,
                      suspects=("program-crashes",), said=run.output[-1500:])  # fmt: skip
    elif not training:
        yield Finding(
            by="probe:run",
            outcome="open",
            message=_nothing_trained(run, experiment),
            said=run.output[-800:],
            next=_LET_IN if _trained_unseen(run) else "",
        )
    elif run.ended in ("timeout", "out_of_memory", "cancelled"):
        is_theirs = run.stand is not None and not run.stand.by_probe
        path, line = (run.stand.path, run.stand.line) if run.stand is not None and is_theirs else (None, None)
        yield Finding(by="probe:run", outcome="open", path=path, line=line,
                      message=f"{run.why} ({steps} steps were seen before that)")  # fmt: skip


def stopped_short(run: Run) -> bool:
    """Did it crash after its epochs were cut short, with an error that too little data can make?"""
    crash = next((event for event in run.events if event.get("kind") == "crash"), None)
    if run.ended != "crashed" or not any(event.get("kind") == "cut" for event in run.events):
        return False
    if crash is None:  # it ended itself: sys.exit("too few batches")
        return run.exit_code is not None and run.exit_code > 0
    if SAVING in crash["traceback"].replace("\\", "/"):
        return False
    if crash.get("unset"):
        return True
    error = getattr(builtins, crash["type"], None)
    return not (isinstance(error, type) and issubclass(error, NOT_OF_DATA))


def _trained_unseen(run: Run) -> bool:
    """Did torch run, in a process that did not load the probe?"""
    return run.ended == "not_probed" and any(e["kind"] == "unprobed" and e.get("torch") for e in run.events)


def _nothing_trained(run: Run, experiment: str) -> str:
    """Why nothing can be judged, with what was seen instead of a training step."""
    if run.ended in NEVER_RAN:
        return run.why
    if "trace" not in probes.EXPERIMENTS[experiment]["listeners"]:  # it tells of whole steps only
        return f"no training step was seen: {run.why}"
    forwards = sum(event.get("op") == "forward" for event in run.events)
    grads = sum(event.get("op") == "autograd_grad" for event in run.events)
    idle = sum(event["steps"] for event in run.events if event.get("kind") == "idle_steps")
    if idle:
        return f"no backward was seen, and {idle} optimizer steps that nothing was computed for: {run.why}"
    seen = f" ({forwards} module calls and {grads} torch.autograd.grad calls were)" if forwards or grads else ""
    failed = next(filter(None, (trace.hooks_missing.get(_LISTENER) for trace in traces(run.events))), "")
    if failed:
        return f"no step could be seen, for the probe itself failed ({failed}), a fault of trainsleuth's own: {run.why}"
    found = [event for event in run.events if event.get("kind") == "nonfinite" and event["reproduced"]]
    broken = f"; {nonfinite_in_words(found[0])}" if found else ""
    return f"no backward and no optimizer step was seen{seen}: {run.why}{broken}"


def _report(findings: list[Finding], runs: list[Run], asked: list[str]) -> ProbeReport:
    ordered = tuple(best_first(findings))
    processes = [trace for run in runs for trace in traces(run.events) if trace.trains]
    examined = {
        "probes": asked,
        "processes": len({trace.pid for trace in processes}),
        "steps": max((trace.steps for trace in processes), default=0),
        "seconds": round(sum(run.seconds for run in runs), 1),
        "contained": [run.contained for run in runs],
        "run": runs[-1].folder.name,
        "wrote": sorted({path for run in runs for path in run.wrote})[:50],
    }
    unresolved = [f"{f.by}: {f.message}" for f in ordered if f.outcome == "open"]
    report = ProbeReport(ordered, examined, tuple(unresolved), tuple(runs), tuple(run.ran for run in runs))
    return replace(report, unresolved=(*unresolved, *report.unobserved))
