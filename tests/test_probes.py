"""Every observing probe on small programs: silent on the healthy ones, right about each planted fault.

A fault is an edit of a healthy program under targets/questions. One run of a program answers all probes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import HERE, Host, edited, with_edits
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

PROGRAMS = HERE / "targets" / "questions"
HEALTHY = sorted(path.stem for path in PROGRAMS.glob("*.py"))
OBSERVE = dict(probes.EXPERIMENTS["observe"])

MILESTONES = "torch.optim.lr_scheduler.MultiStepLR(optimizer, [8, 15])"

CTC = "F.ctc_loss(logits.transpose(0, 1).log_softmax(-1), y[:, :3].clamp(1), [logits.shape[1]] * len(x), [3] * len(x), zero_infinity=True)"

Edits = tuple[tuple[str, str], ...]
# program, edits, probe that must fail, text of the line it must name, words of its message
FAULTS: dict[str, tuple[str, Edits, str, str, str]] = {
    "every example is the first": (
        "pictures",
        (("return self.pictures[index], self", "return self.pictures[0], self"),),
        "batch_as_seen", "loss = F.cross_entropy(model(pictures)", "rows of 'x' are identical",
    ),
    "the index wraps around": (
        "pictures",
        (("[index], self.labels[index]", "[index % 16], self.labels[index % 16]"), (", shuffle=True", "")),
        "batch_as_seen", "for pictures, labels in loader", "gave the same 16 examples in all 20 batches",
    ),
    "workers read the same stream": (
        "stream",
        (("range(info.id, 320, info.num_workers)", "range(320)"),),
        "batch_as_seen", "in enumerate(loader)", "as often as there are workers",
    ),
    "workers read the same stream of short rows": (
        "stream",
        (("range(info.id, 320, info.num_workers)", "range(320)"), ("6.28, 20)", "6.28, 12)"), ("randn(20, 1", "randn(12, 1"),
         ("torch.sin(times * (1 + label))", "(5 * torch.sin(times * (1 + label))"), ("generator=rng), label", "generator=rng)).round(), label"),
         ("0.2 * torch", "torch")),
        "batch_as_seen", "in enumerate(loader)", "batches again within one pass",
    ),
    "training examples in the evaluation": (
        "pictures",
        (("    model = Net()", "    val_set.pictures[:30] = train_set.pictures[:30]\n    model = Net()"),),
        "batch_as_seen", "right += (model(pictures)", "30 of 96 evaluation examples",
    ),
    "training examples in the evaluation, augmented anew": (
        "pictures",
        (("    model = Net()", "    val_set.pictures[:30] = train_set.pictures[:30]\n    model = Net()"),
         ("return self.pictures[index], self", "return self.pictures[index] + 0.01 * torch.randn(1, 10, 10), self")),
        "batch_as_seen", "for pictures, labels in loader", "30 of 96 examples that the DataLoader over Shapes evaluates",
    ),
    "evaluation without standardising": (
        "table",
        (("TensorDataset((val_inputs - mean) / std, val_target)", "TensorDataset(val_inputs, val_target)"),),
        "batch_as_seen", "error = sum(criterion(model(x)", "expected the same preparation",
    ),
    "a missing value in the evaluation": (
        "table",
        (("TensorDataset((val_inputs - mean) / std, val_target)", "TensorDataset((val_inputs - mean).log() / std, val_target)"),),
        "batch_as_seen", "error = sum(criterion(model(x)", "hold NaN or inf, and no row of training does",
    ),
    "sorted by label": (
        "pictures",
        ((", shuffle=True", ""), ("        self.pictures = 0.5", "        self.labels = self.labels.sort()[0]\n        self.pictures = 0.5"),
         ("torch.randint(3, (count,), generator=rng)", "torch.arange(count) // (count // 2)"), ("batch_size=16", "batch_size=32")),
        "batch_as_seen", "loss = F.cross_entropy(model(pictures)", "sorted by label",
    ),
    "training mode is not restored": (
        "pictures",
        (("    for epoch in range(3):\n        model.train()", "    model.train()\n    for epoch in range(3):"),),
        "modes", "loss = F.cross_entropy(model(pictures)", "from step 20 on",
    ),
    "training mode is not restored after any step": (
        "pictures",
        (("            optimizer.step()\n", "            optimizer.step()\n            evaluate(model, val_loader)\n"),),
        "modes", "loss = F.cross_entropy(model(pictures)", "from step 1 on, training mode in between: 57 calls",
    ),
    "evaluated in training mode": (
        "pictures",
        (("    model.eval()\n    right", "    right"),),
        "modes", "right += (model(pictures)", "is evaluated in training mode",
    ),
    "dropout without regard to the mode": (
        "pictures",
        (("self.head(self.drop(x))", "self.head(F.dropout(x, 0.2))"),),
        "modes", "F.dropout(x, 0.2)", "drops values with probability 0.2",
    ),
    "dead units": (
        "pictures",
        (("F.relu(self.norm(self.conv(x)))", "F.relu(self.norm(self.conv(x)) - 100.0)"),),
        "input_matters", "loss = F.cross_entropy(model(pictures)", "exactly the same of all 16 examples",
    ),
    "an argument that is dropped": (
        "table",
        (("model = nn.Sequential(", "class Conditioned(nn.Sequential):\n    def forward(self, x, context):\n        return super().forward(x)\n\nmodel = Conditioned("),
         ("(model(x), y)", "(model(x, 2 * x + 1), y)")),
        "input_matters", "loss = criterion(model(x, 2 * x + 1), y)", "exchanging 'context' alone among the 24 examples",
    ),
    "rows and channels exchanged": (
        "pictures",
        (("F.max_pool2d(x, 2).flatten(1)", "F.max_pool2d(x, 2).transpose(0, 1).reshape(len(x), -1)"),),
        "independence", "loss = F.cross_entropy(model(pictures)", "mixes examples",
    ),
    "the batch comes second": (
        "stream",
        ((", batch_first=True", ""),),
        "independence", "loss = criterion(model(x), y)", "mixes examples",
    ),
    "no mask": (
        "letters",
        (("tril() == 0", "tril() < 0"),),
        "independence", "logits = model(x)", "sees the future: outputs at 12 of the first 12 positions",
    ),
    "targets that are the inputs": (
        "letters",
        (("F.cross_entropy(logits.flatten(0, 1), y.flatten())", "F.cross_entropy(logits.flatten(0, 1), x.flatten())"),),
        "independence", "logits = model(x)", "learns to copy",
    ),
    "targets that are the inputs, as arguments": (
        "letters",
        (("def forward(self, idx):", "def forward(self, idx, y):"), ("        return self.head(x)\n", "        return F.cross_entropy(self.head(x).flatten(0, 1), y.flatten()), self.head(x)\n"),
         ("    x, y = get_batch()\n    logits = model(x)\n    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())\n", "    x, y = get_batch()\n    loss, _ = model(x, x.clone())\n")),
        "independence", "loss, _ = model(x, x.clone())", "learns to copy",
    ),
    "gradients that vanish with depth": (
        "table",
        (("nn.ReLU(), nn.Linear(32, 32), nn.ReLU()", "*[layer for _ in range(12) for layer in (nn.Sigmoid(), nn.Linear(32, 32))], nn.Sigmoid()"),),
        "parameter_table", "optimizer.step()", "so they hardly learn",
    ),
    "a rate that moves nothing": (
        "pictures",
        (("lr=0.003", "lr=1e-11"),),
        "parameter_table", "optimizer.step()", "none by more than",
    ),
    "accumulation without division": (
        "stream",
        (("criterion(model(x), y) / 2", "criterion(model(x), y)"),),
        "step_trace", "loss.backward()", "steps on the sum of 2 gradients",
    ),
    "accumulation without division of weighted terms": (
        "stream",
        (("nn.CrossEntropyLoss()", 'nn.CrossEntropyLoss(reduction="none")'),
         ("criterion(model(x), y) / 2", "(criterion(model(x), y) * torch.linspace(0.5, 1.0, len(x))).mean()")),
        "step_trace", "loss.backward()", "steps on the sum of 2 gradients",
    ),
    "units that never wake": (
        "pictures",
        (("F.relu(self.norm(self.conv(x)))", "F.relu(self.norm(self.conv(x)) - 50.0)"),),
        "activations", "F.relu(self.norm(self.conv(x)) - 50.0)", "8 of 8 units of relu",
    ),
    "saturated from the start": (
        "table",
        (("nn.ReLU(), nn.Linear(32, 32)", "nn.Tanh(), nn.Linear(32, 32)"), ("(inputs - mean) / std, target", "inputs * 1000, target")),
        "activations", "loss = criterion(model(x), y)", "tanh",
    ),
    "all that the model says is cut off": (
        "table",
        (("        loss = criterion(model(x), y)", "        out = model(x).detach().requires_grad_()\n        loss = criterion(out, y)"),),
        "parameter_table", ".detach().requires_grad_()", "a tensor computed from 6 of them is detached",
    ),
    "the optimizer never steps": (
        "table",
        (("        optimizer.step()\n", ""),),
        "step_trace", "loss.backward()", "never stepped in 80 backward calls",
    ),
    "a copy is evaluated": (
        "pictures",
        (("    for epoch in range(3):", "    import copy\n    best = copy.deepcopy(model)\n    for epoch in range(3):"),
         ("evaluate(model, val_loader)", "evaluate(best, val_loader)")),
        "modes", "right += (model(pictures)", "the Net that trains at",
    ),
    "each epoch keeps its first batch": (
        "table",
        (("    for x, y in loader:", "    x, y = next(iter(loader))\n    for _ in loader:"),),
        "batch_as_seen", "loss = criterion(model(x), y)", "one batch over and over",
    ),
    "one batch of many": (
        "table",
        (("for epoch in range(4):", "x, y = next(iter(loader))\nfor epoch in range(4):"), ("    for x, y in loader:", "    for _ in range(20):")),
        "batch_as_seen", "loss = criterion(model(x), y)", "has more",
    ),
    "sorted by label, classes meet in a batch": (
        "pictures",
        ((", shuffle=True", ""), ("torch.randint(3, (count,), generator=rng)", "torch.randint(3, (count,), generator=rng).sort().values")),
        "batch_as_seen", "loss = F.cross_entropy(model(pictures)", "sorted by label",
    ),
    "targets that never differ": (
        "table",
        (("/ std, target)", "/ std, 0 * target)"),),
        "batch_as_seen", "loss = criterion(model(x), y)", "are 0 throughout",
    ),
    "the mean of the batch is taken off": (
        "pictures",
        (("self.head(self.drop(x))", "self.head(self.drop(x - x.mean(0)))"),),
        "independence", "loss = F.cross_entropy(model(pictures)", "mixes examples",
    ),
    "the first example alone is in all others": (
        "pictures",
        (("self.head(self.drop(x))", "self.head(self.drop(x + 0.1 * x[:1]))"),),
        "independence", "loss = F.cross_entropy(model(pictures)", "mixes examples",
    ),
    "a part cut off": (
        "pictures",
        (("F.relu(self.norm(self.conv(x)))", "F.relu(self.norm(self.conv(x))).detach()"),),
        "parameter_table", ".detach()", "a tensor computed from them is detached",
    ),
    "two parts cut off by one line": (
        "pictures",
        (("        self.norm =", "        self.wide = nn.Conv2d(1, 8, 5, padding=2)\n        self.norm ="),
         ("self.norm(self.conv(x))", "self.norm(sum(part(x).detach() for part in (self.conv, self.wide)))")),
        "parameter_table", ".detach()", "a tensor computed from them is detached",
    ),
    "updates below the rounding": (
        "table",
        (("nn.Linear(32, 1))", "nn.Linear(32, 1)).bfloat16()"), ("model(x)", "model(x.bfloat16()).float()"), ("SGD(model", "Adam(model"), ("lr=0.02, momentum=0.9", "lr=5e-6")),
        "parameter_table", "optimizer.step()", "smaller than the distance to the next number",
    ),
    "weights that decay away": (
        "pictures",
        (("Adam(model.parameters(), lr=0.003", "AdamW(model.parameters(), lr=0.003, weight_decay=100.0"),),
        "parameter_table", "optimizer.step()", "its weight decay is 100",
    ),
    "gradients of exactly zero": (
        "table",
        (("nn.Linear(32, 32), nn.ReLU()", "nn.Linear(32, 32), nn.Threshold(1e4, 0.0)"),),
        "parameter_table", "loss = criterion(model(x), y)", "a gradient of exactly zero",
    ),
    "a wild start": (
        "table",
        (("optimizer = torch", "[p.data.mul_(30) for p in model.parameters()]\noptimizer = torch"),),
        "activations", "model = nn.Sequential", "above 1",
    ),
    "a start at zero": (
        "table",
        (("optimizer = torch", "[p.data.zero_() for p in model.parameters()]\noptimizer = torch"),),
        "activations", "model = nn.Sequential", "with weights of zero",
    ),
    "inputs as they were measured": (
        "table",
        (("(inputs - mean) / std, target", "100 * inputs, target"),),
        "activations", "loss = criterion(model(x), y)", "what enters is not scaled",
    ),
    "half of the loss turned around": (
        "stream",
        (("criterion(model(x), y) / 2", "-criterion(model(x), y) / 2"),),
        "loss_contract", "loss.backward()", "times 0.5",
    ),
    "a sum turned around": (
        "table",
        (("loss = criterion(model(x), y)", "loss = -(criterion(model(x), y) + sum(p.square().sum() for p in model.parameters()))"),),
        "loss_contract", "loss.backward()", "enter it with a minus sign",
    ),
    "a product of pictures and masks without their channel": (
        "table",
        (("loss = criterion(model(x), y)", "loss = criterion(model(x), y) + (model(x).view(-1, 1, 1) * y.view(-1, 1)).mean()"),),
        "loss_contract", "y.view(-1, 1)", "each of 24 predictions meets all 24 targets",
    ),
    "a term read as a number": (
        "table",
        (("loss = criterion(model(x), y)", "size = sum(p.square().sum() for p in model.parameters())\n        loss = criterion(model(x), y) + 0.01 * size.item()"),),
        "loss_contract", "size.item()", "this term trains nothing",
    ),
    "targets of minus one": (
        "table",
        (("nn.MSELoss()", "nn.BCEWithLogitsLoss()"), ("return inputs, target.unsqueeze(1)", "return inputs, target.sign().unsqueeze(1)")),
        "loss_contract", "loss = criterion(model(x), y)", "expected probabilities in [0, 1]",
    ),
    "no score below zero": (
        "pictures",
        (("self.head(self.drop(x))", "F.relu(self.head(self.drop(x)))"),),
        "loss_contract", "loss = F.cross_entropy(model(pictures)", "never negative (made by relu at ",
    ),
    "one prediction for several targets": (
        "table",
        (("return inputs, target.unsqueeze(1)", "return inputs, torch.stack([target, target + 1, target + 2], 1)"),),
        "loss_contract", "loss = criterion(model(x), y)", "one prediction is compared with 3 targets",
    ),
    "rows that met columns before the loss": (
        "table",
        (("loss = criterion(model(x), y)", "residual = model(x)[:, 0] - 0.1 * model(x)\n        loss = criterion(residual, y)"),),
        "loss_contract", "loss = criterion(residual, y)", "values for each of 24 rows, all compared with one target",
    ),
    "probabilities into the loss of CTC": (
        "letters",
        (("F.cross_entropy(logits.flatten(0, 1), y.flatten())", CTC.replace("log_softmax", "softmax")),),
        "loss_contract", "loss = ", "ctc_loss at letters.py",
    ),
    "labels that are the blank of CTC": (
        "letters",
        (("F.cross_entropy(logits.flatten(0, 1), y.flatten())", CTC.replace("clamp(1)", "clamp(0)")),),
        "loss_contract", "loss = ", "which is read as no label",
    ),
    "squashed twice": (
        "table",
        (("nn.Linear(32, 1))", "nn.Linear(32, 1), nn.Sigmoid(), nn.Sigmoid())"),),
        "loss_contract", "", "what another sigmoid has made",
    ),
    "evaluated first, never trained": (
        "pictures",
        (("    for epoch in range(3):\n        model.train()", "    evaluate(model, val_loader)\n    for epoch in range(3):"),),
        "modes", "loss = F.cross_entropy(model(pictures)", "in evaluation mode from the start",
    ),
    "softmax over the batch": (
        "letters",
        (("softmax(dim=-1)", "softmax(dim=0)"), ('float("-inf")', "-1e4")),
        "shapes", "softmax(dim=0)", "the axis of the examples",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def healthy(host: Host, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Trace, list[Finding]]]:
    """Each healthy program once, with what all observing probes say about it."""
    found = {}
    for name in HEALTHY:
        trace, ended = host.run(PROGRAMS / f"{name}.py", tmp_path_factory.mktemp(name), OBSERVE)
        assert ended["code"] == 0, ended["output"]
        found[name] = trace, [*probes.judge("observe", trace), *probes.judge_together("observe", [trace])]
    return found


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_programs_raise_no_alarm(healthy: dict[str, tuple[Trace, list[Finding]]], name: str) -> None:
    trace, findings = healthy[name]
    assert not [finding for finding in findings if finding.is_alarm]
    assert not trace.hooks_missing
    said = {finding.by.partition(":")[2] for finding in findings}
    assert said == {name for name, module in probes.all_probes().items() if module.EXPERIMENT == "observe"}


@pytest.mark.parametrize("fault", one_in(6, FAULTS))
def test_a_fault_is_found_at_its_line(host: Host, tmp_path: Path, fault: str) -> None:
    name, edits, probe, text, words = FAULTS[fault]
    program = edited(PROGRAMS / f"{name}.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    assert not trace.hooks_missing, ended
    judged = list(probes.judge("observe", trace, frozenset({probe})))
    findings = [f for f in judged if f.outcome == "fail"]
    if "meets all" in words and not any(graph["shapes_known"] for graph in trace.events("graph")):
        pytest.skip("this torch (2.0) tells no shapes of a graph")
    assert findings, ended
    assert words in findings[0].message
    assert findings[0].path == program.name
    assert findings[0].line is not None
    assert text in program.read_text().splitlines()[findings[0].line - 1]


LOSS_OF_TABLE = "loss = criterion(model(x), y)"
METRIC = "size = sum(p.square().sum() for p in model.parameters()).item()"
SUMS = (
    "loss = 0.0\n        loss += criterion(model(x), y)",
    "loss = sum([criterion(model(x), y), criterion(model(x), y)])",
    "loss = torch.zeros(())\n        loss = loss + criterion(model(x), y)",
    "loss = (criterion(model(x), y) - 0.05).abs() + 0.05",
    "loss = (torch.log(model(x).sigmoid() + 1e-8) - y).square().mean()",
)


@pytest.mark.parametrize(
    ("name", "edits"),
    one_in(2, [
        ("letters", (("F.cross_entropy(logits.flatten(0, 1), y.flatten())", CTC),)),
        ("letters", (("F.cross_entropy(logits.flatten(0, 1), y.flatten())", CTC.replace("y[:, :3].clamp(1)", "F.pad(y[:, :3].clamp(1), (0, 5))")),)),
        ("table", (("nn.Linear(32, 1))", "nn.Linear(32, 3))"),)),  # heads that share a target
        *(("table", ((LOSS_OF_TABLE, f"{made}\n        {METRIC}"),)) for made in SUMS),  # a number is read for a log beside them
    ]),
)  # fmt: skip
def test_what_a_loss_may_be_given(host: Host, tmp_path: Path, name: str, edits: Edits) -> None:
    trace, ended = host.run(edited(PROGRAMS / f"{name}.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    judged = list(probes.judge("observe", trace, frozenset({"loss_contract"})))
    assert judged and not [f for f in judged if f.outcome == "fail"], (judged, ended)


def test_missing_labels_that_a_mask_takes_out_are_no_fault(host: Host, tmp_path: Path) -> None:
    edits = (
        ("nn.MSELoss()", 'nn.BCEWithLogitsLoss(reduction="none")'),
        ("return inputs, target.unsqueeze(1)", "return inputs, target.sign().unsqueeze(1)"),
        (
            "loss = criterion(model(x), y)",
            "loss = (criterion(model(x), y) * (y >= 0)).sum() / (y >= 0).sum().clamp(min=1)",
        ),
    )
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    judged = list(probes.judge("observe", trace, frozenset({"loss_contract"})))
    assert judged and not [finding for finding in judged if finding.is_alarm], ended


def test_two_predictions_that_meet_in_all_pairs_are_a_note(host: Host, tmp_path: Path) -> None:
    """A ranking loss has no targets, and all pairs may be meant."""
    pairs = "loss = torch.relu(1 - (model(x) - model(x.flip(0)).squeeze(1))).mean()"
    program = edited(PROGRAMS / "table.py", (("loss = criterion(model(x), y)", pairs),), tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    if not any(graph["shapes_known"] for graph in trace.events("graph")):
        pytest.skip("this torch (2.0) tells no shapes of a graph")
    (told,) = [f for f in probes.judge("observe", trace, frozenset({"loss_contract"})) if f.outcome == "fail"]
    assert (told.severity, told.confidence) == ("note", "low"), ended
    assert "both operands carry a gradient: all 576 pairs are formed" in told.message and "target" not in told.message


FROZEN = "model[:4].requires_grad_(False)\noptimizer = torch.optim.SGD(model[4].parameters()"
LOADED = "model.load_state_dict(model.state_dict())\n"


@pytest.mark.parametrize(("loads", "outcome"), [("", "open"), (LOADED, "pass")])
def test_a_mostly_frozen_model_is_told(host: Host, tmp_path: Path, loads: str, outcome: str) -> None:
    edits = (("optimizer = torch.optim.SGD(model.parameters()", loads + FROZEN),)
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (told,) = probes.judge("observe", trace, frozenset({"parameter_table"}))
    assert told.outcome == outcome and "4 others (97.5% of the elements" in told.message, (told, ended)


def test_layers_behind_one_that_starts_at_zero_are_no_vanishing_gradient(host: Host, tmp_path: Path) -> None:
    deep = "*[layer for _ in range(12) for layer in (nn.Sigmoid(), nn.Linear(32, 32))], nn.Sigmoid()"
    zero = "nn.Linear(32, 1))\nnn.init.zeros_(model[-1].weight)"
    edits = (("nn.ReLU(), nn.Linear(32, 32), nn.ReLU()", deep), ("nn.Linear(32, 1))", zero))
    trace, _ = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = probes.judge("observe", trace, frozenset({"parameter_table"}))
    assert told and not any("hardly learn" in one.message for one in told)


def test_a_schedule_that_ends_in_the_first_steps_asks(host: Host, tmp_path: Path) -> None:
    """Milestones in epochs, stepped per batch."""
    edits = (
        ("torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)", MILESTONES),
        ("        optimizer.step()\n", "        optimizer.step()\n        schedule.step()\n"),
        ("    schedule.step()\n    model.eval()", "    model.eval()"),
    )
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (told,) = probes.judge("observe", trace, frozenset({"learning_rate"}))
    assert (told.outcome, told.severity) == ("fail", "note"), (told, ended)
    assert "from 0.02 to 0.0002 within 15 steps" in told.message


def test_transforms_are_no_part_of_the_step(host: Host, tmp_path: Path) -> None:
    """A module without parameters that prepares each example would fill the order of a step, were it counted."""
    edits = (("return self.pictures[index], self", "return nn.ZeroPad2d(0)(self.pictures[index]), self"),)
    trace, _ = host.run(edited(PROGRAMS / "pictures.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (order,) = probes.judge("observe", trace, frozenset({"step_trace"}))
    assert "in order: batch > zero_grad > forward > cross_entropy > backward > step" in order.message


def test_what_a_checkpoint_calls_again_is_no_part_of_the_step(host: Host, tmp_path: Path) -> None:
    edits = (
        ("import torch.nn.functional as F\n", "import torch.nn.functional as F\nfrom torch.utils.checkpoint import checkpoint\n"),
        ("x = x + self.mlp(self.norm2(x))", "x = x + checkpoint(self.mlp, self.norm2(x), use_reentrant=False)"),
    )  # fmt: skip
    trace, ended = host.run(edited(PROGRAMS / "letters.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (order,) = probes.judge("observe", trace, frozenset({"step_trace"}))
    assert "in order: forward > cross_entropy > zero_grad > backward > clip_grad_norm_ > step" in order.message, ended
    assert [event["cls"] for event in trace.events("inspected")] == ["Model"]


@pytest.mark.parametrize(
    "loss",
    [
        "(criterion(model(x), y) * torch.linspace(0.5, 1.0, len(x))).mean() / 2",
        "(criterion(model(x), y) * torch.linspace(0.5, 1.0, len(x)) / 2).mean()",
        "(criterion(model(x), y) * torch.linspace(0.5, 1.0, len(x))).sum() / 32",
    ],
)
def test_weighted_terms_that_are_divided_are_accumulated_well(host: Host, tmp_path: Path, loss: str) -> None:
    edits = (
        ("nn.CrossEntropyLoss()", 'nn.CrossEntropyLoss(reduction="none")'),
        ("criterion(model(x), y) / 2", loss),
    )
    trace, ended = host.run(edited(PROGRAMS / "stream.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = list(probes.judge("observe", trace, frozenset({"step_trace"})))
    assert told and not [one for one in told if one.outcome == "fail"], (told, ended)


@pytest.mark.parametrize(
    ("loss", "outcome", "words"),
    [
        ("criterion(model(x), y)", "open", "a little at nearly every step"),
        ("(criterion(model(x), y.mean().expand_as(y)) + 90)", "fail", "the loss stays"),
        ("criterion(model(x).detach().requires_grad_(), y)", "fail", "the loss stays"),
    ],
)
def test_a_slow_fall_is_not_called_a_loss_that_stays(
    host: Host, tmp_path: Path, loss: str, outcome: str, words: str
) -> None:
    edits = (
        ("nn.ReLU(), nn.Linear(32, 32), nn.ReLU()", "nn.Tanh()"),
        ("criterion(model(x), y)", loss),
        ("lr=0.02, momentum=0.9", "lr=0.00001" if outcome == "open" else "lr=0.01"),
        ("range(4)", "range(8)"),
    )
    program = edited(PROGRAMS / "table.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["overfit"]))
    (told,) = probes.judge("overfit", trace)
    assert told.outcome == outcome and words in told.message, (told, ended)


def test_as_many_heads_as_rows_may_share_a_target(host: Host, tmp_path: Path) -> None:
    edits = (("nn.Linear(32, 1)", "nn.Linear(32, 24)"),)
    trace, _ = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    assert [call["input"]["shape"] for call in trace.events("loss") if call["training"]][:1] == [[24, 24]]
    assert not [one for one in probes.judge("observe", trace, frozenset({"loss_contract"})) if one.outcome == "fail"]


def test_a_step_before_any_backward_has_no_loss(host: Host, tmp_path: Path) -> None:
    """Two optimizers: the step of the first ends a round in which nothing went backward, and that is no loss of 0."""
    edits = (
        ("optimizer = torch.optim.SGD(model.parameters()", "other = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)\noptimizer = torch.optim.SGD(model.parameters()"),
        ("        loss = criterion", "        other.step()\n        loss = criterion"),
        ("range(4)", "range(8)"),
    )  # fmt: skip
    program = edited(PROGRAMS / "table.py", edits, tmp_path / "program")
    trace, _ = host.run(program, tmp_path, dict(probes.EXPERIMENTS["overfit"]))
    seen = [event["loss"] for event in trace.events("frozen") if event["losses"]]
    (told,) = probes.judge("overfit", trace)
    assert any(not event["losses"] for event in trace.events("frozen")), "no step came before a backward"
    assert told.measured["start"] >= min(seen[:3]), (told, seen[:3])


def test_objects_that_answer_to_every_name_keep_their_code_to_themselves(host: Host, tmp_path: Path) -> None:
    """The walk to private generators looks at all that the program holds."""
    answering = (
        "class Answering:\n    def __getattr__(self, name):\n        return lambda: name\n\n\nheld = Answering()\n"
    )
    edits = (("torch.manual_seed(0)\n", answering + "torch.manual_seed(0)\n"), ("range(4)", "range(8)"))
    program = edited(PROGRAMS / "table.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["overfit"]))
    (told,) = probes.judge("overfit", trace)
    assert not trace.hooks_missing and told.outcome == "pass", (told, ended)


def test_too_few_steps_to_freeze_come_with_what_helps(host: Host, tmp_path: Path) -> None:
    program = edited(PROGRAMS / "table.py", (("range(4)", "range(1)"),), tmp_path / "program")
    whole, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["overfit"]))
    (told,) = probes.judge("overfit", whole)
    assert "only 20 steps were seen" in told.message and told.next == "let it train for more epochs", (told, ended)
    (told,) = probes.judge("overfit", Trace(0, None, (*whole.told, {"kind": "finish"})))
    assert told.next == "allow more --steps or --time"
    stopped = {"kind": "hooks", "hooks": {"listener overfit": "stopped in boundary: ValueError: no"}}
    (told,) = probes.judge("overfit", Trace(0, None, (*whole.told, stopped)))
    assert "the probe itself failed (stopped in boundary: ValueError: no)" in told.message


def test_evaluations_of_a_closure_are_no_accumulation(host: Host, tmp_path: Path) -> None:
    edits = (("    optimizer.zero_grad()\n", ""), (', line_search_fn="strong_wolfe"', ""))
    program = edited(HERE / "targets" / "lbfgs.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    told = [f for f in probes.judge("observe", trace, frozenset({"step_trace"})) if f.outcome == "fail"]
    assert len(told) == 1 and "gradients of LBFGS are never cleared" in told[0].message, (told, ended)


JUDGED = """import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
made, judge = nn.Linear(4, 3), nn.Linear(3, 1)
by_made, by_judge = torch.optim.Adam(made.parameters()), torch.optim.Adam(judge.parameters())
ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)


