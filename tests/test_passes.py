"""A probe that had no chance to fail does not pass: it is open, and says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probed import HERE, Host, edited
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

PROGRAMS = HERE / "targets" / "questions"
HEAD = "return self.head(x)"
BY_AUTOGRAD = """
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(20):
    x = torch.randn(8, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    for parameter, gradient in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
        parameter.grad = gradient
    optimizer.step()
"""
NO_LOADER = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Dropout(0.5), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

def batch():
    x = torch.randn(8, 4)
    return x, x.sum(1, keepdim=True)

for step in range(40):
    if step % 10 == 0:
        with torch.no_grad():
            x, y = batch()
            print(torch.nn.functional.mse_loss(model(x), y).item())
    x, y = batch()
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
# program or its text, edits, steps, probe, words of its reason
UNSEEN: dict[str, tuple[str, Any, int, str, str]] = {
    "batch mates that are all the same": (
        "table", (("criterion(model(x), y)\n", "criterion(model(x[:1].expand(len(x), -1)), y)\n"),), 20, "independence", "are all the same",
    ),
    "nothing moves the output": (
        "letters", ((HEAD, "return self.head(x * 0.0)"),), 20, "independence", "nothing could move it",
    ),
    "next to nothing moves the output": (
        "letters", ((HEAD, "return self.head(x * 1e-7) + 1.0"),), 20, "input_matters", "next to nothing",
    ),
    "nor do later tokens": (
        "letters", ((HEAD, "return self.head(x * 0.0)"),), 20, "independence", "no output moves when later tokens change",
    ),
    "training mode is never switched on": (
        "pictures", (("        model.train()\n", ""), ("    for epoch in range(3):", "    model.eval()\n    for epoch in range(3):")),
        200, "modes", "whether that is meant is open",
    ),
    "nobody knows what the calls in training mode are for": (
        NO_LOADER, (), 40, "modes", "whether those in training mode evaluate is open",
    ),
    "the run ended before an evaluation": ("pictures", (), 10, "modes", "whether evaluation turns them off is open"),
    "few looks at silent units": (
        "pictures", (("F.relu(self.norm(self.conv(x)))", "F.relu(self.norm(self.conv(x)) - 50.0)"),),
        2, "activations", "8 of 8 were never above zero, but only",
    ),
    "gradients that come from no backward": (BY_AUTOGRAD, (), 20, "step_trace", "no backward was seen between its steps"),
    "two steps": ("table", (), 2, "step_trace", "more than 2 steps are needed"),
    "two batches": ("table", (), 2, "batch_as_seen", "do not show whether they repeat"),
    "a rate of zero": ("table", (("lr=0.02", "lr=0.0"),), 20, "parameter_table", "nothing has moved yet"),
    "a loss that is no number": (
        "table", (("criterion(model(x), y)\n", "criterion(model(x), y * float('nan'))\n"),), 20, "loss_contract", "its first value is nan",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, UNSEEN))
def test_what_was_not_seen_is_open(host: Host, tmp_path: Path, name: str) -> None:
    source, edits, steps, probe, words = UNSEEN[name]
    program = tmp_path / "program.py"
    if source.startswith("\n"):
        program.write_text(source)
    else:
        program = edited(PROGRAMS / f"{source}.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, {**probes.EXPERIMENTS["observe"], "steps": steps})
    said = list(probes.judge("observe", trace, frozenset({probe})))
    assert [one for one in said if one.outcome == "open" and words in one.message], (said, ended["output"][-500:])


OWN_LOSS = """class Loss(nn.Module):
    def forward(self, given, wished):
        return (given - wished).square().mean()


criterion = Loss()
"""


def test_a_loss_module_is_no_model_and_our_own_looks_detach_nothing(host: Host, tmp_path: Path) -> None:
    program = edited(PROGRAMS / "table.py", (("criterion = nn.MSELoss()\n", OWN_LOSS),), tmp_path / "program")
    trace, ended = host.run(program, tmp_path, {**probes.EXPERIMENTS["observe"], "steps": 20})
    assert {event["cls"] for event in trace.events("root")} == {"Sequential", "Loss"}, ended["output"]
    told = list(probes.judge("observe", trace, frozenset({"modes", "shapes", "batch_as_seen"})))
    assert len(told) == 3 and not [one for one in told if "Loss" in one.message]
    assert not trace.events("detach")


def test_a_model_that_moves_its_inputs_itself_may_be_asked_for_them(host: Host, tmp_path: Path) -> None:
    edits = (
        ("        x = self.embed(idx) +", "        idx = F.pad(idx[:, :-1], (1, 0))\n        x = self.embed(idx) +"),
        ("logits.flatten(0, 1), y.flatten()", "logits.flatten(0, 1), x.flatten()"),
    )
    program = edited(PROGRAMS / "letters.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, {**probes.EXPERIMENTS["observe"], "steps": 20})
    (model,) = trace.events("inspected")
    assert model["copies"] and model["causal"] and not model["own_moved"], ended["output"]
    assert [said.outcome for said in probes.judge("observe", trace, frozenset({"independence"}))] == ["pass"]


def test_a_tagger_may_see_the_whole_sentence(host: Host, tmp_path: Path) -> None:
    """Its targets are no next tokens, and no copies."""
    edits = (
        ("tril() == 0", "tril() < 0"),
        ("logits.flatten(0, 1), y.flatten()", "logits.flatten(0, 1), (x.flatten() * 7 + 3) % len(letters)"),
    )
    program = edited(PROGRAMS / "letters.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, {**probes.EXPERIMENTS["observe"], "steps": 20})
    assert [event["causal"] for event in trace.events("inspected")] == [None], ended["output"]


def test_gradients_without_a_loss_are_told_apart(host: Host, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(BY_AUTOGRAD)
    trace, _ = host.run(tmp_path / "program.py", tmp_path, {**probes.EXPERIMENTS["observe"], "steps": 20})
    (said,) = probes.judge("observe", trace, frozenset({"first_nonfinite"}))
    assert said.message.startswith("gradients were finite over") and said.message.endswith("no loss was seen")
    assert (said.outcome, said.confidence) == ("pass", "low")


def _rank(number: int, sums: list[tuple[str, int]]) -> Trace:
    told = [
        {
            "kind": "checksum",
            "n": n + 1,
            "parameters": code,
            "batch": batch,
            "elements": 10,
            "sharded": False,
            "roots": [],
        }
        for n, (code, batch) in enumerate(sums)
    ]
    return Trace(number, number, tuple(told))


@pytest.mark.parametrize(
    ("one", "other", "outcome", "words"),
    [
        ([("a", 1), ("b", 3)], [("a", 2), ("b", 4)], "pass", "batches of its own"),
        ([("a", 1), ("a", 3)], [("a", 2), ("a", 4)], "open", "were not seen to change"),
        ([("a", 0), ("b", 0)], [("a", 0), ("b", 0)], "open", "no batch of plain tensors"),
        ([("a", 1), ("b", 0)], [("a", 1), ("b", 0)], "open", "a batch of its own"),
    ],
)
def test_ranks_agree_where_they_could_differ(
    one: list[tuple[str, int]], other: list[tuple[str, int]], outcome: str, words: str
) -> None:
    found = list(probes.judge_together("observe", [_rank(0, one), _rank(1, other)], frozenset({"ranks_agree"})))
    assert [(said.outcome, words in said.message) for said in found] == [(outcome, True)]


def _told(experiment: str, probe: str, told: list[dict[str, Any]]) -> Finding:
    trace = Trace(0, None, tuple(told))
    (said,) = [*probes.judge(experiment, trace, frozenset({probe}))]
    return said


def test_losses_that_are_no_numbers_do_not_show_a_restart() -> None:
    event = {
        "kind": "resumed",
        "n": 6,
        "steps": 5,
        "any_inputs": True,
        "same_inputs": True,
        "outside": [],
        "owners": ["Adam"],
    }
    for losses, words in ((["nan"] * 5, "not finite"), ([], "no loss was seen")):
        said = _told("resume", "resume", [{**event, "first": losses, "second": losses}])
        assert said.outcome == "open" and words in said.message


def test_a_loss_that_no_rate_moves_shows_no_range() -> None:
    swept = [{"kind": "swept", "n": n, "rate": 1e-4 * 1.1**n, "factor": 1e-2 * 1.1**n, "loss": 2.5} for n in range(120)]
    steps = [{"kind": "op", "op": "step", "optimizer": 0, "site": "train.py:9"}]
    said = _told("sweep", "lr_range", [*steps, *swept])
    assert said.outcome == "open" and "fell at no rate" in said.message


def test_two_runs_of_which_little_could_be_read_stay_open() -> None:
    prints = [{"kind": "prints", "n": n, "rows": [["input", "Net", "ab"], ["loss", "loss", "cd"]]} for n in range(12)]
    pair = [Trace(0, None, tuple(prints)), Trace(1, None, tuple(prints))]
    (said,) = probes.judge_together("repeat", pair, frozenset({"determinism"}))
    assert said.outcome == "open" and "no gradient and no parameter could be read" in said.message


def test_a_softmax_over_axis_0_is_not_ruled_out_unseen() -> None:
    row = ["head", "Linear", ["[8, 4]"], ["[8, 2]"], "float32", None, 1.0, 2.0]
    told = [
        {"kind": "layers", "root": 0, "rows": [row]},
        {"kind": "activation", "fn": "softmax", "axis": 0, "shape": [8, 2], "site": "net.py:7", "lib": None},
    ]
    found = list(probes.judge("observe", Trace(0, None, tuple(told)), frozenset({"shapes"})))
    assert [(said.outcome, said.place) for said in found] == [("open", "net.py:7"), ("pass", "")]


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ([0.1] * 6, "stays at 0.1 in 6 steps"),
        ([0.1, 0.2, 0.3, 0.4, 0.3, 0.2], "goes from 0.1 over 0.4 to 0.2 in 6 steps"),
        ([0.4, 0.4, 0.3, 0.3, 0.2, 0.1], "goes from 0.4 to 0.1 in 6 steps"),
    ],
)
def test_the_course_of_the_rate_is_told_without_what_goes_by_itself(rates: list[float], words: str) -> None:
    born = {"kind": "optimizer", "optimizer": 0, "cls": "Adam", "site": "net.py:7"}
    ticks = [{"kind": "tick", "n": n, "lr": {"0": [rate]}} for n, rate in enumerate(rates)]
    step = {"kind": "op", "op": "step", "optimizer": 0}
    (told,) = probes.judge("observe", Trace(0, None, (born, step, *ticks)), frozenset({"learning_rate"}))
    assert told.outcome == "pass" and words in told.message


def test_a_step_that_calls_modules_more_often_says_so() -> None:
    timing = {"kind": "timing", "steps": 100, "step": 0.02, "mean": 0.02, "mean_wait": 0.0, "asynchronous": False,
              "parts": {"wait": 0.0, "forward": 0.01}, "quarters": [0.01, 0.02, 0.03, 0.04]}  # fmt: skip
    for calls, words in (([9, 12, 15, 19], "calls modules 9, 12, 15, 19 times"), ([9, 9, 9, 9], "100 steps; expected")):
        trace = Trace(0, None, ({**timing, "calls": calls},))
        note = next(iter(probes.judge("observe", trace, frozenset({"throughput"}))))
        assert words in note.message and ("adaptive" in note.next) is (calls[0] != calls[-1])
    (told,) = probes.judge(
        "observe", Trace(0, None, ({**timing, "calls": [9, 20, 31, 40]},)), frozenset({"throughput"})
    )
    assert told.outcome == "pass" and "it grows with its calls of modules, 9 to 40" in told.message


GRAPH = """
import torch
import torch.nn.functional as F


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(8, 16), torch.nn.Linear(16, 3)

    def forward(self, x, neighbours):
        x = F.dropout(F.relu(neighbours @ self.first(x)), 0.5, training=self.training)
        return F.log_softmax(neighbours @ self.last(x), 1)


torch.manual_seed(0)
x, y = torch.randn(30, 8), torch.randint(3, (30,))
neighbours = (torch.eye(30) + (torch.rand(30, 30) < 0.1)).MAKES
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    model.train()
    optimizer.zero_grad()
    F.nll_loss(model(x, neighbours)[:20], y[:20]).backward()
    optimizer.step()
    EVAL
    with torch.no_grad():
        print(F.nll_loss(model(x, neighbours)[20:], y[20:]).item())
"""


@pytest.mark.parametrize("makes", ["to_sparse()", "to_sparse_csr()"])
@pytest.mark.parametrize(("evaluates", "outcome"), [("model.eval()", "pass"), ("pass", "open")])
def test_a_sparse_argument_stops_no_look_at_the_model(
    host: Host, tmp_path: Path, makes: str, evaluates: str, outcome: str
) -> None:
    (tmp_path / "graph.py").write_text(GRAPH.replace("MAKES", makes).replace("EVAL", evaluates))
    trace, ended = host.run(tmp_path / "graph.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    assert not trace.hooks_missing and trace.events("inspected"), (trace.hooks_missing, ended["output"])
    (said,) = probes.judge("observe", trace, frozenset({"modes"}))
    assert said.outcome == outcome and "1 functional dropout layers depend on it" in said.message
    (said,) = probes.judge("observe", trace, frozenset({"independence"}))
    assert said.outcome == "open" and "is given a graph" in said.message


@pytest.mark.parametrize(
    ("listener", "probe", "words"),
    [
        ("inspection", "independence", "the probe itself failed (stopped in close: no)"),
        ("inspection", "modes", "functional dropout could not be watched"),
        ("layers", "shapes", "the probe itself failed"),
        ("trace", "step_trace", "the probe itself failed"),
    ],
)
def test_a_listener_that_failed_leaves_its_questions_open(
    host: Host, tmp_path: Path, listener: str, probe: str, words: str
) -> None:
    (tmp_path / "graph.py").write_text(GRAPH.replace("MAKES", "clone()").replace("EVAL", "pass"))
    trace, _ = host.run(tmp_path / "graph.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    kept = tuple(event for event in trace.told if event["kind"] not in ("inspected", "not_inspected"))
    failed = {"kind": "hooks", "hooks": {f"listener {listener}": "stopped in close: no"}}
    said = list(probes.judge("observe", Trace(0, None, (*kept, failed)), frozenset({probe})))
    assert said and all(one.outcome != "pass" for one in said) and any(words in one.message for one in said), said


PUT_BACK = """
import torch
import torch.nn.functional as F

torch.manual_seed(0)
model = torch.nn.Linear(3072, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(10):
    x, y = torch.randn(16, 3072), torch.randint(10, (16,))
    order = torch.randperm(16)
    made = torch.softmax(model(x[order]), 1)
    zeros = torch.zeros(16, 10, requires_grad=True)
    optimizer.zero_grad()
    F.cross_entropy(zeros.index_add(0, order, made), y).backward()
    optimizer.step()
"""


def test_what_is_put_into_a_leaf_was_made_before_it_and_flat_pictures_are_no_sound(host: Host, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PUT_BACK)
    trace, ended = host.run(tmp_path / "program.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = list(probes.judge("observe", trace, frozenset({"loss_contract", "batch_as_seen"})))
    (alarm,) = [one for one in told if one.is_alarm]
    assert "gets probabilities (made by softmax at program.py:11)" in alarm.message, (told, ended)
    assert not [one for one in told if "clips" in one.message or ".wav" in one.message]
