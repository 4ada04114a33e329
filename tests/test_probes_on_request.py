"""Probes that need a run of their own: healthy programs pass, a planted fault is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from probed import HERE, Host, edited

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

TABLE = HERE / "targets" / "questions" / "table.py"
SHUFFLED = (
    (
        "TensorDataset((inputs - mean) / std, target)",
        "TensorDataset(((inputs - mean) / std)[torch.randperm(480)], target)",
    ),
)
BY_HEART = (
    ("rows(480, 1)", "rows(240, 1)"),
    (
        "TensorDataset((inputs - mean) / std, target)",
        "TensorDataset(((inputs - mean) / std)[torch.randperm(240)], target)",
    ),
    ("batch_size=24", "batch_size=6"),
    ("nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32)", "nn.Linear(6, 256), nn.ReLU(), nn.Linear(256, 32)"),
    ("torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)", "torch.optim.Adam(model.parameters(), lr=0.01)"),
    ("step_size=2", "step_size=40"),
    ("range(4)", "range(60)"),
)
TOO_FAST = (("lr=0.02", "lr=20.0"), ("momentum=0.9", "momentum=0.0"))
CENTRED = """class Centred(nn.Module):
    mean = torch.zeros(32)

    def forward(self, x):
        self.mean = 0.5 * self.mean + 0.5 * x.mean(0).detach()
        return x - self.mean


model = """
OUTSIDE = (("model = ", CENTRED), ("nn.Linear(6, 32), nn.ReLU()", "nn.Linear(6, 32), Centred()"))
UNSEEDED = (("train_set = ", "inputs += __import__('random').random()\ntrain_set = "),)
EVERY = 4  # batch of the first epoch is kept back by the runtime
NO_SEED = (("torch.manual_seed(0)", "torch.seed()"),)


def run(host: Host, folder: Path, experiment: str, edits: Any = (), **more: Any) -> Trace:
    program = edited(TABLE, edits, folder / "program")
    trace, ended = host.run(program, folder, {**probes.EXPERIMENTS[experiment], **more})
    assert not trace.hooks_missing, ended
    return trace


def only(findings: Iterator[Finding]) -> Finding:
    [finding] = findings
    return finding


def test_pairs_that_fit_matter(host: Host, tmp_path: Path) -> None:
    finding = only(probes.judge("pairing", run(host, tmp_path, "pairing", steps=76)))
    assert finding.outcome == "pass"
    assert finding.measured["mixed"] > 2 * finding.measured["real"]  # type: ignore[operator]


def test_a_program_that_ends_before_the_comparison_gets_a_step_that_helps(host: Host, tmp_path: Path) -> None:
    finding = only(probes.judge("pairing", run(host, tmp_path, "pairing")))
    assert finding.outcome == "open" and "the program ended by itself: 80 steps were seen" in finding.message
    assert finding.next.startswith("let it train for more epochs, or give --steps 80"), finding.next
    assert only(probes.judge("pairing", run(host, tmp_path, "pairing", steps=80))).outcome == "pass"


def test_targets_shuffled_apart_are_found(host: Host, tmp_path: Path) -> None:
    finding = only(probes.judge("pairing", run(host, tmp_path, "pairing", SHUFFLED, steps=76)))
    assert (finding.outcome, finding.path, finding.line) == ("fail", "table.py", 31)
    assert "targets-misaligned-with-inputs" in finding.suspects


TOWERS = """class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(6, 8), nn.Linear(1, 8)

    def forward(self, one, other):
        return self.left(one) @ self.right(other).T