def wrong(score, target):
    return F.binary_cross_entropy_with_logits(score, target)


for step in range(12):
    by_made.zero_grad()
    wrong(judge(made(torch.randn(8, 4))), ones).backward()
    by_made.step()
    by_judge.zero_grad()
    real, fake = judge(torch.randn(8, 3) + 2), judge(made(torch.randn(8, 4)).detach())
    loss = (wrong(real, ones) + wrong(fake, zeros)) / 2
    loss.backward()
    by_judge.step()
"""


@pytest.mark.parametrize(
    ("old", "new", "is_told"),
    [
        ("wrong(fake, zeros)", "wrong(fake, ones)", True),
        ("wrong(fake, zeros)", "wrong(fake, zeros)", False),
        ("wrong(fake, zeros)", "F.softplus(fake).mean()", False),  # the other class by hand
        ("wrong(fake, zeros)) / 2", "F.mse_loss(fake, zeros)) / 2", False),
    ],
)
def test_targets_of_one_class_in_every_loss(host: Host, tmp_path: Path, old: str, new: str, is_told: bool) -> None:
    assert old in JUDGED
    (tmp_path / "judged.py").write_text(JUDGED.replace(old, new))
    trace, ended = host.run(tmp_path / "judged.py", tmp_path, OBSERVE)
    told = [f for f in probes.judge("observe", trace, frozenset({"batch_as_seen"})) if f.outcome == "fail"]
    assert [f.is_alarm and "are 1 in all 30 calls read" in f.message for f in told] == [True] * is_told, (told, ended)


@pytest.mark.parametrize(
    ("edits", "is_told"),
    [
        ([("self.labels = torch.randint(3, (count,), generator=rng)", "self.labels = torch.ones(count).long()")], True),
        ([("self.labels = torch.randint(3, (count,), generator=rng)", "self.labels = torch.ones(count).int()"),
          ("(pictures), labels)", "(pictures), labels.long())")], True),
        ([("loss = F.cross_entropy(model(pictures), labels)",
           "out = F.normalize(model(pictures))\n            others = (out @ out.T)[~torch.eye(len(out), dtype=torch.bool)].view(len(out), -1)\n"
           "            loss = F.cross_entropy(torch.cat([(out * out.roll(1, 0)).sum(1, True), others], 1) / 0.5, torch.zeros(len(out), dtype=torch.long))")], False),
    ],
)  # fmt: skip
def test_labels_of_one_class_count_where_the_loader_gave_them(
    host: Host, tmp_path: Path, edits: Edits, is_told: bool
) -> None:
    """A contrastive loss has its positive in column 0."""
    trace, ended = host.run(edited(PROGRAMS / "pictures.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    found = [f for f in probes.judge("observe", trace, frozenset({"batch_as_seen"})) if f.is_alarm]
    assert ["are all of one class, in 60 of 60 batches" in f.message for f in found] == [True] * is_told, (found, ended)


def test_a_class_that_ignore_index_leaves_out_is_named(host: Host, tmp_path: Path) -> None:
    edits = [
        ("torch.randint(3, (count,), generator=rng)", "torch.randint(2, (count,), generator=rng)"),
        ("(pictures), labels)", "(pictures), labels, ignore_index=0)"),
    ]
    trace, ended = host.run(edited(PROGRAMS / "pictures.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    [told] = [f for f in probes.judge("observe", trace, frozenset({"batch_as_seen"})) if f.is_alarm]
    assert "labels 0, which ignore_index=0 leaves out" in told.message, (told, ended)


def test_what_is_squashed_twice_is_told_once(host: Host, tmp_path: Path) -> None:
    """Of the second step's graph no lines are known."""
    squash = "class Squash(nn.Module):\n    def forward(self, x):\n        x = torch.sigmoid(x)\n        return torch.sigmoid(x)\n\n\n"
    edits = (
        ("torch.manual_seed(0)\n", squash + "torch.manual_seed(0)\n"),
        ("nn.Linear(32, 1))", "nn.Linear(32, 1), Squash())"),
    )
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = [f for f in probes.judge("observe", trace, frozenset({"loss_contract"})) if "what another" in f.message]
    assert len(told) == 1 and told[0].line, (told, ended)


