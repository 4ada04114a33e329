"""Every docstring example and every hard case of every check, and what run_checks reports."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest
from cases._programs import HEALTHY
from trainsleuth.checks import UnknownCheckError, check_ids, explain, run_checks
from trainsleuth.checks.docs import Example, files_of
from trainsleuth.repository import Repository


def _write(root: Path, files: Mapping[str, str]) -> Repository:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return Repository(root)


def _failures(root: Path, files: Mapping[str, str], only: str | None = None) -> set[str]:
    report = run_checks(_write(root, files), only=[only] if only else None)
    return {finding.by.removeprefix("check:") for finding in report.findings if finding.outcome == "fail"}


def _examples() -> list[pytest.ParameterSet]:
    return [
        pytest.param(check_id, example, id=f"{check_id}-{'bad' if example.is_bad else 'good'}-{place}")
        for check_id in check_ids()
        for place, example in enumerate(explain(check_id).examples)
    ]


def _cases(table: str) -> list[pytest.ParameterSet]:
    return [
        pytest.param(check_id, source, id=f"{check_id}: {name}")
        for check_id in check_ids()
        for name, source in getattr(_case_module(check_id), table).items()
    ]


def _case_module(check_id: str) -> object:
    return import_module(f"tests.checks.cases.{check_id.replace('-', '_')}")


@pytest.mark.parametrize(("check_id", "example"), _examples())
def test_docstring_example(check_id: str, example: Example, tmp_path: Path) -> None:
    assert _failures(tmp_path, example.files) == ({check_id} if example.is_bad else set())


@pytest.mark.parametrize(("check_id", "source"), _cases("FAILS"))
def test_finds(check_id: str, source: str, tmp_path: Path) -> None:
    assert check_id in _failures(tmp_path, dict(files_of(source)), check_id)


@pytest.mark.parametrize(("check_id", "source"), _cases("SILENT"))
def test_stays_silent(check_id: str, source: str, tmp_path: Path) -> None:
    assert check_id not in _failures(tmp_path, dict(files_of(source)), check_id)


@pytest.mark.parametrize("name", HEALTHY)
def test_no_check_speaks_on_a_healthy_program(name: str, tmp_path: Path) -> None:
    assert _failures(tmp_path, dict(files_of(HEALTHY[name]))) == set()


@pytest.mark.parametrize("check_id", check_ids())
def test_check_explains_itself(check_id: str) -> None:
    said = explain(check_id)
    assert said.title.endswith(".")
    assert said.cannot_see
    assert any(example.is_bad for example in said.examples)
    assert any(not example.is_bad for example in said.examples)
    assert len(HEALTHY | getattr(_case_module(check_id), "SILENT")) >= 12  # noqa: B009 the module is not typed


LOOP = dedent(
    """
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
    """
)


def test_failure_carries_place_chain_and_next_step(tmp_path: Path) -> None:
    report = run_checks(_write(tmp_path, {"pkg/train.py": LOOP}), only=["missing-zero-grad"])
    finding = report.findings[0]
    assert (finding.by, finding.outcome, finding.place) == (
        "check:missing-zero-grad",
        "fail",
        "pkg/train.py:8",
    )
    assert [link.line for link in finding.chain] == [6, 7, 8]
    assert finding.next.startswith("trainsleuth probe --only step_trace -- ")
    assert report.examined == {"missing-zero-grad": {"sites": 1, "unresolved": 0}}


def test_each_site_is_counted_once_and_summed_up(tmp_path: Path) -> None:
    clean = LOOP.replace("model(x).mean()", "optimizer.zero_grad(); model(x).mean()")
    unclear = "import torch\n\ndef go(optimizer):\n    optimizer.step()\n"
    files = {"bad.py": LOOP, "clean.py": clean, "unclear.py": unclear}
    report = run_checks(_write(tmp_path, files), only=["missing-zero-grad"])
    assert [finding.outcome for finding in report.findings] == ["fail", "open"]  # a pass rules it out for all
    assert report.findings[1].measured == {"examined": 3, "failed": 1, "unresolved": 1}
    assert [(place.path, place.line) for place in report.unresolved] == [("unclear.py", 4)]


SHARING = dedent(
    """
    import torch

    def stages(model):
        whole = torch.optim.Adam([*model.base.parameters(), *model.head.parameters()])
        first = torch.optim.Adam([*model.base.parameters(), *model.side.parameters()])
        later = torch.optim.Adam(model.head.parameters())
        return whole, first, later
    """
)


def test_optimizers_that_share_one_model_are_one_question(tmp_path: Path) -> None:
    report = run_checks(_write(tmp_path, {"stages.py": SHARING}), only=["wrong-player-optimized"])
    asked = [finding for finding in report.findings if finding.outcome == "fail"]
    assert [[link.line for link in finding.chain] for finding in asked] == [[5, 6, 7]]
    assert "whole, first, later own model.base and model.head in common" in asked[0].message


MASKED = dedent(
    """
    import torch

    def train(model, target, loader, optimizer):
        for x, mask in loader:
            loss = (model(x) * mask).sum() / mask.sum()
            loss = loss + ((model(x) - target(x)) * mask).sum() / mask.sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
)


