"""What a supervisor's report and the events say about the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trainsleuth.finding import Finding
from trainsleuth.launcher import Ended, Limits, Run
from trainsleuth.launcher.outcome import judge
from trainsleuth.probing import ending, told_once
from trainsleuth.trace import Trace

EXITED = {
    "kind": "ended",
    "how": "exited",
    "code": 0,
    "seconds": 3.0,
    "outlived": [],
    "peak_bytes": 5_000_000,
    "used_bytes": 5_000_000,
    "kernel_kills": 0,
}
HOOKS = {"kind": "hooks", "t": 1.0, "pid": 7}
FINISH = {"kind": "finish", "t": 2.0, "pid": 7, "reason": "enough"}
CRASH = {"kind": "crash", "t": 2.5, "pid": 7, "type": "OSError", "message": "no", "path": "a.py", "line": 3}
BLIND = {"kind": "unprobed", "t": 3.0, "pid": 8, "argv": ["python", "-I", "x.py"], "torch": True}


@pytest.mark.parametrize(
    ("report", "events", "ended", "words"),
    [
        ({}, [HOOKS], "finished", "exit code 0"),
        ({}, [], "not_probed", "no Python process"),
        ({}, [{"kind": "hello", "t": 0.1, "pid": 7}], "not_probed", "never imported torch"),
        ({}, [BLIND], "not_probed", "`python -I x.py`"),
        ({}, [HOOKS, BLIND], "finished", "torch also ran in processes that were not probed"),
        ({}, [HOOKS, FINISH], "stopped", "enough"),
        ({}, [HOOKS, {**FINISH, "reason": "nonfinite"}], "stopped", "a value of its training was not finite"),
        ({"code": -15, "how": "finished"}, [HOOKS, FINISH], "stopped", "enough"),
        ({"code": 1}, [HOOKS, FINISH, CRASH], "stopped", "enough"),
        ({"code": 1}, [HOOKS, CRASH, {**FINISH, "t": 2.9}], "crashed", "OSError at a.py:3: no"),
        (
            {"code": 1},
            [HOOKS, {**CRASH, "message": "Invalid cross-device link"}],
            "crashed",
            "--contain copy",
        ),
        ({"code": 1}, [HOOKS, {**CRASH, "type": "OfflineModeIsEnabled"}], "crashed", "run offline"),
        ({"code": 1}, [{**CRASH, "module": "torch"}], "not_probed", "has no torch"),
        ({"code": 3}, [], "crashed", "exit code 3"),
        ({"code": -11}, [HOOKS], "crashed", "SIGSEGV"),
        ({"code": -9}, [HOOKS], "crashed", "SIGKILL"),
        ({"code": -9, "kernel_kills": 1}, [HOOKS], "out_of_memory", "kernel"),
        ({"code": 70}, [], "not_probed", "nothing was trained unprobed"),
        ({"how": "timeout", "code": -15}, [HOOKS], "timeout", "after 9 s"),
        ({"how": "timeout", "code": -15}, [], "timeout", "no probed process had imported torch"),
        ({"how": "cancelled", "code": -15}, [HOOKS], "cancelled", "cancelled after 3.0 s"),
        ({"outlived": [["sleep", "9"]]}, [HOOKS], "finished", "1 processes outlived the command"),
        ({"kind": "lost", "code": -9}, [], "crashed", "supervisor"),
        ({"kind": "refused", "number": 8, "why": "Exec format error"}, [], "not_started", "bash SCRIPT"),
    ],
)
def test_ends(report: dict[str, Any], events: list[dict[str, Any]], ended: str, words: str) -> None:
    said, why = judge({**EXITED, **report}, events, "", Limits(seconds=9))
    assert (said, words in why) == (ended, True), why


@pytest.mark.parametrize(
    ("ended", "code", "outcome"),
    [
        ("stopped", 0, None),
        ("finished", 0, None),
        ("crashed", -9, "fail"),
        ("crashed", None, "open"),
        ("cancelled", -15, "open"),
        ("timeout", -15, "open"),
        ("out_of_memory", -9, "open"),
    ],
)
def test_a_run_that_was_cut_short_is_never_called_whole(ended: Ended, code: int | None, outcome: str | None) -> None:
    run = Run(("python", "train.py"), "", Path(), ended, "why", exit_code=code)
    trained = Trace(1, None, ({"kind": "tick", "n": 13, "pid": 1},))
    assert [finding.outcome for finding in ending(run, [trained], "observe")] == [outcome] * bool(outcome)


MADE: dict[str, Any] = {
    "kind": "made", "direction": "forward", "op": "log", "site": "a.py:4", "lib": None, "output": {"nan": 4},
    "inputs": [{"name": "self", "shape": [4], "min": -1.0, "max": 1.0, "zeros": 0}],
}  # fmt: skip
BROKE = {
    "kind": "nonfinite",
    "pid": 7,
    "n": 0,
    "noticed": "output",
    "value": "nan",
    "reproduced": True,
    "chain": [MADE],
}


def test_of_a_program_that_never_trains_it_is_told_what_was_not_finite() -> None:
    run = Run(("python", "predict.py"), "", Path(), "finished", "it ended by itself", events=(BROKE,))
    [finding] = ending(run, [], "observe")
    assert (
        finding.outcome == "open"
        and "it ended by itself; in step 0 (counted from 0) the output became nan: log at a.py:4 made 4 NaN"
        in finding.message
    )


def _said(message: str, suspect: str, place: int = 9) -> Finding:
    return Finding("probe:x", "fail", message, severity="warning", path="train.py", line=place, suspects=(suspect,))


def test_what_processes_say_of_one_place_is_told_once_and_counted_by_process() -> None:
    leak, other = _said("3 of 9", "split-leak"), _said("frozen", "frozen-parameters")
    (told,) = told_once([[leak, _said("4 of 9", "split-leak")]])
    assert told == leak
    first, second = told_once([[leak, other], [leak]])
    assert (first.measured, second) == ({"processes": 2}, other)
