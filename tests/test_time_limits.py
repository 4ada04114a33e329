"""The time that a user gives is the time that a call takes, the start of the program included."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trainsleuth import launcher
from trainsleuth.launcher import Limits, Run
from trainsleuth.launcher.outcome import judge
from trainsleuth.launcher.record import Stand
from trainsleuth.probing import Request, run_probes
from twins import Answer, trainsleuth

SOON = 3.5  # seconds: to end a program, and a busy machine starts us late
HANGS = "import time\ntime.sleep(600)\n"
TIMEOUT = {
    "kind": "ended",
    "how": "timeout",
    "code": -9,
    "seconds": 9.0,
    "outlived": [],
    "peak_bytes": 5,
    "used_bytes": 5,
}


@pytest.mark.parametrize("verb", ["probe", "triage"])
def test_a_program_that_hangs_is_ended_at_the_limit(verb: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HANGS)
    began = time.monotonic()
    answer = trainsleuth(verb, "--time", "4", "--contain", "none", "--", "python", "train.py", cwd=tmp_path)
    assert time.monotonic() - began < 4 + SOON
    assert answer.code == 2 and "still ran after 4 s and was stopped" in answer.output, answer.output


def test_too_little_time_to_start_a_run_is_said(tmp_path: Path, warm: Callable[..., Answer]) -> None:
    (tmp_path / "train.py").write_text(HANGS)
    answer = warm("triage", "--no-notes", "--time", "1", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 2 and "too little time to start a run: 1 s were given" in answer.output
    assert "next: allow at least 2" in answer.output and "mend what kept" not in answer.output


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(seconds=11.9768, given=12), "still ran after 12 s and was stopped"),
        (Limits(seconds=7.0311, given=12), "still ran after 7 s, what was left of 12 s, and was stopped"),
    ],
)
def test_the_limit_is_told_as_the_user_gave_it(limits: Limits, words: str) -> None:
    assert words in judge(TIMEOUT, [{"kind": "hooks", "t": 1.0, "pid": 7}], "", limits)[1]


def test_a_stop_in_the_probe_itself_is_not_put_on_the_program() -> None:
    why = judge(TIMEOUT, [], "", Limits(seconds=9), stand=Stand("train.py", 12, "find of generators.py", by_probe=True))
    assert "while the probe itself was at work in it (in find of generators.py, called at train.py:12)" in why[1]
    assert why[1].endswith("allow more time")


def test_a_command_that_brings_its_own_timeout_has_not_crashed() -> None:
    report = {**TIMEOUT, "how": "exited", "code": 124}
    hooked = [{"kind": "hooks", "t": 1.0, "pid": 7}]
    for command, expected in (
        (("timeout", "40", "python", "train.py"), "timeout"),
        (("env", "A=1", "/usr/bin/timeout", "40", "python3", "train.py"), "timeout"),
        (("python", "timeout.py", "timeout"), "crashed"),
    ):
        assert judge(report, hooked, "", Limits(seconds=60), command=command)[0] == expected


@pytest.mark.parametrize(("first_step", "runs"), [(1.0, 2), (9.0, 1)])
def test_an_experiment_is_not_begun_where_the_program_would_not_come_to_train(
    first_step: float, runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []

    def launch(command: list[str], experiment: dict[str, Any], **more: Any) -> Run:
        told.append({**experiment, "limit": more["limits"].seconds})
        tick = {"kind": "tick", "n": 9, "losses": [], "lr": {}, "t": first_step, "pid": 1}
        return Run(tuple(command), "", tmp_path, "stopped", "enough", 0, events=(tick,))

    monkeypatch.setattr(launcher, "launch", launch)
    only = frozenset({"learning_rate", "overfit_one_batch"})
    report = run_probes(Request(("python", "train.py"), only=only, seconds=10.0))
    assert len(told) == runs
    assert told[0]["seconds"] < 6 and 9 < told[0]["limit"] <= 10 and told[0]["until"] < told[0]["limit"]
    skipped = [one for one in report.findings if "the experiment overfit was not run: 10 of 10 s" in one.message]
    assert len(skipped) == 2 - runs