def test_means_over_a_mask_are_one_question(tmp_path: Path) -> None:
    report = run_checks(_write(tmp_path, {"train.py": MASKED}), only=["singular-at-zero"])
    asked = [finding for finding in report.findings if finding.outcome == "fail"]
    assert [sorted(link.line for link in finding.chain) for finding in asked] == [[6, 7]]


def test_paths_narrow_the_report_but_not_the_index(tmp_path: Path) -> None:
    files = {"a/train.py": LOOP, "b/train.py": LOOP}
    report = run_checks(_write(tmp_path, files), only=["missing-zero-grad"], paths=["b"])
    assert [finding.path for finding in report.findings if finding.outcome == "fail"] == ["b/train.py"]


def test_tests_of_the_project_are_not_accused(tmp_path: Path) -> None:
    assert _failures(tmp_path, {"tests/test_train.py": LOOP}) == set()


def test_nothing_to_examine_is_said(tmp_path: Path) -> None:
    report = run_checks(_write(tmp_path, {"readme.py": "x = 1\n"}))
    assert {finding.outcome for finding in report.findings} == {"skip"}


def test_unknown_check_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownCheckError, match="double-softmax"):
        run_checks(_write(tmp_path, {}), only=["no-such-check"])


def test_notebook_failure_names_its_cell(tmp_path: Path) -> None:
    import json

    cells = [
        {"cell_type": "markdown", "source": "# hi"},
        {"cell_type": "code", "source": LOOP.splitlines(True)},
    ]
    report = run_checks(_write(tmp_path, {"run.ipynb": json.dumps({"cells": cells})}), only=["missing-zero-grad"])
    assert report.findings[0].outcome == "fail"
    assert "cell 2, line 8" in report.findings[0].message


NO_MODES = """# file: other.py
from torch import nn

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
# file: compare.py
from other import Other
from flow import Flow
# file: flow.py
import torch
from torch import nn

class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)

    def forward(self, x):
        return self.net(x)

@torch.no_grad()
def generate(model):
    model.eval()
    return model(torch.randn(4, 2))

def train_epoch(model, loader, optimizer):
    model.train()
    for i, x in enumerate(loader):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        if i % 50 == 0:
            generate(model)

if __name__ == "__main__":
    model = Flow()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        train_epoch(model, [], optimizer)
"""


BY_RATE = NO_MODES.replace(
    "class Flow(nn.Module):\n    def __init__(self):", "class Flow(nn.Module):\n    def __init__(self, rate=0.0):"
).replace("self.net = nn.Linear(2, 2)", "self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(rate))")


@pytest.mark.usefixtures("right_so_far")
def test_eval_mode_of_a_model_without_modes_is_only_a_note(tmp_path: Path) -> None:
    severities = {
        name: [
            finding.severity
            for finding in run_checks(
                _write(tmp_path / name, dict(files_of(source))), only=["eval-not-restored"]
            ).findings
            if finding.outcome == "fail"
        ]
        for name, source in {
            "without": NO_MODES,
            "with": NO_MODES.replace(
                "self.net = nn.Linear(2, 2)", "self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())"
            ),
            "with a rate of 0": BY_RATE,
            "with another rate": BY_RATE.replace("= Flow()", "= Flow(rate=0.1)"),
            "chosen by an option": NO_MODES.replace(
                "        self.net = nn.Linear(2, 2)",
                "        self.net = nn.Linear(2, 2)\n        if kind == 'b':\n            self.net = nn.BatchNorm1d(2)",
            ).replace(
                "__init__(self):\n        super().__init__()\n        self.net",
                "__init__(self, kind='g'):\n        super().__init__()\n        self.net",
            ),
        }.items()
    }
    assert severities == {
        "without": ["note"],
        "with": ["error"],
        "with a rate of 0": ["note"],
        "with another rate": ["error"],
        "chosen by an option": ["note"],
    }


