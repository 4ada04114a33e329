"""First non-finite operation: small real training programs, each with one fault (or none), run with the runtime inside.

In the programs `# expect: OP` marks the line and operation that must be named, `# then: OP` a later link of the chain.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from probed import Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding
from trainsleuth.ledger import update
from trainsleuth.probes import first_nonfinite, parameter_table, step_trace
from trainsleuth.trace import Trace
from trainsleuth.triage import cause_first

HERE = Path(__file__).parent
PROGRAMS = HERE / "targets" / "nonfinite"
OBSERVE = {"listeners": ["trace", "losses", "parameters", "nonfinite"], "steps": 200, "stop_at_nonfinite": True}

# program -> (where it is noticed, how the origin is found, step)
BROKEN = {
    "log_of_zero": ("loss", "replay", 12),
    "exp_overflow": ("loss", "replay", 9),
    "masked_row": ("loss", "replay", 11),
    "sqrt_backward": ("gradient", "replay", 8),
    "log_under_where": ("gradient", "replay", 6),
    "custom_kl": ("loss", "re-entry", 103),
    "nan_row": ("loss", "replay", 26),
    "nan_parameter": ("loss", "replay", 50),
    "minibatches_by_hand": ("loss", "re-entry", 17),
    "accumulation": ("gradient", "replay", 6),
    "teacher": ("loss", "replay", 6),
    "batch_norm": ("loss", "replay", 7),
    "poisoned_statistics": ("loss", "replay", 7),
    "gan": ("loss", "re-entry", None),
    "policy_ratio": ("loss", "re-entry", 16),
    "loss_inside": ("loss", "replay", 5),
    "checkpointed": ("gradient", "replay", 5),
    "by_hand": ("loss", "re-entry", None),
    "by_hand_backward": ("gradient", "re-entry", 7),
    "step_breaks_weights": ("loss", "replay", 1),
    "scaler_collapse": ("gradient", "replay", None),
    "half_precision": ("loss", "replay", 4),
    "diverges": ("loss", "re-entry", None),
    "crash": ("output", "replay", 9),
    "forward_only": ("output", "replay", 0),
    "hf_trainer": ("loss", "replay", None),
    "lightning_loop": ("gradient", "re-entry", None),
}
NEEDS = {"hf_trainer": "transformers", "lightning_loop": "lightning"}
HEALTHY = ["healthy_scaler", "healthy_masks", "healthy_checkpoint", "healthy_penalty"]


COUNTED = """import torch

net = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.LayerNorm(16), torch.nn.Linear(16, 1))
{before}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(4, 16)).pow(2).mean().backward()
    optimizer.step()
