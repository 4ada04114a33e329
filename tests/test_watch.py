"""A run that is watched stays what it is; its first breach becomes a bundle, and the bundle an experiment here."""

from __future__ import annotations

import importlib.util
import json
import math
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from probed import with_edits
from trainsleuth.launcher.environment import RUNTIME
from twins import Answer, trainsleuth

pytest.importorskip("torch")

PROGRAM = """
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
ROWS = int(os.environ.get("ROWS", "1600"))


class Rows(Dataset):
    def __len__(self):
        return ROWS

    def __getitem__(self, number):
        row = torch.rand(8, generator=torch.Generator().manual_seed(number))
        if number == 1201:
            row[3] = 0.0
        return {"row": row, "label": (row[0] > 0.5).long()}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, row):
        level = torch.log(row)
        return self.body(level)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for batch in DataLoader(Rows(), 16, shuffle=True):
        loss = nn.functional.cross_entropy(model(batch["row"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("trained")
raise SystemExit(3)
"""
HEALTHY = PROGRAM.replace("number == 1201", "number < 0")
MENDED = PROGRAM.replace("torch.log(row)", "torch.log(row.clamp(min=1e-4))")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def watched(program: str, folder: Path, *options: str) -> Answer:
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(program)
    return trainsleuth("watch", *options, "--", "python", "train.py", cwd=folder)


def told(home: Path, kind: str) -> list[dict[str, Any]]:
    lines = [line for path in home.glob("watched/*/events-*") for line in path.read_text().splitlines()]
    return [event for event in map(json.loads, lines) if event["kind"] == kind]


def test_a_healthy_run_is_what_it_is_alone(home: Path, tmp_path: Path) -> None:
    answer = watched(HEALTHY, tmp_path / "project")
    assert (answer.code, answer.output) == (3, "trained\n")
    assert answer.errors == "trainsleuth watch: 200 steps, no breach\n"
    assert [path.name for path in (tmp_path / "project").iterdir()] == ["train.py"]
    assert {*told(home, "hooks")[0]["hooks"].values()} == {"ok"} and told(home, "watch_ended")[0]["steps"] == 200


def test_a_breach_is_kept_and_becomes_an_experiment_elsewhere(home: Path, tmp_path: Path) -> None:
    answer = watched(PROGRAM, tmp_path / "there", "--bundles", str(tmp_path / "kept"))
    assert (answer.code, answer.output) == (3, "trained\n"), "the run goes on to its own end"
    (bundle,) = (tmp_path / "kept").iterdir()
    assert (
        "the loss became nan at train.py:38\n" in answer.errors
        and f"trainsleuth replay {bundle} -- COMMAND" in answer.errors
    )

    said = trainsleuth("replay", str(bundle), cwd=tmp_path)
    assert (
        said.code == 0
        and "the newest batch: row [16, 8], label [16]" in said.output
        and "states of Adam" in said.output
    )

    here = tmp_path / "here"
    here.mkdir()
    (here / "train.py").write_text(PROGRAM.replace('"1600"', '"160"'))  # the row is not among its data
    found = trainsleuth("replay", str(bundle), "--", "python", "train.py", cwd=here)
    assert found.code == 1 and "put back: the weights of Net" in found.output, found.output
    assert "log at train.py:28 in Net made 1 -inf" in found.output, found.output

    (here / "train.py").write_text(MENDED.replace('"1600"', '"160"'))
    found = trainsleuth("replay", str(bundle), "--format", "json", "--", "python", "train.py", cwd=here)
    assert found.code == 0, found.output + found.errors
    assert found.json["put_back"]["optimizers"] == ["Adam"] and found.json["put_back"]["batches"] > 10


