"""The sheet of a run says which class code chooses by its settings, and leaves out those that it does not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

FILES = {
    "train.py": """import argparse

import torch
from loaders import Far, Near
from names import FAR, NEAR


def loader_class(args):
    kind = None
    if args.sampler == NEAR:
        kind = Near
    elif args.sampler == FAR:
        kind = Far
    return kind


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sampler", default="near")
    parser.add_argument("--loss", default="l2")
    args = parser.parse_args()
    net = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    batches = loader_class(args)([1, 2, 3])
    for batch in batches.loader:
        loss = net(batch).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
""",
    "names.py": 'NEAR = "near"\nFAR = "far"\n',
    "loaders.py": """import torch


class Base:
    def __init__(self, rows):
        self.loader = self.make(rows)


class Near(Base):
    def make(self, rows):
        return torch.utils.data.DataLoader(rows, batch_size=11)


class Far(Base):
    def make(self, rows):
        return torch.utils.data.DataLoader(rows, batch_size=77)
""",
}


def _sheet(folder: Path, files: Mapping[str, str], command: str) -> str:
    map_depth.write(dict(files), folder)
    return expand_component(folder, "run", recipe=command, budget=2000).text


def _expanded(folder: Path, command: str, what: str = "run", **changed: str) -> str:
    map_depth.write({**FILES, **changed}, folder)
    return expand_component(folder, what, recipe=command, budget=2000).text


def test_the_class_that_a_setting_chooses_is_said(tmp_path: Path) -> None:
    sheet = _expanded(tmp_path, "python train.py --sampler far")
    assert "sampler=far → Far loaders.py:14 (named train.py:13)" in sheet
    assert "batch_size=77" in sheet and "batch_size=11" not in sheet


def test_the_others_are_off(tmp_path: Path) -> None:
    said = _expanded(tmp_path, "python train.py --sampler near", "lines batch_size in loaders.py")
    assert "batch_size=77)  # off" in said and "batch_size=11)  # off" not in said


def test_a_class_that_code_also_names_elsewhere_may_run(tmp_path: Path) -> None:
    other = FILES["train.py"].replace("    net = torch", "    other = [Far]\n    net = torch")
    said = _expanded(
        tmp_path, "python train.py --sampler near", "lines batch_size in loaders.py", **{"train.py": other}
    )
    assert "# off" not in said


def test_without_a_setting_that_decides_nothing_is_said(tmp_path: Path) -> None:
    asked = (
        FILES["train.py"].replace("args.sampler", "ask()").replace("def loader", "from a import ask\n\n\ndef loader")
    )
    sheet = _expanded(tmp_path, "python train.py --sampler near", **{"train.py": asked})
    assert "→" not in sheet


KEPT = """import argparse

import torch
from accelerate import Accelerator


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mixed_precision", default=None)
    args = parser.parse_args()
    accelerator = Accelerator(mixed_precision=args.mixed_precision)
    dtype = torch.float32
    if accelerator.mixed_precision == "fp16":
        dtype = torch.float16
    elif accelerator.mixed_precision == "bf16":
        dtype = torch.bfloat16
    net = torch.nn.Linear(2, 2).to(dtype)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(10):
        loss = net(torch.ones(1, 2, dtype=dtype)).sum()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()


if __name__ == "__main__":
    main()
"""


def test_what_an_object_of_a_library_was_given_decides(tmp_path: Path) -> None:
    said = _expanded(
        tmp_path, "python train.py --mixed_precision bf16", "lines float in train.py", **{"train.py": KEPT}
    )
    assert "dtype = torch.float16  # off" in said and "dtype = torch.bfloat16\n" in said
    changed = KEPT.replace(
        "    dtype = torch.float32\n", "    accelerator = wrap(accelerator)\n    dtype = torch.float32\n"
    )
    said = _expanded(
        tmp_path, "python train.py --mixed_precision bf16", "lines float in train.py", **{"train.py": changed}
    )
    assert "# off" not in said


HOOKED = {
    "train.py": "import argparse\n\nimport torch\nimport torch.multiprocessing as mp\nfrom runner import Runner\n\n\ndef work(rank, args):\n"
    "    torch.manual_seed(args.seed)\n    Runner(args).train()\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--seed', type=int, default=3)\n    parser.add_argument('--clip', type=float, default=0.0)\n"
    "    parser.add_argument('--many', action='store_true')\n    args = parser.parse_args()\n"
    "    if args.many:\n        mp.spawn(work, nprocs=2, args=(args,))\n    else:\n        work(0, args)\n\n\n"
    "if __name__ == '__main__':\n    main()\n",
    "hooks.py": "import torch\n\n\nclass Clip:\n    def after_step(self, runner):\n        if runner.clip > 0:\n"
    "            torch.nn.utils.clip_grad_norm_(runner.net.parameters(), runner.clip)\n",
    "runner.py": "import torch\nfrom hooks import Clip\n\n\nclass Runner:\n    def __init__(self, args):\n        self.clip = args.clip\n"
    "        self.net = torch.nn.Linear(2, 1)\n        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)\n"
    "        self.hooks = [Clip()]\n\n    def call(self, stage):\n        for hook in self.hooks:\n            getattr(hook, stage)(self)\n\n"
    "    def train(self):\n        for _ in range(10):\n            loss = self.net(torch.zeros(4, 2)).sum()\n"
    "            self.optimizer.zero_grad()\n            loss.backward()\n            self.call('after_step')\n"
    "            self.optimizer.step()\n",
}


@pytest.mark.parametrize(("command", "runs"), [("", False), (" --clip 1.0", True)])
def test_an_attribute_of_who_calls_the_hooks_decides_in_them(tmp_path: Path, command: str, runs: bool) -> None:
    said = _sheet(tmp_path, HOOKED, f"python train.py{command}")
    section = said.partition("# clipping\n")[2].partition("\n#")[0]
    assert ("clip_grad_norm_" in section) == runs and ("\n  off: clip = 0.0\n" in f"\n{section}\n") != runs


def test_an_attribute_that_others_set_decides_nothing(tmp_path: Path) -> None:
    files = {**HOOKED, "runner.py": HOOKED["runner.py"] + "\n\ndef raise_clip(runner):\n    runner.clip = 5.0\n"}
    files["runner.py"] = files["runner.py"].replace(
        "self.call('after_step')", "raise_clip(self)\n            self.call('after_step')"
    )
    assert "clip_grad_norm_" in _sheet(tmp_path, files, "python train.py")


def test_what_processes_are_given_runs_where_the_other_arm_calls_it(tmp_path: Path) -> None:
    section = _sheet(tmp_path, HOOKED, "python train.py --many").partition("# seed\n")[2].partition("\n#")[0]
    assert "torch.manual_seed(args.seed)" in section


STEPPED = {
    "train.py": "import argparse\n\nimport torch\n\n\ndef fit(args):\n    net = torch.nn.Linear(2, 1)\n"
    "    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "    annealed = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)\n    for epoch in range(9):\n"
    "        for x in torch.ones(8, 4, 2):\n            opt.zero_grad()\n            net(x).mean().backward()\n"
    "            opt.step()\n        if args.cosine:\n            annealed.step()\n\n\n"
    "parser = argparse.ArgumentParser()\nparser.add_argument('--cosine', action='store_true', default=False)\n"
    "fit(parser.parse_args())\n"
}


def test_a_schedule_whose_step_an_option_keeps_from_running_says_so(tmp_path: Path) -> None:
    assert "its step() is off: cosine = False" in _sheet(tmp_path, STEPPED, "python train.py")
    assert "its step() is off" not in _sheet(tmp_path, STEPPED, "python train.py --cosine")