"""


Ran = Callable[..., tuple[Trace, dict[str, Any]]]


@pytest.fixture(scope="module")
def ran(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """`ran(program, **experiment)`: what a program told and how it ended; one run answers all that ask the same."""

    @cache
    def ran(program: str, **experiment: Any) -> tuple[Trace, dict[str, Any]]:
        return host.run(PROGRAMS / f"{program}.py", tmp_path_factory.mktemp(program), {**OBSERVE, **experiment})

    return ran


def marks(program: str, word: str) -> list[tuple[int, str]]:
    """(line, operation) of the marks in a program."""
    lines = (PROGRAMS / f"{program}.py").read_text().splitlines()
    found = [(number, re.search(rf"# {word}: (\w+)", text)) for number, text in enumerate(lines, 1)]
    return [(number, match[1]) for number, match in found if match]


def only(trace: Trace) -> Finding:
    findings = [f for f in first_nonfinite.probe(trace) if f.severity != "note" or f.outcome != "fail"]
    assert len(findings) == 1, findings
    return findings[0]


@pytest.mark.parametrize("program", one_in(3, BROKEN))
def test_names_the_operation_and_its_line(ran: Ran, program: str) -> None:
    if program in NEEDS and importlib.util.find_spec(NEEDS[program]) is None:
        pytest.skip(f"{NEEDS[program]} is not installed")
    trace, ended = ran(program)
    assert len(trace.events("nonfinite")) == 1, ended
    event = trace.events("nonfinite")[0]
    noticed, found_by, step = BROKEN[program]
    assert (event["noticed"], event["found_by"], event["failures"]) == (noticed, found_by, [])
    assert step is None or event["n"] == step
    finding = only(trace)
    [(line, operation)] = marks(program, "expect")
    assert (finding.outcome, finding.severity, finding.place) == ("fail", "error", f"{program}.py:{line}")
    assert operation in (event["chain"][0].get("op"), event["chain"][0].get("source"))
    for line, operation in marks(program, "then"):
        assert any(link.line == line and link.why.startswith(operation) for link in finding.chain)


@pytest.mark.parametrize("program", HEALTHY)
def test_stays_silent_on_healthy_programs(ran: Ran, program: str) -> None:
    trace, ended = ran(program)
    assert ended["code"] == 0, ended["output"]
    assert not trace.events("nonfinite")
    assert only(trace).outcome == "pass"
    assert [finding.message for finding in probes.judge("observe", trace) if finding.is_alarm] == []


@pytest.mark.parametrize(
    "before",
    [
        "net(torch.full((2, 16), 3e38))",  # overflows, as uninitialised memory does where operations are counted
        "net(torch.full((2, 16), float('nan')))",
        "with torch.no_grad():\n    net(torch.full((2, 16), 3e38))",
    ],
)
def test_a_forward_ahead_of_the_training_ends_nothing(host: Host, tmp_path: Path, before: str) -> None:
    (tmp_path / "counted.py").write_text(COUNTED.format(before=before))
    trace, ended = host.run(tmp_path / "counted.py", tmp_path, OBSERVE)
    assert (ended["code"], trace.steps, only(trace).outcome) == (0, 3, "pass"), ended


def test_a_scaler_that_skips_its_first_steps_is_normal(ran: Ran) -> None:
    trace, _ = ran("healthy_scaler")
    assert only(trace).measured["skipped_by_scaler"] == 10
    assert "skipped 10 steps" in only(trace).message


def test_says_so_when_it_does_not_happen_again(ran: Ran) -> None:
    trace, _ = ran("once_only")
    finding = only(trace)
    assert (finding.outcome, finding.severity, finding.place) == ("fail", "warning", "once_only.py:10")
    assert finding.measured == {"step": 7, "attempts": 8}
    assert "did not happen again" in finding.message and "once_only.py:12" in finding.message
    assert "DivBackward0 at once_only.py:10 (other with 1 zero)" in finding.message


def test_a_bad_row_of_data_is_named(ran: Ran) -> None:
    finding = only(ran("nan_row")[0])
    assert (finding.family, finding.measured["row"], finding.suspects) == ("data", 1, ("bad-data-values",))
    assert "argument 'features' of Net held 1 NaN before, first in row 1" in finding.message


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("nan_parameter", "parameter 2.weight of Sequential held 1 NaN before; no gradient was bad until then"),
        ("poisoned_statistics", "buffer 0.running_var of Sequential held 1 NaN before"),
        ("step_breaks_weights", "parameter weight of Linear held 3 NaN before; no gradient was bad until then"),
    ],
)
def test_bad_parameters_and_buffers_are_named(ran: Ran, program: str, words: str) -> None:
    assert words in only(ran(program)[0]).message


def test_the_bad_micro_batch_is_named(ran: Ran) -> None:
    trace, _ = ran("accumulation")
    assert trace.events("nonfinite")[0]["micro"] == 1
    assert "gradient of backward 2 of the step" in only(trace).message


def test_tells_module_and_values(ran: Ran) -> None:
    message = only(ran("log_of_zero")[0]).message
    assert "log at log_of_zero.py:13 in Net made 1 -inf from self [8, 6] in [0, 1.085] with 1 zero" in message
    assert "native_layer_norm at log_of_zero.py:14 in Net.norm made 6 NaN of it" in message


def test_a_whole_masked_row_is_explained(ran: Ran) -> None:
    assert "a whole row is -inf" in only(ran("masked_row")[0]).message


def test_divergence_points_at_the_learning_rate(ran: Ran) -> None:
    finding = only(ran("diverges")[0])
    assert finding.suspects[0] == "learning-rate-too-high" and "largest float32" in finding.message


def test_divergence_on_sums_of_gradients_points_at_the_sum_first(ran: Ran) -> None:
    trace, _ = ran("diverges_on_sums")
    told = [f for probe in (first_nonfinite, parameter_table, step_trace) for f in probe.probe(trace) if f.is_alarm]
    assert [set(f.suspects) >= {"learning-rate-too-high", "accumulation-scale"} for f in told] == [True, True, False]
    hypotheses = update(told)
    assert hypotheses[0].id == "accumulation-scale" and hypotheses[0].credence.middle > 0.5
    assert cause_first(told, hypotheses)[0].by == "probe:step_trace"


def test_half_precision_is_told_with_its_limit(ran: Ran) -> None:
    assert "6.55e+04, the largest float16" in only(ran("half_precision")[0]).message


def test_losses_that_no_backward_uses_are_a_note(ran: Ran) -> None:
    trace, _ = ran("healthy_masks")
    notes = [f for f in first_nonfinite.probe(trace) if f.outcome == "fail"]
    assert [(f.severity, f.place) for f in notes] == [
        ("note", "healthy_masks.py:20"),
        ("note", "healthy_masks.py:26"),
    ]
    assert not any(f.is_alarm for f in notes)


@pytest.mark.parametrize("program", ["custom_kl", "sqrt_backward", "batch_norm", "gan"])
def test_the_program_can_run_on(ran: Ran, program: str) -> None:
    trace, ended = ran(program, stop_at_nonfinite=False)
    assert ended["code"] == 0, ended["output"]
    assert [event["found_by"] for event in trace.events("nonfinite")] == [BROKEN[program][1]]
    assert [event["reason"] for event in trace.events("finish")] in ([], ["steps"])


def test_without_waiting_for_the_device_only_the_step_is_told(ran: Ran) -> None:
    trace, _ = ran("sqrt_backward", sync=False)
    finding = only(trace)
    assert finding.outcome == "fail" and "one step late" in finding.message
    assert finding.measured["step"] == BROKEN["sqrt_backward"][2]


@pytest.mark.parametrize("program", ["healthy_masks", "healthy_checkpoint"])
def test_watching_changes_no_number(ran: Ran, program: str) -> None:
    def losses(*listeners: str) -> list[Any]:
        return [tick["losses"] for tick in ran(program, listeners=listeners)[0].events("tick")]

    assert losses("trace") == losses("trace", "nonfinite") != []


@pytest.mark.twins
def test_of_two_ranks_the_one_that_made_it_names_it(host: Host, tmp_path: Path) -> None:
    other = Host()  # both run at once
    folders = [tmp_path / "0", tmp_path / "1"]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor() as pool:
        group = {"WORLD_SIZE": "2", "MEETING": str(tmp_path / "meeting")}
        ranks = [
            pool.submit(by.run, PROGRAMS / "two_ranks.py", folder, OBSERVE, tmp_path, RANK=folder.name, **group)
            for by, folder in zip((host, other), folders, strict=True)
        ]
        answers = [rank.result() for rank in ranks]
    other.end()
    assert [ended["code"] for _, ended in answers] == [0, 0], answers
    silent, told = (only(trace) for trace, _ in answers)
    [(line, _)] = marks("two_ranks", "expect")
    assert (silent.outcome, told.outcome, told.place) == ("skip", "fail", f"two_ranks.py:{line}")
    assert "another rank found it" in silent.message


def test_nothing_observed_is_open() -> None:
    assert only(Trace(0, None, ())).outcome == "open"
