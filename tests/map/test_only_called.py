"""What every call of a function gives decides in it, as a setting does, where nothing but these calls runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.map import expand_component

SGD = "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
STEPS = (SGD + STEP.strip("\n").replace("    opt.step()", "    if clips:\n        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    opt.step()")).replace("\n", "\n    ")  # fmt: skip
TRAINS = f"def train(net, clips=False):\n    {STEPS}\n\n\n"
MADE = "net = torch.nn.Linear(2, 1)\n"
CALLS = {
    "not given": "train(net)\n",
    "given alike": "train(net, clips=False)\ntrain(net, False)\n",
    "given otherwise": "train(net)\ntrain(net, clips=True)\n",
    "held by a table": "TABLE = {'train': train}\ntrain(net)\nTABLE[input()](net, clips=True)\n",
    "handed on": "def runs(f):\n    f(net, True)\n\n\ntrain(net)\nruns(train)\n",
    "asked what it is": "assert isinstance(train, object)\ntrain(net)\n",
}


@pytest.mark.parametrize("how", CALLS)
def test_an_argument_that_no_call_gives(tmp_path: Path, how: str) -> None:
    root = write({"train.py": f"import torch\n\n\n{TRAINS}{MADE}{CALLS[how]}"}, tmp_path)
    sheet = expand_component(root, "run", recipe="python train.py").text
    decided = how in ("not given", "given alike", "asked what it is")
    assert ("off: clips = False (train.py:4)" in sheet) is decided
    assert ("· when clips" in sheet) is not decided


CLASS = (
    "class Denoiser:\n    def __init__(self, norm='lpips'):\n        self.norm = norm\n\n    def losses(self, out):\n"
    "        if self.norm == 'l1':\n            loss = out.abs().mean()\n        else:\n            loss = out.square().mean()\n"
    "        return loss\n\n\n"
)
LOOP = SGD + STEP.replace("net(torch.ones(1, 2)).sum()", "denoiser.losses(net(torch.ones(1, 2)))")
OPTION = (
    "parser = argparse.ArgumentParser()\nparser.add_argument('--norm', default='lpips')\nargs = parser.parse_args()\n"
)


@pytest.mark.parametrize(
    ("made", "left"),
    [("Denoiser()", "square"), ("Denoiser('l1')", "abs"), ("Denoiser(args.norm)", "abs"), ("(lambda c: c('l1'))(Denoiser)", "both")],
)  # fmt: skip
def test_an_option_that_never_gets_to_the_class_it_is_meant_for(tmp_path: Path, made: str, left: str) -> None:
    """As in consistency_models at its first release: --loss_norm is parsed, and the class keeps its own default."""
    text = f"import argparse\n\nimport torch\n\n\n{CLASS}{OPTION}denoiser = {made}\n{MADE}{LOOP}"
    sheet = expand_component(write({"train.py": text}, tmp_path), "run", recipe="python train.py --norm l1").text
    assert ("out.abs()" in sheet, "out.square()" in sheet) == (left in ("abs", "both"), left in ("square", "both"))


SAID = "norm=l1 the command (not handed on: train.py:10 has lpips)"
PICKS = "def pick(args, names):\n    return {name: getattr(args, name) for name in names}\n\n\n"


@pytest.mark.parametrize(
    ("made", "is_said"),
    [
        ("Denoiser()", True),
        ("Denoiser(**pick(args, ('width',)))", False),
        ("Denoiser(args.norm)", False),
        ("Denoiser(getattr(args, 'norm'))", False),
        ("Denoiser('l1')", False),
    ],
)
def test_it_is_told_of_an_option_that_it_is_not_handed_on(tmp_path: Path, made: str, is_said: bool) -> None:
    text = f"import argparse\nimport torch\n\n\n{CLASS}{PICKS}{OPTION}denoiser = {made}\n{MADE}{LOOP}"
    sheet = expand_component(write({"train.py": text}, tmp_path), "run", recipe="python train.py --norm l1").text
    assert (SAID in sheet) is is_said, sheet


def test_the_settings_and_an_answer_tell_it_too(tmp_path: Path) -> None:
    text = f"import argparse\nimport torch\n\n\n{CLASS}{PICKS}{OPTION}denoiser = Denoiser()\n{MADE}{LOOP}"
    root = write({"train.py": text}, tmp_path)
    shown = {
        part: expand_component(root, part, recipe="python train.py --norm l1").text
        for part in ("config", "ask which norm is used?")
    }
    assert "norm = l1 · default lpips · given command · not handed on: train.py:10 has lpips" in shown["config"]
    assert "norm = l1 the command, not handed on to train.py:10" in shown["ask which norm is used?"]