RANKS = {
    "no wrapper": ((("torch.manual_seed(0)", "torch.manual_seed(int(__import__('os').environ['RANK']))"),), "error", "each rank trains its own model"),
    "no sampler": ((), "warning", "exactly the same batches"),
    "no sampler, and an evaluation first": (
        (("for epoch in range(4):", "with torch.no_grad():\n    sum(criterion(model(x), y).item() for x, y in val_loader)\nfor epoch in range(4):"),),
        "warning", "exactly the same batches",
    ),
    "no loader, and an evaluation first": (
        (("for epoch in range(4):", "with torch.no_grad():\n    criterion(model(val_inputs), val_target)\nfor epoch in range(4):"),
         ("for x, y in loader:", "for x, y in zip(inputs.split(24), target.split(24)):"), ("for x, y in val_loader", "for x, y in [(val_inputs, val_target)]")),
        "warning", "exactly the same batches",
    ),
}  # fmt: skip
TRAINS = ("loss = criterion(model(x), y)", "for x, y in loader:", "optimizer.step()")


@pytest.mark.parametrize("fault", [pytest.param("no wrapper", marks=pytest.mark.twins), *list(RANKS)[1:]])
def test_ranks_that_disagree(host: Host, tmp_path: Path, fault: str) -> None:
    """Two processes that take themselves for ranks, and never talk to each other."""
    edits, severity, words = RANKS[fault]
    program = edited(PROGRAMS / "table.py", edits, tmp_path / "program")
    traces = []
    for rank in range(2):
        (tmp_path / str(rank)).mkdir()
        experiment = {**OBSERVE, "steps": 12}
        trace, _ = host.run(program, tmp_path / str(rank), experiment, RANK=str(rank), WORLD_SIZE="1")
        traces.append(Trace(rank, rank, trace.told))
    found = [f for f in probes.judge_together("observe", traces) if f.outcome == "fail"]
    assert [(f.severity, f.path) for f in found][:1] == [(severity, "table.py")]
    assert words in found[0].message
    assert program.read_text().splitlines()[(found[0].line or 0) - 1].strip() in TRAINS