model = """


def test_two_towers_that_are_moved_together_decide_nothing(host: Host, tmp_path: Path) -> None:
    edits = (
        ("model = ", TOWERS + "Towers() if True else "),
        ("loss = criterion(model(x), y)", "loss = nn.functional.cross_entropy(model(x, y), torch.arange(len(x)))"),
        ("error = sum(criterion(model(x), y).item() for x, y in val_loader) / len(val_loader)", "error = 0"),
    )
    finding = only(probes.judge("pairing", run(host, tmp_path, "pairing", edits, steps=76)))
    assert finding.outcome == "open" and "equal to rounding" in finding.message, finding


def test_wrong_pairs_learned_by_heart_do_not_pass(host: Host, tmp_path: Path) -> None:
    finding = only(probes.judge("pairing", run(host, tmp_path, "pairing", BY_HEART, steps=700)))
    assert finding.outcome == "fail" and "learned by heart" in finding.message, finding.message
    assert finding.measured["mixed_known"] > 2 * finding.measured["real_known"]  # type: ignore[operator]


def test_training_away_from_the_pairs_is_told(host: Host, tmp_path: Path) -> None:
    uphill = (
        ("inputs, target.unsq", "inputs, (target - target.mean()).unsq"),
        ("momentum=0.9)", "momentum=0.9, maximize=True)"),
        ("nn.Linear(32, 1))", "nn.Linear(32, 1), nn.Tanh())"),
    )
    finding = only(probes.judge("pairing", run(host, tmp_path, "pairing", uphill, steps=76)))
    assert finding.outcome == "fail" and finding.message.startswith("mixed-up pairs do better"), finding.message
    assert finding.measured["mixed"] < finding.measured["real"]  # type: ignore[operator]
    assert "loss-below-bound" in finding.suspects


def test_pairs_that_no_loader_serves_pass_with_low_confidence(host: Host, tmp_path: Path) -> None:
    whole = (("for x, y in loader:", "for x, y in [train_set[:48], train_set[48:96]] * 10:"),)
    finding = only(probes.judge("pairing", run(host, tmp_path, "pairing", whole, steps=76)))
    assert (finding.outcome, finding.confidence) == ("pass", "low") and "none could be kept back" in finding.message


def test_steps_before_the_first_batch_is_kept_back_are_those_of_the_plain_run(host: Host, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    kept = [event["losses"] for event in run(host, tmp_path, "pairing", steps=40).events("paired")][: EVERY - 1]
    plain = [tick["losses"] for tick in run(host, tmp_path / "plain", "repeat", steps=28).events("tick")]
    assert kept == plain[: EVERY - 1]


def test_state_dicts_are_enough_for_a_plain_program(host: Host, tmp_path: Path) -> None:
    finding = only(probes.judge("resume", run(host, tmp_path, "resume")))
    assert finding.outcome == "pass", finding.message
    assert "Sequential" in finding.message and "SGD" in finding.message


def test_state_outside_of_state_dicts_is_found(host: Host, tmp_path: Path) -> None:
    finding = only(probes.judge("resume", run(host, tmp_path, "resume", OUTSIDE)))
    assert (finding.outcome, finding.severity) == ("fail", "warning")
    assert "Sequential.1.mean changed meanwhile and is in no state dict" in finding.message


def test_a_good_rate_lies_below_where_the_loss_blows_up(host: Host, tmp_path: Path) -> None:
    finding = only(probes.judge("sweep", run(host, tmp_path, "sweep", steps=76)))
    assert finding.outcome == "pass"
    assert finding.measured["own_rate"] == pytest.approx(0.02)
    assert finding.measured["blew_up_at"] > 0.02  # type: ignore[operator]


def test_a_rate_that_is_too_large_is_found(host: Host, tmp_path: Path) -> None:
    finding = only(probes.judge("sweep", run(host, tmp_path, "sweep", TOO_FAST, steps=76)))
    assert (finding.outcome, finding.suspects) == ("fail", ("learning-rate-too-high",))
    assert finding.measured["own_rate"] == pytest.approx(20.0)


def twice(host: Host, folder: Path, edits: Any = ()) -> Finding:
    traces = []
    for name in ("one", "two"):
        (folder / name).mkdir()
        traces.append(run(host, folder / name, "repeat", edits))
    return only(probes.judge_together("repeat", traces))


def test_a_seeded_program_computes_the_same_twice(host: Host, tmp_path: Path) -> None:
    finding = twice(host, tmp_path)
    assert (finding.outcome, finding.measured["steps"]) == ("pass", 12)


def test_randomness_that_torch_does_not_seed_is_found(host: Host, tmp_path: Path) -> None:
    finding = twice(host, tmp_path, UNSEEDED)
    assert (finding.outcome, finding.severity) == ("fail", "warning")
    assert "what enters the model differs first, though torch was seeded at table.py:15" in finding.message


def test_without_a_seed_a_difference_is_no_alarm(host: Host, tmp_path: Path) -> None:
    finding = twice(host, tmp_path, NO_SEED)
    assert (finding.outcome, finding.severity) == ("fail", "note")
    assert "the parameters at the start differs first" in finding.message


@pytest.mark.parametrize("experiment", ["pairing", "resume", "sweep"])
def test_nothing_observed_is_open(experiment: str) -> None:
    assert [finding.outcome for finding in probes.judge(experiment, Trace(0, None, ()))] == ["open"]