DOUBLE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x).softmax(-1)

def train(loader, net=Net()):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        DEAD
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
SOFTMAX = "loss = nn.functional.cross_entropy(net(x), y)"
PLAIN = "loss = nn.functional.mse_loss(net(x), y)"


@pytest.mark.parametrize(
    "lines",
    [
        ("if True:", f"    {PLAIN}", "else:", f"    {SOFTMAX}"),
        (PLAIN, "if 0:", f"    {SOFTMAX}"),
        (PLAIN, "while False:", f"    {SOFTMAX}"),
        (PLAIN, "def stop():", "    return loss", f"    {SOFTMAX}"),
    ],
)
def test_a_fault_in_code_that_never_runs_is_none(lines: tuple[str, ...], tmp_path: Path) -> None:
    source = DOUBLE.replace("DEAD", "\n        ".join(lines))
    assert _failures(tmp_path / "dead", {"train.py": source}) == set()
    alive = source.replace("if True:", "if x.numel():").replace("if 0:", "if x.numel():")
    alive = alive.replace("while False:", "while x.numel():").replace("    return loss\n", "    loss\n")
    assert _failures(tmp_path / "alive", {"train.py": alive}, "double-softmax") == {"double-softmax"}


def test_a_try_may_lead_past_a_return(tmp_path: Path) -> None:
    lines = (
        PLAIN,
        "def go():",
        "    try:",
        "        return int(loss)",
        "    except ValueError:",
        "        pass",
        f"    {SOFTMAX}",
    )
    source = DOUBLE.replace("DEAD", "\n        ".join(lines))
    assert _failures(tmp_path, {"train.py": source}, "double-softmax") == {"double-softmax"}


OLD_ORDER = """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    for epoch in range(90):
        scheduler.step()
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"train.py": OLD_ORDER}, "warning"),
        ({"train.py": "from torch.autograd import Variable\n" + OLD_ORDER}, "note"),
        ({"train.py": OLD_ORDER, "requirements.txt": "numpy\ntorch==0.4.1\n"}, "note"),
        ({"a/train.py": OLD_ORDER, "README.md": "Tested with PyTorch 1.0.\n"}, "note"),
        ({"a/train.py": OLD_ORDER, "requirement.txt": "numpy==1.16\ntorch==1.0.1.post2\n"}, "note"),
        ({"a/train.py": OLD_ORDER, "old/pip_reqs.txt": "torch==0.4.1\n"}, "note"),
        ({"a/train.py": OLD_ORDER, "conda_env.yaml": "dependencies:\n  - pytorch=1.0.1\n"}, "note"),
        ({"a/train.py": OLD_ORDER, "Dockerfile": "FROM pytorch/pytorch:1.0-cuda10.0-cudnn7-devel\n"}, "note"),
        ({"a/train.py": OLD_ORDER, "Pipfile": '[packages]\ntorch = "==1.0.0"\n'}, "note"),
        ({"a/train.py": OLD_ORDER, "feature_request.md": "torch 1.0\n"}, "warning"),
        ({"train.py": OLD_ORDER, "requirements.txt": "torch>=1.10\n"}, "warning"),
        ({"train.py": OLD_ORDER, "requirements.txt": "torchtyping==0.1.4\ntorch\nscipy==1.0\n"}, "warning"),
        ({"train.py": "from torch.autograd import Variable\n" + OLD_ORDER, "README.md": "PyTorch 1.7"}, "warning"),
        (
            {"train.py": "from torch.autograd import Variable\n" + OLD_ORDER, "other/requirements.txt": "torch==1.9\n"},
            "note",
        ),
    ],
)
@pytest.mark.usefixtures("right_so_far")
def test_the_order_of_an_old_torch_is_a_note_there(files: dict[str, str], severity: str, tmp_path: Path) -> None:
    report = run_checks(_write(tmp_path, files), only=["scheduler-before-optimizer"])
    assert [finding.severity for finding in report.findings if finding.outcome == "fail"] == [severity]


PLAIN_MODEL = """
import torch
from parts import thing
from torch import nn