KEEPS = {
    "a dataclass, its weights under another name, a rate of numpy": [
        (
            "from torch.utils.data import DataLoader, Dataset\n",
            "from dataclasses import dataclass\nimport numpy\nfrom torch.utils.data import DataLoader, Dataset\n\n\n@dataclass\nclass Batch:\n    row: torch.Tensor\n    label: torch.Tensor\n    name: str = ''\n\n\ndef collated(rows):\n    return Batch(torch.stack([one['row'] for one in rows]), torch.stack([one['label'] for one in rows]))\n\n\n",
        ),
        ("DataLoader(Rows(), 16, shuffle=True)", "DataLoader(Rows(), 16, shuffle=True, collate_fn=collated)"),
        ('batch["row"]', "batch.row"),
        ('batch["label"]', "batch.label"),
        (
            "optimizer.zero_grad()",
            "optimizer.param_groups[0]['lr'] = numpy.float64(1e-3)\n        optimizer.zero_grad()",
        ),
    ],
    "read ahead": [
        (
            "    for batch in DataLoader(Rows(), 16, shuffle=True):\n",
            "    source = iter(DataLoader(Rows(), 16, shuffle=True))\n    ahead = next(source)\n    while ahead is not None:\n        batch, ahead = ahead, next(source, None)\n",
        )
    ],
    "a part of the module is called": [("model(batch", "model.body(torch.log(batch"), ('["row"])', '["row"]))')],
}


@pytest.mark.twins
@pytest.mark.parametrize("name", KEEPS)
def test_what_a_bundle_keeps_is_put_back(name: str, home: Path, tmp_path: Path) -> None:
    program = with_edits(PROGRAM, KEEPS[name])
    answer = watched(program, tmp_path / "there", "--stop", "--bundles", str(tmp_path / "kept"))
    (bundle,) = (tmp_path / "kept").iterdir()
    assert "watch no more" not in answer.errors
    (tmp_path / "train.py").write_text(program.replace('"1600"', '"160"'))
    found = trainsleuth("replay", str(bundle), "--", "python", "train.py", cwd=tmp_path)
    assert found.code == 1 and "1 -inf" in found.output and "did not fit" not in found.output, found.output


HELD = """
import gc, weakref
import torch
from torch.utils.data import DataLoader, TensorDataset

left = []
for fold in range(3):
    data = TensorDataset(torch.randn(64, 4))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for (batch,) in DataLoader(data, 8):
        scaler = torch.amp.GradScaler("cpu")
        torch.autograd.backward((model(batch).sum(), model(batch).mean()))
        optimizer.step()
    left += [weakref.ref(data), weakref.ref(optimizer), weakref.ref(model.weight)]
    del data, model, optimizer, batch
gc.collect()
print(sum(one() is not None for one in left[:6]))
"""


def test_nothing_of_a_program_is_held(home: Path, tmp_path: Path) -> None:
    answer = watched(HELD, tmp_path / "project")
    assert (answer.code, answer.output, answer.errors) == (0, "0\n", "trainsleuth watch: 24 steps, no breach\n"), answer


TWO = """
import torch

one, other = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
steps = [torch.optim.SGD(model.parameters(), lr=0.0001) for model in (one, other)]
for number in range(300):
    for model, optimizer in zip((one, other), steps):
        optimizer.zero_grad()
        (model(torch.randn(8, 4)) ** 2).mean().backward()
        if model is other and number > 5:
            model.weight.grad.fill_(float("nan"))
        optimizer.step()
"""


@pytest.mark.twins
def test_the_gradients_of_every_optimizer_are_looked_at(home: Path, tmp_path: Path) -> None:
    assert "became nan" in watched(TWO, tmp_path / "project").errors


@pytest.mark.twins
def test_finite_gradients_of_half_precision_are_no_breach(home: Path, tmp_path: Path) -> None:
    program = """
import torch
weight = torch.nn.Parameter(torch.zeros(4096, 64, dtype=torch.float16))
optimizer = torch.optim.SGD([weight], lr=1e-6)
for _ in range(50):
    weight.grad = torch.full_like(weight, 1000.0)
    torch.zeros(1, requires_grad=True).sum().backward()
    optimizer.step()
"""
    assert watched(program, tmp_path / "project").errors == "trainsleuth watch: 50 steps, no breach\n"