_LEAK = ("val_inputs, val_target = rows(96, 2)\n", "val_inputs, val_target = JOINED\n")
_SPLIT = "torch.cat([inputs[:48], rows(48, 2)[0]]), torch.cat([target[:48], rows(48, 2)[1]])"
_MIXED = f"{_SPLIT}\nmixed = torch.randperm(96)\nval_inputs, val_target = val_inputs[mixed], val_target[mixed]"
_ALL = f"{_SPLIT.replace('[:48]', '')}\nmixed = torch.randperm(528)\nval_inputs, val_target = val_inputs[mixed], val_target[mixed]"


@pytest.mark.parametrize(
    ("joined", "severity", "says"),
    [
        (
            _SPLIT,
            "note",
            "all of them stand in 4 of 8 batches that hold no others: is the training data scored as well?",
        ),
        (_MIXED, "warning", "48 of 96 evaluation examples"),
        (_ALL, "note", "nearly all that was trained on is among them"),
        ("inputs[:96], target[:96]", "warning", "96 of 96 evaluation examples"),
        (f"{_MIXED}\ninputs[-24:], target[-24:] = inputs[:24], target[:24]", "warning", "of 96 evaluation examples"),
        (
            f"{_MIXED}\ninputs[240:], target[240:] = inputs[:240], target[:240]",
            "note",
            "hold the same examples several times",
        ),
    ],
)
def test_training_data_that_are_scored_too_are_told_from_a_leak(
    host: Host, tmp_path: Path, joined: str, severity: str, says: str
) -> None:
    edits = ((_LEAK[0], _LEAK[1].replace("JOINED", joined)),)
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = [
        f for f in probes.judge("observe", trace, frozenset({"batch_as_seen"})) if "evaluation examples" in f.message
    ]
    assert [one.severity for one in told] == [severity] and says in told[0].message, (told, ended)


