"""What settings decide in code: values that code works out, branches behind names, what stands where it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import map_depth
import pytest
from trainsleuth.map import expand_component, map_repository

SCRIPT = """import argparse
import torch
from torch import nn, optim

KINDS = {"plain": 1, "deep": 2}


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=None)
    parser.add_argument("--opt", default="fused_adam")
    parser.add_argument("--kind", default="plain")
    parser.add_argument("--version", default="1")
    parser.add_argument("--val-every", type=int, default=None)
    parser.add_argument("--shift", type=float, default=0.0)
    parser.add_argument("--log-every", type=int, default=5)
    return parser.parse_args()


def make_optimizer(net, name):
    short = name.lower().split("_")[-1]
    if short == "sgd":
        return optim.SGD(net.parameters(), lr=0.5)
    elif short == "adam":
        return optim.Adam(net.parameters(), lr=0.1)


def main():
    args = options()
    if args.epochs is None:
        args.epochs = 3
    else:
        args.epochs = args.epochs * 2
    net = nn.Linear(2, 2)
    head = nn.Linear(2, 1)
    net.requires_grad_(False)
    if args.kind in KINDS:
        head.bias.requires_grad = False
    optimizer = make_optimizer(head, args.opt)
    if args.version == "1":
        head.weight.data += args.shift
    count = 0
    for epoch in range(args.epochs):
        inputs = torch.ones(4, 2)
        target = inputs.mean(1, keepdim=True)
        pred = head(net(inputs))
        loss = nn.functional.mse_loss(pred, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        count += 1
        is_time = args.val_every is not None and (epoch + 1) % args.val_every == 0
        if is_time:
            evaluate(net, head, count)
        if (epoch + 1) % args.log_every == 0:
            print("loss", loss.item())


def evaluate(net, head, count):
    head.eval()
    print("valid loss", head(net(torch.ones(1, 2))).mean().item(), count)


if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write({"train.py": SCRIPT}, tmp_path_factory.mktemp("decided"))


def shown(root: Path, what: str, command: str = "python train.py") -> str:
    return expand_component(root, what, recipe=command, budget=3000).text


def keys(root: Path, command: str) -> dict[str, dict[str, Any]]:
    found = expand_component(root, "config", recipe=command, budget=3000)
    return {item["name"]: dict(item) for item in found.items}


def test_what_code_makes_of_a_setting_is_worked_out(root: Path) -> None:
    assert keys(root, "python train.py")["epochs"]["value"] == "3"
    assert "epochs=3 :31" in shown(root, "training_loop")


def test_what_cannot_be_worked_out_stays_open(root: Path) -> None:
    epochs = keys(root, "python train.py --epochs 7")["epochs"]
    assert epochs["value"] == "7"
    assert [layer["certain"] for layer in epochs["layers"]] == [True, True, False]  # doubled: not 7, and not 3


def test_dispatch_is_followed_through_names_parts_and_parameters(root: Path) -> None:
    text = shown(root, "optimizer_scheduler")
    assert "optim.Adam(" in text
    assert "optim.SGD(" not in text
    assert '| if short == "sgd":\n   |     # off: opt = fused_adam (train.py:11)\n   | elif' in text
    assert "optim.SGD(" in shown(root, "optimizer_scheduler", "python train.py --opt sgd")


def test_a_test_that_is_bound_in_the_loop_decides(root: Path) -> None:
    assert "val_every = None (train.py:14)" in shown(root, "evaluation")
    assert "val_every = None" not in shown(root, "evaluation", "python train.py --val-every 2").partition("# off")[2]


def test_text_is_not_taken_for_a_number(root: Path) -> None:
    assert "version" not in shown(root, "model", "python train.py --version 1").partition("# off")[2]


def test_what_is_frozen_is_listed_with_its_condition(root: Path) -> None:
    lines = shown(root, "model").partition("# frozen and thawed\n")[2].splitlines()
    assert lines[0] == "  train.py:36 net.requires_grad_(False)"
    assert lines[1] == "  train.py:38 head.bias.requires_grad = False · when args.kind in KINDS"
    assert "head.bias" not in shown(root, "model", "python train.py --kind other").partition("# frozen")[2]


def test_a_loss_says_what_its_arguments_are_made_of(root: Path) -> None:
    text = shown(root, "loss")
    assert "where pred = head(net(inputs)) :46" in text
    assert "where target = inputs.mean(1, keepdim=True) :45" in text


def test_conditions_keep_their_brackets_and_a_counter_is_no_constant(root: Path) -> None:
    text = shown(root, "logging")
    assert "when (epoch + 1) % args.log_every == 0" in text
    assert "count: 0" not in text + shown(root, "evaluation")


def test_a_setting_whose_name_does_not_tell_stands_where_it_is_read(root: Path) -> None:
    parts = ("data", "model", "loss", "optimizer_scheduler", "training_loop", "logging", "checkpointing", "evaluation")
    assert any("shift=2.0" in shown(root, part, "python train.py --shift 2.0") for part in parts)


def test_a_chain_of_comparisons_is_left_open(tmp_path: Path) -> None:
    """It once asked itself for its own value without end."""
    source = "    if args.kind in KINDS:\n"
    assert source in SCRIPT
    chained = SCRIPT.replace(source, "    few = 0 < args.epochs < 9\n    if few:\n")
    (tmp_path / "train.py").write_text(chained)
    answer = expand_component(tmp_path, "model", recipe="python train.py --epochs 4", budget=2000)
    assert "head.bias" in answer.text


def test_names_that_stand_for_each_other_and_parameters_decide_nothing(tmp_path: Path) -> None:
    """Two names of one function that are bound to one another were once followed without end."""
    (tmp_path / "train.py").write_text(
        SCRIPT.replace("    if args.kind in KINDS:\n", "    one = other\n    other = one\n    if one == 'deep':\n")
    )
    answer = expand_component(tmp_path, "model", recipe="python train.py --epochs 4", budget=2000)
    assert "head.bias" in answer.text


@pytest.mark.parametrize(("asked", "runs"), [("cfg.section is not None", True), ("not args.section", False)])
def test_a_flag_is_not_compared_with_nothing(tmp_path: Path, asked: str, runs: bool) -> None:
    flag = '    parser.add_argument("--section", action="store_true")\n    parser.add_argument("--kind"'
    lines = (
        f"    cfg = settings(args.section)\n    if {asked}:\n        return\n    count = 0\n    torch.manual_seed(3)\n"
    )
    changed = SCRIPT.replace('    parser.add_argument("--kind"', flag).replace("    count = 0\n", lines)
    map_depth.write({"train.py": changed}, tmp_path)
    seeds = map_repository(tmp_path, recipe="python train.py").features["seeds"]
    assert (seeds.status == "found") == runs and ("section = False" in seeds.why) != runs


def test_a_return_before_a_loop_keeps_the_loop_from_running(tmp_path: Path) -> None:
    flag = '    parser.add_argument("--section", action="store_true")\n    parser.add_argument("--kind"'
    loop = "    if not args.section:\n        return\n    for again in range(3):\n        torch.manual_seed(again)\n    count = 0\n"
    changed = SCRIPT.replace('    parser.add_argument("--kind"', flag).replace("    count = 0\n", loop)
    map_depth.write({"train.py": changed}, tmp_path)
    assert "section = False" in map_repository(tmp_path, recipe="python train.py").features["seeds"].why
    assert map_repository(tmp_path, recipe="python train.py --section").features["seeds"].status == "found"


ARMS = """import torch
from torch import nn

WIDTH = {width}
net = nn.Linear(4, WIDTH)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    out = net(torch.ones(2, 4))
    if WIDTH == 1:
        loss = nn.functional.binary_cross_entropy_with_logits(out, torch.ones(2, 1))
    else:
        loss = nn.functional.cross_entropy(out, torch.zeros(2, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("width", "line"), [("1", 10), ("2", 12)])
def test_without_a_command_the_arm_of_the_default_comes_first(width: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ARMS.format(width=width))
    best = map_repository(tmp_path).components["loss"].places[0]
    assert (best.path, best.line) == ("train.py", line)


AFTERWARDS = """import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--evaluate", action="store_true")
args = parser.parse_args()
net = torch.nn.Linear(2, 1)
if args.evaluate:
    print(net(torch.ones(1, 2)))
else:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(10):
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    args.evaluate = True
    print(net(torch.ones(1, 2)))
"""


def test_what_is_set_after_the_training_decides_nothing_before_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(AFTERWARDS)
    text = expand_component(tmp_path, "run", recipe="python train.py").text
    assert "train.py:11 optimizer = torch.optim.SGD" in text
    assert "evaluate=True" not in text


def test_settings_in_a_name_of_capitals_are_set_by_code_too(tmp_path: Path) -> None:
    shouted = AFTERWARDS.replace("args", "ARGS").replace(
        "ARGS = parser.parse_ARGS()",
        "parser.add_argument('--steps', type=int, default=3)\nARGS = parser.parse_args()\nARGS.steps = 5",
    )
    (tmp_path / "train.py").write_text(shouted.replace("range(10)", "range(ARGS.steps)"))
    assert "steps=5 train.py:8" in expand_component(tmp_path, "run", recipe="python train.py").text


def test_settings_that_are_made_read_only_freeze_no_weights(tmp_path: Path) -> None:
    text = SCRIPT.replace("    net.requires_grad_(False)\n", "    net.requires_grad_(False)\n    args.freeze()\n")
    root = map_depth.write({"train.py": text}, tmp_path)
    assert "freeze()" in text and "args.freeze()" not in shown(root, "model").partition("# frozen and thawed\n")[2]
    other = map_depth.write({"train.py": text.replace("args.freeze()", "net.freeze()")}, tmp_path)
    assert "net.freeze()" in shown(other, "model").partition("# frozen and thawed\n")[2]


@pytest.mark.parametrize(
    ("clears", "said"), [("p.grad = None", False), ("p.grad.data.zero_()", False), ("print(p)", True)]
)
def test_gradients_that_a_loop_clears_by_hand_are_cleared(clears: str, said: bool, tmp_path: Path) -> None:
    text = map_depth.STEP.replace("opt.zero_grad()", f"for p in net.parameters():\n        {clears}")
    train = f"import torch\n\nnet = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n{text}"
    traps = map_repository(map_depth.write({"train.py": train}, tmp_path)).traps
    assert any("no zero_grad was found" in one for one in traps) is said, train