@pytest.mark.twins
def test_a_preflight_goes_over_into_watching(home: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEALTHY.replace("raise SystemExit(3)\n", ""))
    again = ("--then-watch", "--", "python", "-m", "trainsleuth", "watch")  # what is probed is not watched twice
    answer = trainsleuth("preflight", "--time", "30", *again, "--", "python", "train.py", cwd=tmp_path)
    assert (answer.code, answer.output) == (0, "trained\n"), answer
    assert answer.errors.startswith("GO  ") and answer.errors.count("200 steps, no breach") == 1


@pytest.mark.twins
def test_stop_ends_the_run(home: Path, tmp_path: Path) -> None:
    answer = watched(PROGRAM, tmp_path / "project", "--stop")
    assert answer.code == 1 and not answer.output and answer.errors.endswith("stopped, as --stop asks\n")


@pytest.mark.twins
def test_a_bundle_does_not_fit_another_model(home: Path, tmp_path: Path) -> None:
    watched(PROGRAM, tmp_path / "there", "--stop", "--bundles", str(tmp_path / "kept"))
    (bundle,) = (tmp_path / "kept").iterdir()
    (tmp_path / "train.py").write_text(MENDED.replace("64", "32"))
    found = trainsleuth("replay", str(bundle), "--", "python", "train.py", cwd=tmp_path)
    assert (
        "did not fit: the state of Adam" in found.output
        or "the weights of Net" in found.output.partition("did not fit")[2]
    ), found.output


@pytest.mark.parametrize("folder", ["empty", "other version", "broken"])
def test_what_is_no_bundle_is_said(folder: str, tmp_path: Path) -> None:
    if folder != "empty":
        (tmp_path / "tensors.pt").write_bytes(b"")
        (tmp_path / "bundle.json").write_text("{" if folder == "broken" else '{"n": 1, "message": "", "version": 99}')
    answer = trainsleuth("replay", str(tmp_path), cwd=tmp_path)
    words = {
        "empty": "is no bundle: it holds no bundle.json",
        "other version": "another version",
        "broken": "cannot be read",
    }
    assert answer.code == 2 and words[folder] in answer.errors and "Traceback" not in answer.errors


def test_a_run_that_cannot_be_watched_goes_on(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "torch.py").write_text("")
    answer = watched("import torch\nprint('ran')\n", folder)
    assert (answer.code, answer.output) == (0, "ran\n")
    assert "could not be put into torch" in answer.errors and "it runs on unwatched" in answer.errors


@pytest.mark.twins
def test_compiled_models_are_compiled_whole(home: Path, tmp_path: Path) -> None:
    """Nothing of ours stands between the compiler and a module."""
    compiled = [
        ("model = Net()", "model = torch.compile(Net(), backend='eager')"),
        (
            'print("trained")',
            "from torch._dynamo.utils import counters\nprint(dict(counters['graph_break']), counters['stats']['unique_graphs'])",
        ),
    ]
    answer = watched(with_edits(HEALTHY, compiled), tmp_path / "project")
    assert answer.output == "{} 1\n", answer


@pytest.mark.twins
def test_a_program_without_a_loader_keeps_its_weights(home: Path, tmp_path: Path) -> None:
    drawn = [
        (
            "    for batch in DataLoader(Rows(), 16, shuffle=True):\n",
            '    for number in range(100):\n        batch = {"row": torch.rand(16, 8) - 0.01, "label": torch.randint(0, 2, (16,))}\n',
        )
    ]
    watched(with_edits(PROGRAM, drawn), tmp_path / "project", "--bundles", str(tmp_path / "kept"))
    (bundle,) = (tmp_path / "kept").iterdir()
    assert "weights and buffers of Net" in trainsleuth("replay", str(bundle), cwd=tmp_path).output