BESIDE = "    with torch.no_grad():\n        print(epoch, error, sum(criterion(model(x), y).item() for x, y in DataLoader(TensorDataset(*rows(96, 2)), 48)))\n"


@pytest.mark.parametrize(
    "edit",
    [
        ("    model.eval()\n", "    if epoch < 3:\n        continue\n    model.eval()\n"),
        ("    print(epoch, error)\n", BESIDE),
    ],
    ids=["scored once", "another score beside it"],
)
def test_a_score_on_training_data_may_be_meant(host: Host, tmp_path: Path, edit: tuple[str, str]) -> None:
    edits = ((_LEAK[0], _LEAK[1].replace("JOINED", "inputs[:96], target[:96]")), edit)
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = [
        f for f in probes.judge("observe", trace, frozenset({"batch_as_seen"})) if "evaluation examples" in f.message
    ]
    assert [one.severity for one in told] == ["note"], (told, ended)


def test_a_cross_entropy_over_one_class_is_told(host: Host, tmp_path: Path) -> None:
    edits = (("nn.MSELoss()", "nn.CrossEntropyLoss()"),)
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = [f for f in probes.judge("observe", trace, frozenset({"loss_contract"})) if f.is_alarm]
    assert told and "one class, whose softmax is 1 whatever the model says" in told[0].message, ended


