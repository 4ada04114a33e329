"""Healthy programs that are hard to watch: no alarm, every listener to the end, and nothing of theirs is broken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from probed import HERE, Host, edited
from twins import copied, trainsleuth, tree_hash

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

ROUGH = HERE / "targets" / "rough"
PROGRAMS = (
    "fused_foreach",
    "functional_model",
    "endless_stream",
    "default_device",
    "compiled",
    "fsdp_gloo",
    "own_parameters",
)
LATER = tuple(name for name in probes.EXPERIMENTS if name != "observe")
SAVES = (("    optimizer.step()", "    optimizer.step()\n    torch.save(model.state_dict(), '/dev/null')"),)


def run(host: Host, program: Path, folder: Path, experiment: str, **more: Any) -> Trace:
    folder.mkdir(exist_ok=True)
    trace, ended = host.run(program, folder, {**probes.EXPERIMENTS[experiment], **more})
    assert ended["code"] == 0, ended["output"]
    assert not trace.hooks_missing
    return trace


def alarms(findings: Iterator[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.is_alarm]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rough_program_raises_no_alarm(host: Host, tmp_path: Path, name: str) -> None:
    trace = run(host, ROUGH / f"{name}.py", tmp_path, "observe", steps=40)
    findings = list(probes.judge("observe", trace))
    assert not alarms(iter(findings))
    outcomes = {finding.by: finding.outcome for finding in findings}
    # without a backward() nothing tells where the gradients of a step come from
    traced = "open" if name == "functional_model" else "pass"
    assert (outcomes["probe:step_trace"], outcomes["probe:parameter_table"]) == (traced, "pass")


@pytest.mark.twins
@pytest.mark.parametrize("experiment", LATER)
@pytest.mark.parametrize("name", PROGRAMS)
def test_nor_does_it_under_an_experiment(host: Host, tmp_path: Path, name: str, experiment: str) -> None:
    times = int(probes.EXPERIMENTS[experiment].get("times", 1))
    traces = [run(host, ROUGH / f"{name}.py", tmp_path / str(number), experiment) for number in range(times)]
    together = probes.judge_together(experiment, traces)
    assert not alarms(together) + alarms(probes.judge(experiment, traces[-1]))


def test_sharded_parameters_are_compared_over_two_runs(host: Host, tmp_path: Path) -> None:
    traces = [run(host, ROUGH / "fsdp_gloo.py", tmp_path / part, "repeat") for part in ("one", "two")]
    (finding,) = probes.judge_together("repeat", traces)
    assert (finding.outcome, finding.measured["steps"]) == ("pass", 12)


def test_a_program_may_save_while_one_batch_is_held_still(host: Host, tmp_path: Path) -> None:
    program = edited(ROUGH / "compiled.py", SAVES, tmp_path / "program")
    trace = run(host, program, tmp_path, "overfit", steps=12)
    assert len(trace.events("frozen")) == 12


def test_a_program_that_is_slow_to_start_is_ended_at_a_step(host: Host, tmp_path: Path) -> None:
    trace = run(host, ROUGH / "default_device.py", tmp_path, "observe", until=0.0)
    assert trace.steps == 1 and trace.events("inspected")


def test_a_module_that_prepares_data_is_no_forward(host: Host, tmp_path: Path) -> None:
    clipped = (("return self.pictures[index], ", "return nn.Hardtanh(-9.0, 9.0)(self.pictures[index]), "),)
    program = edited(HERE / "targets" / "questions" / "pictures.py", clipped, tmp_path / "program")
    trace = run(host, program, tmp_path, "observe", steps=10)
    assert len({op["root"] for op in trace.ops("forward")}) == 1


LAUNCHED = {
    "fsdp": "torchrun --nproc-per-node 2 fsdp_gloo.py",
    "isolated": "python -I fused_foreach.py",
    "notebook": "python run_notebook.py",
    "papermill": "papermill train.ipynb out.ipynb",
}
NEEDS = {"notebook": "nbclient", "papermill": "papermill"}


@pytest.mark.twins
@pytest.mark.parametrize("name", LAUNCHED)
def test_a_rough_launch_is_probed(tmp_path: Path, name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="install the frameworks extra")
    folder = copied(ROUGH, tmp_path)
    before = tree_hash(folder)
    words = ("probe", "--only", "step_trace", "--only", "parameter_table", "--format", "json", "--time", "60")
    answer = trainsleuth(*words, "--", *LAUNCHED[name].split(), cwd=folder)
    assert answer.code == 0, answer.output + answer.errors
    assert {f["outcome"] for f in answer.json["findings"]} == {"pass"}
    assert answer.json["examined"]["processes"] == (2 if name == "fsdp" else 1)
    assert tree_hash(folder) == before
