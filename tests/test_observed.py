"""The observed map: two steps of real programs, what is marked, what is settled, what is said to differ."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trainsleuth.launcher import Run
from trainsleuth.map import COMPONENTS, read_anatomy
from trainsleuth.observing import observation
from trainsleuth.observing.joining import differences, joined
from trainsleuth.observing.telling import lines
from twins import trainsleuth, tree_hash

# a program of names only: which model, loss, data and optimizer run stands in no line that a reader can follow
NAMES = {
    "train.py": """\
import argparse
import pkgutil
from importlib import import_module

import torch

import parts


def find(kind, name):
    for info in pkgutil.iter_modules(parts.__path__):
        module = import_module("parts." + info.name)
        for cls in vars(module).values():
            if getattr(cls, "tag", None) == kind + ":" + name:
                return cls
    raise KeyError(name)


def main(args):
    data = find("data", args.data)(size=64)
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size, shuffle=True)
    model = find("model", args.model)(8)
    loss_of = find("loss", args.loss)()
    optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for epoch in range(5):
        for inputs, target in loader:
            optimizer.zero_grad()
            loss = loss_of(model(inputs), target)
            loss.backward()
            optimizer.step()
        schedule.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="wide")
    parser.add_argument("--loss", default="tilted")
    parser.add_argument("--data", default="lines")
    parser.add_argument("--optimizer", default="SGD")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--api-key", default="hunter2")
    main(parser.parse_args())
""",
    "parts/__init__.py": "",
    "parts/nets.py": """\
from torch import nn


class Wide(nn.Module):
    tag = "model:wide"

    def __init__(self, size):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, inputs):
        return self.layers(inputs)


class Deep(nn.Module):
    tag = "model:deep"

    def __init__(self, size):
        super().__init__()
        self.first, self.last = nn.Linear(size, size), nn.Linear(size, 1)

    def forward(self, inputs):
        return self.last(self.first(inputs).tanh())
""",
    "parts/losses.py": """\
from torch import nn


class Tilted(nn.Module):
    tag = "loss:tilted"

    def forward(self, guess, target):
        over = guess - target
        return (over.clamp(min=0) + 0.5 * (-over).clamp(min=0)).mean()
""",
    "parts/data.py": """\
import torch


class Lines(torch.utils.data.Dataset):
    tag = "data:lines"

    def __init__(self, size):
        self.inputs = torch.randn(size, 8)

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, place):
        return self.inputs[place], self.inputs[place].sum(0, keepdim=True)