@pytest.mark.parametrize(("terms", "is_told"), [("1 + 6 * epoch", False), ("4", True)])
def test_a_loss_that_sums_more_terms_from_step_to_step_is_no_sign_of_a_high_rate(
    host: Host, tmp_path: Path, terms: str, is_told: bool
) -> None:
    summed = f"loss = sum(criterion(model(x[i : i + 1]), y[i : i + 1]) for i in range({terms}))"
    edits = (
        ("loss = criterion(model(x), y)", summed),
        ("SGD(model.parameters(), lr=0.02, momentum=0.9)", "Adam(model.parameters(), lr=9.0)"),
    )
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = [f for f in probes.judge("observe", trace, frozenset({"parameter_table"})) if "expected a fall" in f.message]
    assert bool(told) is is_told, (told, ended)


@pytest.mark.parametrize("told", [True, False])
def test_gradients_in_evaluation_mode_that_nothing_steps_on_are_counted_only(
    host: Host, tmp_path: Path, told: bool
) -> None:
    """One step against the input before each step of training."""
    attack = (
        "            model.eval()\n            pictures.requires_grad_()\n            with torch.no_grad():\n                model(pictures)\n"
        "            F.cross_entropy(model(pictures), labels).backward()\n            model.train()\n            optimizer.zero_grad()\n"
    )
    edits = (("            optimizer.zero_grad()\n", attack),) if told else ()
    trace, ended = host.run(edited(PROGRAMS / "pictures.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (said,) = probes.judge("observe", trace, frozenset({"modes"}))
    words = "in training mode in 60 and in evaluation mode in 60 of 120 backwards" if told else "mode in all 60"
    assert words in said.message and said.outcome == ("open" if told else "pass"), (said, ended)


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param((), marks=pytest.mark.twins),
        (
            ("        loss_d.backward()\n        optim_d.step()\n", ""),
            ("        loss_g.backward()\n", "        loss_g.backward()\n        loss_d.backward()\n        optim_d.step()\n"),
        ),
    ],
)  # fmt: skip
def test_of_two_optimizers_the_backward_of_the_stale_one_is_told(host: Host, tmp_path: Path, edits: Edits) -> None:
    """Also where a backward of the other stands nearer to its step."""
    program = edited(HERE / "targets" / "gan.py", (("        optim_g.zero_grad()\n", ""), *edits), tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    (told,) = [f for f in probes.judge("observe", trace, frozenset({"step_trace"})) if f.outcome == "fail"]
    lines = program.read_text().splitlines()
    assert told.line and lines[told.line - 1].strip() == "loss_g.backward()", (told, ended)
    born = lines.index("    optim_g = torch.optim.AdamW(generator.parameters(), lr=3e-3, betas=(0.8, 0.99))") + 1
    assert f"gradients of the AdamW made at gan.py:{born} are never cleared" in told.message


RECURRENT = """\
class Model(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed, self.head = nn.Embedding(len(letters), width), nn.Linear(width, len(letters))
        self.layers = nn.GRU(width, width, 2, bidirectional=BOTH)

    def forward(self, idx, state):
        x, state = self.layers(self.embed(idx), state)
        return self.head(x[..., :32]).flatten(0, 1), state


torch.manual_seed(0)
"""


@pytest.mark.parametrize(
    ("target", "both", "outcomes"),
    one_in(2, [("y", False, ["pass"]), ("x", False, ["fail"]), ("y", True, ["fail"]), ("x", True, [])]),
)
def test_tokens_beside_the_state_of_a_recurrent_layer(
    host: Host, tmp_path: Path, target: str, both: bool, outcomes: list[str]
) -> None:
    """Time comes first, the state is larger than the tokens, and what comes out is flat."""
    edits = (
        ("torch.manual_seed(0)\n", RECURRENT.replace("BOTH", str(both))),
        ("    return x, y\n", "    return x.t().contiguous(), y.t().contiguous()\n"),
        ("logits = model(x)", f"logits, _ = model(x, torch.zeros({4 if both else 2}, 12, 32))"),
        ("F.cross_entropy(logits.flatten(0, 1), y.flatten())", f"F.cross_entropy(logits, {target}.flatten())"),
    )
    trace, ended = host.run(edited(PROGRAMS / "letters.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (entered,) = {event["main"] for event in trace.events("entered")}
    told = list(probes.judge("observe", trace, frozenset({"independence"})))
    assert entered == "idx" and [one.outcome for one in told if one.outcome != "open"] == outcomes, (told, ended)


def test_of_a_model_that_acts_and_learns_the_learning_call_is_looked_at(host: Host, tmp_path: Path) -> None:
    edits = (("        optimizer.step()\n", "        optimizer.step()\n        model(x[:1])\n"),)
    program = edited(PROGRAMS / "table.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    (told,) = probes.judge("observe", trace, frozenset({"input_matters"}))
    assert told.outcome == "pass", (told, ended)
    assert told.line and "loss = criterion(model(x), y)" in program.read_text().splitlines()[told.line - 1]


ENCODING = """class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):
        return self.out(x).masked_fill(mask == 0, 0.0)


class Model(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.encoder = Encoder(width)
"""


@pytest.mark.parametrize("kind", ["bool", "long", "float32"])
def test_equal_rows_of_a_mask_are_no_equal_examples(host: Host, tmp_path: Path, kind: str) -> None:
    """A forward that was taken before is not seen: the encoder seems to be called by the program, with the mask as its only new tensor."""
    edits = (
        ("class Model(nn.Module):\n    def __init__(self, width=32):\n        super().__init__()\n", ENCODING),
        ("        x = x + self.mlp", f"        x = x + self.encoder(x, torch.ones(idx.shape[0], idx.shape[1], 1, dtype=torch.{kind}))\n        x = x + self.mlp"),
        ("for step in range(80):", "call = model.forward\nfor step in range(80):"),
        ("logits = model(x)", "logits = call(x)"),
    )  # fmt: skip
    trace, ended = host.run(edited(PROGRAMS / "letters.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = list(probes.judge("observe", trace, frozenset({"batch_as_seen"})))
    assert told and not any(one.is_alarm for one in told), (told, ended)


ADAPTED = """class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.Linear(6, 32).requires_grad_(False), nn.Linear(32, 1).requires_grad_(False)
        self.down, self.up = nn.Linear(32, 4, bias=False), nn.Linear(4, 32, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        h = self.before(x).relu()
        return self.after(h + self.up(self.down(h)))


model = Adapted()
"""


def test_what_grows_from_zero_tells_nothing_of_the_rate(host: Host, tmp_path: Path) -> None:
    sequential = next(line for line in (PROGRAMS / "table.py").read_text().splitlines() if line.startswith("model ="))
    edits = (
        (f"{sequential}\n", ADAPTED),
        ("    return inputs, target.unsqueeze(1)\n", "    return inputs, torch.randn(count, 1, generator=rng)\n"),
        ("optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)", "optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-5)"),
    )  # fmt: skip
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    told = list(probes.judge("observe", trace, frozenset({"parameter_table"})))
    assert told and not any("expected a fall" in one.message for one in told), (told, ended)


FROZEN_AT_ZERO: Edits = (
    ("        nn.init.zeros_(self.up.weight)\n", "        nn.init.zeros_(self.up.weight).requires_grad_(False)\n"),
    ("SGD(model.parameters()", "SGD([p for p in model.parameters() if p.requires_grad]"),
    ("    optimizer.step()\n", "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()\n"),
)


def test_factors_that_are_frozen_at_zero_are_named_and_not_the_order(host: Host, tmp_path: Path) -> None:
    sequential = next(line for line in (PROGRAMS / "table.py").read_text().splitlines() if line.startswith("model ="))
    program = edited(PROGRAMS / "table.py", ((f"{sequential}\n", ADAPTED), *FROZEN_AT_ZERO), tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    told = list(probes.judge("observe", trace, frozenset({"parameter_table", "step_trace"})))
    alarms = [one for one in told if one.is_alarm]
    assert {one.suspects for one in alarms} == {("frozen-parameters",)}, (told, ended)
    assert any("1 beside them, up.weight first, are frozen at zero" in one.message for one in alarms), alarms


OFF = (
    "        with torch.no_grad():\n            x = self.conv(x)\n        x = F.relu(self.norm(x))\n"
    "        x = F.max_pool2d(x, 2).flatten(1)\n        return self.head(self.drop(x))\n"
)


@pytest.mark.parametrize(("loads", "severity"), [(False, "warning"), (True, "note")])
def test_a_first_layer_without_gradients_is_told_where_they_are_off(
    host: Host, tmp_path: Path, loads: bool, severity: str
) -> None:
    """It is small, but no layer after it learns to do without it; loaded weights may be meant to stay."""
    text = (PROGRAMS / "pictures.py").read_text()
    forward = text[text.index("        x = F.relu(") : text.index("\n\ndef evaluate")]
    edits: Edits = ((forward, OFF),)
    edits += (
        (("    model = Net()\n", "    model = Net()\n    model.load_state_dict(model.state_dict())\n"),)
        if loads
        else ()
    )
    program = edited(PROGRAMS / "pictures.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    told = [f for f in probes.judge("observe", trace, frozenset({"parameter_table"})) if f.outcome == "fail"]
    (said,) = told
    assert said.severity == severity and "run with gradients switched off at" in said.message, (told, ended)
    assert said.line and "x = self.conv(x)" in program.read_text().splitlines()[said.line - 1]


HALF = (
    ("nn.Linear(32, 1))", "nn.LayerNorm(32), nn.Linear(32, 1)).bfloat16()"),
    ("model(x)", "model(x.bfloat16()).float()"),
    ("SGD(model", "AdamW(model"),
)


@pytest.mark.parametrize(("rate", "said"), [("3e-5", ["note"]), ("2e-2", [])])
def test_scales_of_norms_that_half_precision_holds_fast_are_a_note(
    host: Host, tmp_path: Path, rate: str, said: list[str]
) -> None:
    """Around 1 numbers of bfloat16 lie 2^-8 and 2^-7 apart: a smaller rate of Adam never moves them."""
    edits = (*HALF, ("lr=0.02, momentum=0.9", f"lr={rate}"))
    program = edited(PROGRAMS / "table.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    told = [f for f in probes.judge("observe", trace, frozenset({"parameter_table"})) if f.outcome == "fail"]
    assert [one.severity for one in told] == said, (told, ended)
    assert all("did not change in a single element" in one.message for one in told)


MIXING = """class Mixing(nn.Sequential):
    def forward(self, x):
        return super().forward(x) + SHARE * x.mean()


model = Mixing("""


@pytest.mark.parametrize(
    ("share", "made", "outcome"),
    [("1e-6", "", "pass"), ("1e-3", "", "fail"), ("1.0", ".bfloat16()", "open"), ("100.0", ".bfloat16()", "fail")],
)
def test_rounding_mixes_no_examples(host: Host, tmp_path: Path, share: str, made: str, outcome: str) -> None:
    """In half precision it may hide what does."""
    edits = (
        ("model = nn.Sequential(", MIXING.replace("SHARE", share).replace("x.mean()", f"x.mean(){made}").replace("super().forward(x)", f"super().forward(x){made}")),
        ("loss = criterion(model(x), y)", "loss = criterion(model(x).float(), y)"),
    )  # fmt: skip
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (told,) = probes.judge("observe", trace, frozenset({"independence"}))
    assert told.outcome == outcome, (told, ended)


@pytest.mark.parametrize(("off", "outcome"), [(True, "pass"), (False, "open")])
def test_functional_dropout_depends_on_the_mode_too(host: Host, tmp_path: Path, off: bool, outcome: str) -> None:
    """Whole batches, no loader: nothing tells what a call without gradients is for."""
    edits: Edits = (
        ("self.head(self.drop(x))", "self.head(F.dropout(x, 0.2, training=self.training))"),
        ("        self.drop = nn.Dropout(0.2)\n", ""),
        ("nn.BatchNorm2d(8)", "nn.GroupNorm(2, 8)"),
        ("for pictures, labels in loader:", "for pictures, labels in [loader.dataset[:]]:"),
    )
    edits += () if off else (("    model.eval()\n    right", "    right"),)
    program = edited(PROGRAMS / "pictures.py", edits, tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    (said,) = probes.judge("observe", trace, frozenset({"modes"}))
    assert "; 1 functional dropout layers depend on it" in said.message and said.outcome == outcome, (said, ended)


_TASK = (
    "class Task(nn.Module):\n    def __init__(self, model):\n        super().__init__()\n        self.model = model\n\n"
    "    def forward(self, pictures, labels):\n        return F.cross_entropy(self.model(pictures), labels)\n\n\ndef evaluate("
)
WRAPPED: Edits = (
    ("def evaluate(", _TASK),
    ("    model = Net()\n", "    model = Net()\n    task = Task(model)\n"),
    ("        model.train()\n", "        task.train()\n"),
    ("loss = F.cross_entropy(model(pictures), labels)", "loss = task(pictures, labels)"),
)


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ((), "60 backwards seen; 9 calls without a backward (evaluation, or targets), all in evaluation mode"),
        ((("    model.eval()\n    right", "    right"),), "is evaluated in training mode at"),
        ((("    for epoch in range(3):\n        task.train()", "    task.train()\n    for epoch in range(3):"),), "from step 20 on: 40 calls"),
    ],
)  # fmt: skip
def test_a_wrapper_that_trains_and_the_model_in_it_are_one(
    host: Host, tmp_path: Path, edits: Edits, words: str
) -> None:
    trace, ended = host.run(
        edited(PROGRAMS / "pictures.py", (*WRAPPED, *edits), tmp_path / "program"), tmp_path, OBSERVE
    )
    (said,) = probes.judge("observe", trace, frozenset({"modes"}))
    assert words in said.message and said.is_alarm == bool(edits), (said, ended)


CALLED_WHOLE: Edits = (
    *WRAPPED,
    ("evaluate(model, val_loader)", "evaluate(task, val_loader)"),
    ("(model(pictures).argmax(1) == labels)", "model(pictures, labels)"),
)


@pytest.mark.parametrize(
    ("put", "words"),
    [("model.model.eval()", "all in evaluation mode"), ("model.model.norm.eval()", "with 1 dropout layers on")],
)
def test_the_layers_tell_the_mode_of_an_evaluation(host: Host, tmp_path: Path, put: str, words: str) -> None:
    """The wrapper is called, in training mode whatever is in it."""
    edits = (*CALLED_WHOLE, ("    model.eval()\n", f"    {put}\n"))
    trace, ended = host.run(edited(PROGRAMS / "pictures.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (said,) = probes.judge("observe", trace, frozenset({"modes"}))
    assert words in said.message and said.is_alarm == ("norm" in put), (said, ended)


@pytest.mark.parametrize("taken", ["context.shape[0]", "len(context)", "torch.zeros_like(context).size(0)"])
def test_an_argument_of_which_the_shape_is_taken_is_asked_about(host: Host, tmp_path: Path, taken: str) -> None:
    conditioned = (
        "class Conditioned(nn.Sequential):\n    def forward(self, x, context):\n"
        f"        return super().forward(x) + torch.zeros({taken}, 1)\n\nmodel = Conditioned("
    )
    edits = (("model = nn.Sequential(", conditioned), ("(model(x), y)", "(model(x, 2 * x + 1), y)"))
    trace, ended = host.run(edited(PROGRAMS / "table.py", edits, tmp_path / "program"), tmp_path, OBSERVE)
    (told,) = probes.judge("observe", trace, frozenset({"input_matters"}))
    assert (told.outcome, told.severity) == ("fail", "note"), (told, ended)
    assert "nothing but the shape of 'context'" in told.message


BY_HAND = "-(F.one_hot(labels, 3).float() * model(pictures).{}).sum(1).mean()"


@pytest.mark.parametrize(
    ("loss", "is_told"),
    one_in(
        3,
        [
            (BY_HAND.format("softmax(1)"), True),
            ("-model(pictures).softmax(1)[torch.arange(len(labels)), labels].mean()", True),
            ("-model(pictures).softmax(1).gather(1, labels[:, None]).sum() / len(labels)", True),
            ("-model(pictures).log_softmax(1)[torch.arange(len(labels)), labels].mean()", False),
            ("-model(pictures).softmax(1)[torch.arange(len(labels)), labels].log().mean()", False),
            ("1 - model(pictures).softmax(1).gather(1, labels[:, None]).mean()", False),  # a mean absolute error
            (BY_HAND.format("log_softmax(1)"), False),
            (BY_HAND.format("softmax(1).log()"), False),
            (BY_HAND.format("softmax(1)").replace("-(", "1 - (", 1), False),
            (
                "(F.one_hot(labels, 3).float().roll(1, 1) * model(pictures).softmax(1)).sum(1).mean()",
                False,
            ),  # an expected cost
            (
                "-(torch.rand(len(labels), 3) * model(pictures).softmax(1)).sum(1).mean()",
                False,
            ),  # a reward of each choice
        ],
    ),
)
def test_a_cross_entropy_by_hand_without_its_logarithm(loss: str, is_told: bool, host: Host, tmp_path: Path) -> None:
    program = (PROGRAMS / "pictures.py").read_text()
    (tmp_path / "pictures.py").write_text(with_edits(program, [("F.cross_entropy(model(pictures), labels)", loss)]))
    trace, ended = host.run(tmp_path / "pictures.py", tmp_path, {**OBSERVE, "steps": 10})
    told = [f for f in probes.judge("observe", trace, frozenset(["loss_contract"])) if "no logarithm is" in f.message]
    assert len(told) == is_told and not any(one.is_alarm for one in told), (told, ended)