@pytest.mark.twins
def test_each_rank_watches_itself(home: Path, tmp_path: Path) -> None:
    ranks = [
        (
            "torch.manual_seed(0)\n",
            "import torch.distributed as dist\ndist.init_process_group('gloo')\ntorch.manual_seed(dist.get_rank())\n",
        ),
        ("model = Net()", "model = nn.parallel.DistributedDataParallel(Net())"),
        ("raise SystemExit(3)\n", "dist.destroy_process_group()\n"),
        ("number == 1201", "number == 1201 and dist.get_rank() == 1"),
    ]
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(with_edits(PROGRAM, ranks))
    answer = trainsleuth(
        "watch", "--bundles", str(tmp_path / "kept"), "--", "torchrun", "--nproc-per-node", "2", "train.py", cwd=folder
    )
    assert answer.code == 0 and answer.output.count("trained") == 2, answer
    assert "(rank 1): the loss became nan" in answer.errors and any(
        path.name.endswith("-1") for path in (tmp_path / "kept").iterdir()
    )


# -- the rules -----------------------------------------------------------------------------


def rules() -> Any:
    spec = importlib.util.spec_from_file_location("breaches", RUNTIME / "breaches.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Rules()


def breaches(losses: Iterable[float], **how: Any) -> list[str]:
    own = rules()
    return [found["breach"] for found in (own.loss(value, **how) for value in losses) if found is not None]


noise = random.Random(0)
FALLING = [3 * math.exp(-n / 200) + 0.3 + 0.1 * noise.random() for n in range(2000)]
SERIES = {
    "falls": (FALLING, []),
    "nan": ([1.0, math.nan, math.nan], ["nonfinite"]),
    "infinite": ([1.0, math.inf], ["nonfinite"]),
    "falls and explodes": ([*FALLING, *(0.3 * 1.05**n for n in range(300))], ["divergence"]),
    "single spikes": ([value * (100 if n % 97 == 0 else 1) for n, value in enumerate(FALLING)], []),
    "rises with a curriculum": ([0.5 + n / 1000 for n in range(2000)], []),
    "negative and falling": ([-n / 10 for n in range(2000)], []),
    "swings around zero": ([math.sin(n / 30) for n in range(2000)], []),
    "fitted to nothing": ([max(1e-6, value - 0.3) * (1 + noise.random()) for value in FALLING], []),
    "one batch, fitted": ([1 / (1 + n) for n in range(2000)], []),
    "stands still, as a surrogate does": ([0.0] * 500, []),
    "zero now and then": ([0.0 if n % 3 else 0.1 + noise.random() for n in range(2000)], []),
}


@pytest.mark.parametrize("name", SERIES)
def test_losses_by_the_rules(name: str) -> None:
    values, expected = SERIES[name]
    assert breaches(values) == expected


def test_adversaries_may_rise() -> None:
    assert breaches(SERIES["falls and explodes"][0], is_single=False) == []


def test_gradients_rates_and_times_by_the_rules() -> None:
    own = rules()
    assert own.gradient(math.nan, is_scaled=True) is None and own.gradient(math.inf)["breach"] == "nonfinite"
    own = rules()
    assert [one["breach"] for one in map(own.gradient, [1.0, *[0.0] * 60]) if one] == ["no gradient"]
    own = rules()
    assert not any(map(own.rate, [[0.0]] * 100)), "a warm-up begins there"
    assert [one["breach"] for one in map(own.rate, [[0.1], *[[0.0, 0.0]] * 300]) if one] == ["no rate"]
    assert not any(map(rules().rate, [["a tensor"]] * 300))
    own = rules()
    assert not any(map(own.seconds, [0.1 * (1 + (n % 50 == 0)) for n in range(2000)]))
    assert [one["breach"] for one in map(own.seconds, [0.3] * 1000) if one] == ["slower"]