""",
}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("names") / "repo"
    for name, text in NAMES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def observed(names: Path) -> dict[str, Any]:
    """The JSON of one observed map of the program of names."""
    before = tree_hash(names)
    answer = trainsleuth(
        *("map", "--observe", "--format", "json", "--", "python", "train.py", "--lr", "0.25", "--model", "deep"),
        cwd=names,
    )
    assert answer.code == 0, answer.errors + answer.output
    assert tree_hash(names) == before
    return answer.json


def parts(observed: dict[str, Any], component: str, role: str) -> list[dict[str, Any]]:
    return [one for one in observed["observed"]["parts"] if (one["component"], one["role"]) == (component, role)]


def line_of(name: str, words: str) -> int:
    return next(number for number, line in enumerate(NAMES[name].split("\n"), 1) if words in line)


def test_what_no_reading_settles_is_seen(observed: dict[str, Any]) -> None:
    (model,) = parts(observed, "model", "class")
    assert (model["name"], model["path"], model["line"]) == (
        "Deep",
        "parts/nets.py",
        line_of("parts/nets.py", "class Deep"),
    )
    assert model["parameters"] == 8 * 8 + 8 + 8 + 1
    (loss,) = parts(observed, "loss", "loss")
    assert (loss["name"], loss["path"]) == ("Tilted", "train.py")
    (data,) = parts(observed, "data", "dataset")
    assert (data["name"], data["path"], data["examples"]) == ("Lines", "parts/data.py", 64)
    (loader,) = parts(observed, "data", "loader")
    assert (loader["batch_size"], loader["sampler"], loader["line"]) == (
        16,
        "RandomSampler",
        line_of("train.py", "DataLoader"),
    )
    (optimizer,) = parts(observed, "optimizer_scheduler", "optimizer")
    assert optimizer["name"] == "torch.optim.sgd.SGD" and optimizer["groups"][0]["lr"] == 0.25
    (schedule,) = parts(observed, "optimizer_scheduler", "scheduler")
    assert schedule["name"].endswith("ExponentialLR") and not schedule.get("stepped")


def test_shapes_order_and_configuration_are_told(observed: dict[str, Any]) -> None:
    (batch,) = parts(observed, "data", "batch")
    assert [(one["dtype"], one["shape"]) for one in batch["tensors"]] == [("float32", [16, 8]), ("float32", [16, 1])]
    (call,) = parts(observed, "model", "call")
    assert [one["shape"] for one in call["gives"]] == [[16, 1]] and call["training"]
    assert observed["observed"]["order"].startswith("batch > zero_grad > forward")
    assert observed["observed"]["steps"] == 2
    args = next(one for one in observed["observed"]["settings"] if one["name"] == "args")
    assert args["values"]["lr"] == 0.25 and args["values"]["model"] == "deep"
    assert args["values"]["api_key"] == "<hidden>" and "hunter2" not in json.dumps(observed)


def test_the_text_marks_what_ran_within_the_budget(observed: dict[str, Any], names: Path) -> None:
    text = observed["text"]
    assert len(text) <= 4 * observed["budget"]["limit"]
    assert list(observed["components"]) == list(COMPONENTS)
    marked = 0
    for part in observed["components"].values():
        for place in part["places"]:
            source = (names / place["path"]).read_text().split("\n")[place["line"] - 1]
            plain = " ".join(source.split()).replace('"hunter2"', "<hidden>")
            assert plain.startswith(place["text"].removesuffix("…"))
            if place["role"] == "observed":
                marked += 1
                assert f"\n  {place['line']} [ran] {place['text']}" in text
    assert marked == len(re.findall(r"^  \d+ \[ran\] ", text, re.M)) >= 12
    assert "# observed in 2 steps" in text


def test_what_reading_had_open_is_settled_in_words(observed: dict[str, Any]) -> None:
    said = {one["component"]: one for one in observed["observed"]["differences"]}
    assert "Deep at parts/nets.py" in said["model"]["seen"] or "Wide" in said["model"]["read"], said
    for name in ("data", "model", "loss", "optimizer_scheduler", "training_loop"):
        assert observed["components"][name]["status"] == "found"


def test_a_program_that_does_not_train_says_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("1 / 0\nimport torch\ntorch.ones(1).backward()\n")
    answer = trainsleuth("map", "--observe", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 2
    assert "# observed: no training step was seen: " in answer.output and "ZeroDivisionError" in answer.output
    assert "the last words of the program:" in answer.output and "[ran]" not in answer.output


def test_commands_are_asked_for_where_they_run(tmp_path: Path) -> None:
    for words, said in (
        (("map", "--", "python", "train.py"), "unless you say --observe"),
        (("map", "--observe"), "put your own command after --"),
        (("map", "--observe", "--budget", "10", "--", "python", "x.py"), "too small"),
        (("map", "--observe", "--scope", "nowhere", "--", "python", "x.py"), "nowhere"),
    ):
        answer = trainsleuth(*words, cwd=tmp_path)
        assert answer.code == 2 and said in answer.errors, (words, answer.errors)


def run_of(*events: dict[str, Any]) -> Run:
    return Run(
        ("python", "train.py"), "", Path(), "stopped", "stopped", events=tuple({"pid": 1, **one} for one in events)
    )


STEP = (
    {"kind": "op", "op": "backward", "site": "a.py:6", "value": 1.0, "n": 0},
    {"kind": "op", "op": "step", "site": "a.py:7", "optimizer": 0, "grads": "some", "lr": [0.1], "n": 0},
    {"kind": "tick", "n": 1, "losses": [], "lr": {}},
)
ELSEWHERE = """\
import torch
from b import other_loss, Net

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = torch.nn.functional.mse_loss(net(torch.ones(1, 2)), torch.zeros(1, 1))
loss.backward()
opt.step()
"""


def test_a_difference_is_shown_and_not_resolved_silently(tmp_path: Path) -> None:
    """Reading names a loss in one file, the run computes another one in a file that reading does not follow."""
    (tmp_path / "a.py").write_text(ELSEWHERE)
    (tmp_path / "b.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Linear):\n    pass\n\n\ndef other_loss(x):\n    return x\n"
    )
    anatomy = read_anatomy(tmp_path)
    loss = {"kind": "loss", "fn": "l1_loss", "site": "c.py:20", "training": True, "value": 1.0, "callers": [], "n": 0}
    seen = observation(run_of(loss, *STEP))
    (said,) = [one for one in differences(anatomy, seen) if one.component == "loss"]
    assert "a.py:6" in said.read and said.seen == "l1_loss at c.py:20" and not said.settles
    assert joined(anatomy, seen).parts["loss"].places == anatomy.parts["loss"].places  # c.py is not of this repository
    assert any("differs: loss" in line and "c.py:20" in line for line in lines(seen, [said], 4_000))


def test_lines_keep_to_their_room() -> None:
    seen = observation(run_of(*STEP))
    for room in (0, 10, 60, 200, 2_000):
        assert sum(len(line) + 1 for line in lines(seen, [], room)) <= room


def test_nothing_seen_is_never_absent() -> None:
    """What two steps did not come to is said to be unseen, not missing."""
    seen = observation(run_of(*STEP))
    text = "\n".join(lines(seen, [], 4_000))
    assert "which says nothing about later ones: evaluation, checkpointing, logging" in text
    unseen = replace(seen, trained=False, why="it ended")
    assert lines(unseen, [], 400) == ["# observed: no training step was seen: it ended"]