model = nn.Sequential(nn.Linear(1, 10), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    loss = nn.functional.l1_loss(model(torch.ones(2, 1)), torch.ones(2, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.inference_mode():
        print(model(torch.ones(2, 1)))
"""


@pytest.mark.usefixtures("right_so_far")
@pytest.mark.parametrize(
    ("layer", "severity"), [("nn.ReLU()", "note"), ("nn.Dropout()", "error"), ("thing()", "error")]
)
def test_layers_of_a_sequential_decide_whether_modes_matter(layer: str, severity: str, tmp_path: Path) -> None:
    source = PLAIN_MODEL.replace("nn.Linear(10, 1)", f"{layer}, nn.Linear(10, 1)")
    report = run_checks(_write(tmp_path, {"train.py": source}), only=["eval-not-restored"])
    assert [finding.severity for finding in report.findings if finding.outcome == "fail"] == [severity]


def test_an_exercise_that_is_not_solved_is_not_judged(tmp_path: Path) -> None:
    unsolved = LOOP.replace(
        "        model(x)", "        # YOUR CODE HERE: clear the gradients\n        <YOUR CODE>\n        model(x)"
    )
    report = run_checks(_write(tmp_path, {"train.py": unsolved}), only=["missing-zero-grad"])
    assert report.findings[0].outcome == "open"
    assert "train.py:8 is left to be filled in" in report.unresolved[0].why


PHASES = """
import torch

def train(model, loaders):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=7)
    for phase in ("train", "valid"):
        if phase == "train":
            scheduler.step()
        for x in loaders[phase]:
            optimizer.zero_grad()
            loss = model(x).mean()
            if phase == "train":
                loss.backward()
                optimizer.step()
"""


def test_a_schedule_first_under_a_test_is_not_told_clean(tmp_path: Path) -> None:
    report = run_checks(_write(tmp_path, {"train.py": PHASES}), only=["scheduler-before-optimizer"])
    assert [finding.outcome for finding in report.findings] == ["open"]
    assert "a test decides in which rounds" in report.unresolved[0].why


SEEDED = """
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __getitem__(self, i):
        return DRAW

def build(seed):
    def init(worker):
        np.random.seed(int(seed))

    options = {"num_workers": WORKERS}
    return [DataLoader(Images(), worker_init_fn=init, **options), DataLoader(Images(), worker_init_fn=init, **options)]
"""


@pytest.mark.parametrize(
    ("workers", "draw", "accusing"),
    [("4", "np.random.rand(i)", [True]), ("4", "i", [False]), ("0", "np.random.rand(i)", [])],
)
def test_a_seed_of_workers_is_told_once_and_where_it_matters(
    workers: str, draw: str, accusing: list[bool], tmp_path: Path
) -> None:
    source = SEEDED.replace("WORKERS", workers).replace("DRAW", draw)
    report = run_checks(_write(tmp_path, {"train.py": source}), only=["same-randomness-per-worker"])
    assert [bool(finding.grounds) for finding in report.findings if finding.outcome == "fail"] == accusing


LIST = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
"""
LEARN = "\ndef train(x):\n    Net()(x).mean().backward()\n"
UNMADE = f"""
# file: net.py
{LIST}
def build_deep():
    return Net()

def build_flat():
    return nn.Linear(2, 2)
# file: train.py
import net

def train(x):
    # net.build_deep()
    net.build_flat()(x).mean().backward()
"""
FLAG = """
import torch

def convert(arrays):
    tensors = {}
    for name, array in arrays.items():
        tensor = torch.from_numpy(array)
        tensor.require_grad = True
        tensors[name] = tensor
    return tensors
"""
RETURNS = """
import torch

def improve(policy, rewards, dones, gamma):
    running, returns = 0.0, []
    for reward in reversed(rewards):
        running = reward + gamma * running
        returns.append(running)
    return torch.tensor(returns)
"""


@pytest.mark.parametrize(
    ("check_id", "source", "louder"),
    [
        ("plain-list-submodules", LIST, LIST + LEARN),
        ("plain-list-submodules", UNMADE, UNMADE.replace("# net.build", "net.build")),
        ("ineffective-requires-grad", FLAG, FLAG.replace("torch.from_numpy(array)", "torch.nn.Parameter(array)")),
        ("bootstrap-across-end", RETURNS, RETURNS.replace("gamma * running", "gamma * policy(rewards.next_state)")),
    ],
)
def test_what_may_cost_nothing_is_a_note(check_id: str, source: str, louder: str, tmp_path: Path) -> None:
    for name, text, accuses in (("quiet", source, False), ("loud", louder, True)):
        report = run_checks(_write(tmp_path / name, dict(files_of(text))), only=[check_id])
        assert [bool(finding.grounds) for finding in report.findings if finding.outcome == "fail"] == [accuses]
