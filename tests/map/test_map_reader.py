"""What a reader of one program among many asks of an expansion: only this program, its values, what happens when."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import map_depth
import pytest
from trainsleuth.cli import main
from trainsleuth.map import expand_component, map_repository
from trainsleuth.map.expansion import check_parts

BRAIN = '''import torch
from hyperpyyaml import load_hyperpyyaml


class Brain:
    def __init__(self, modules=None, opt_class=None, hparams=None, max_norm=None, checkpointer=None):
        self.modules = modules
        self.opt_class = opt_class
        self.hparams = hparams
        self.checkpointer = checkpointer
        self.max_norm = max_norm

    def compute_loss(self, batch):
        """A recipe says how."""
        raise NotImplementedError

    def on_start(self):
        self.optimizer = self.opt_class(self.modules.parameters())
        self.checkpointer.recover_if_possible()

    def fit(self, epochs, batches):
        self.on_start()
        for epoch in epochs:
            for step, batch in enumerate(batches):
                loss = self.compute_loss(batch)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.modules.parameters(), self.max_norm)
                self.optimizer.step()
                self.optimizer.zero_grad()
                do_save = step > 0 and step % self.hparams.save_every == 0
                if do_save:
                    self.save(step)
                if self.hparams.ema:
                    self.ema.step()

    def save(self, step):
        """Writes what a restart needs."""
        state = {"model": self.modules.state_dict(), "step": step}
        torch.save(state, "last.pt")
'''
RECIPE = """import sys
from core.brain import Brain, load_hyperpyyaml


class {name}(Brain):
    def compute_loss(self, batch):
        logits = self.modules.net(batch)
        first = self.hparams.first_cost(logits, batch)
        loss = self.hparams.weight * first + logits.mean()
        return loss


if __name__ == "__main__":
    hparams = load_hyperpyyaml(open(sys.argv[1]))
    brain = {name}(modules=hparams["modules"], opt_class=hparams["Adam"], hparams=hparams, max_norm=hparams["max_norm"])
    loader_opts = hparams["loader_opts"]
    if hparams["buckets"]:
        loader_opts = {{"batch_sampler": hparams["sampler"]}}
    brain.fit(range(hparams["number_of_epochs"]), hparams["batches"])
"""
VALUES = """number_of_epochs: 7
max_norm: 2.5
save_every: 50
ema: False
weight: 0.3
buckets: True
rate: 0.004
data_folder: !PLACEHOLDER
loader_opts:
    batch_size: 16
net: !new:core.nets.Net
    width: 8
modules:
    net: !ref <net>
Adam: !name:torch.optim.Adam
    lr: !ref <rate>
first_cost: !name:core.nets.first_loss
    smoothing: 0.1
"""
NETS = """import torch


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = torch.nn.Linear(2, width)

    def forward(self, x):
        return self.fc(x)


def first_loss(logits, target, smoothing=0.0):
    return torch.nn.functional.cross_entropy(logits, target, label_smoothing=smoothing)
"""
RECIPES = {
    "core/__init__.py": "",
    "core/brain.py": BRAIN,
    "core/nets.py": NETS,
    "recipes/digits/train.py": RECIPE.format(name="Digits"),
    "recipes/digits/small.yaml": VALUES,
    **{f"recipes/other{n}/train.py": RECIPE.format(name=f"Other{n}") for n in range(9)},
}


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write(RECIPES, tmp_path_factory.mktemp("digits"))


def asked(root: Path, what: str, budget: int = 1500, **more: Any) -> str:
    given = {"scope": "recipes/digits/train.py", "recipe": "recipes/digits/small.yaml", **more}
    return expand_component(root, what, budget=budget, **given).text


def test_sister_recipes_are_no_part_of_the_chosen_one(digits: Path) -> None:
    found = map_repository(digits, scope="recipes/digits/train.py", recipe="recipes/digits/small.yaml", budget=4000)
    assert "Digits" in asked(digits, "loss")
    assert "recipes/other" not in found.text.partition("# entry point")[2]
    assert "recipes/other" not in asked(digits, "loss") + asked(digits, "training_loop")


def test_what_a_tag_builds_is_told_with_its_arguments(digits: Path) -> None:
    optimizer, model = asked(digits, "optimizer_scheduler"), asked(digits, "model")
    assert "Adam A:15 is torch.optim.Adam: lr=0.004 :7" in optimizer
    assert "self.optimizer = self.opt_class(self.modules.parameters())" in optimizer
    assert "self.opt_class: None" not in optimizer  # the recipe gives one
    assert "net A:11 is Net core/nets.py:4: width=8 :12" in model
    assert "data_folder=!PLACEHOLDER" not in model


def test_the_loss_shows_its_terms_and_their_weights(digits: Path) -> None:
    loss = asked(digits, "loss")
    assert "first_cost A:17 is first_loss core/nets.py:13: smoothing=0.1 :18" in loss
    assert "loss = self.hparams.weight * first + logits.mean()" in loss
    assert "self.hparams.weight: 0.3 (" in loss


def test_the_loop_says_what_is_on_and_what_is_off(digits: Path) -> None:
    loop = asked(digits, "training_loop")
    assert "ema: off: ema = False (A:4)" in loop
    assert (
        "clip_grad_norm_(self.modules.parameters(), self.max_norm) · self.max_norm: hparams.max_norm = 2.5 ("
        in " ".join(loop.split())
    )
    assert "loader_opts A: batch_size=16 :10" in asked(digits, "data")
    assert "replaced at recipes/digits/train.py:18 when hparams['buckets']" in asked(digits, "data")


def test_a_checkpoint_says_when_and_what_and_how_a_run_goes_on(digits: Path) -> None:
    saved = asked(digits, "checkpointing")
    assert "when do_save" in saved
    assert "do_save = step > 0 and step % self.hparams.save_every == 0" in saved
    assert "self.hparams.save_every: 50 (" in saved
    assert '| state = {"model": self.modules.state_dict(), "step": step}' in saved
    assert "Writes what a restart needs" not in saved  # text for readers of the file
    assert "resume: core/brain.py:19 self.checkpointer.recover_if_possible()" in saved


def test_a_folder_of_configurations_that_the_command_gives_is_a_root(tmp_path: Path) -> None:
    files = {
        "train.py": "import hydra\nimport torch\n\n\n@hydra.main(config_path='config', config_name='base')\ndef main(cfg):\n"
        "    net = torch.nn.Linear(2, 1)\n    opt = torch.optim.SGD(net.parameters(), lr=cfg.optim.lr)\n"
        "    for step in range(cfg.optim.steps):\n        loss = net(torch.ones(1, 2)).sum()\n        opt.zero_grad()\n"
        "        loss.backward()\n        opt.step()\n        if cfg.optim.verbose:\n            print(loss)\n\n\nmain()\n",
        "config/base.yaml": "defaults:\n  - _self_\noptim:\n  lr: 0.1\n  steps: 5\n  verbose: false\n",
        "examples/big/config/long/run.yaml": "optim:\n  lr: 0.02\n  steps: 900\n",
    }
    root = map_depth.write(files, tmp_path)
    found = expand_component(root, "config", recipe="examples/big/config/long/run.yaml")
    values = {item["name"]: item["value"] for item in found.items}
    assert values == {"optim.lr": "0.02", "optim.steps": "900"}  # it takes the place of base.yaml


def test_a_place_in_a_notebook_shows_its_own_line(tmp_path: Path) -> None:
    cells = [
        "import torch\n# words\n# words\n",
        "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n",
        "for step in range(3):\n    loss = net(torch.ones(1, 2)).sum()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
    ]
    notebook = {
        "cells": [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in cells],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    root = map_depth.write({"train.ipynb": json.dumps(notebook)}, tmp_path)
    text = expand_component(root, "training_loop").text
    assert "cell 3:4 loss.backward()" in text
    assert (
        "cell 2:2 opt = torch.optim.SGD(net.parameters(), lr=0.1)" in expand_component(root, "optimizer_scheduler").text
    )


def test_several_parts_share_one_header_and_one_budget_and_say_nothing_twice(digits: Path) -> None:
    found = expand_component(digits, "loss, training-loop,loss", budget=700)
    assert found.of == "loss,training_loop"
    lines = found.text.splitlines()
    assert lines[0].startswith("# loss, training loop of ")
    assert [line for line in lines if line.startswith("##")] == ["## loss", "## training loop"]
    assert found.used <= 700
    places = [(item["path"], item["line"]) for item in found.items if "function" in item]
    assert len(places) == len(set(places)) > 3
    assert {item["part"] for item in found.items} == {"loss", "training_loop"}
    with pytest.raises(ValueError, match="'los' cannot be expanded"):
        expand_component(digits, "data,los")


def test_the_sheet_has_the_values_of_a_run_with_the_lines_that_set_and_use_them(digits: Path) -> None:
    text = asked(digits, "run")
    length = text.partition("# length\n")[2].partition("\n#")[0]
    assert "number_of_epochs=7 A:1" in length
    assert "brain.py:23 for epoch in epochs:" in length
    clipping = text.partition("# clipping\n")[2].partition("\n#")[0]
    assert "max_norm=2.5" in clipping and "brain.py:27 torch.nn.utils.clip_grad_norm_(" in clipping
    assert "other0" not in text


def test_words_are_found_in_settings_and_code_with_conditions_and_values(digits: Path) -> None:
    text = asked(digits, "find save_every", budget=300)
    assert text.count("save_every = 50") == 1
    assert "…30    do_save = step > 0 and step % self.hparams.save_every == 0\n" in text
    assert "…23 for epoch in epochs: › 24 for step, batch in enumerate(batches):" in text  # what it stands under
    assert "recipes/other" not in text
    both = expand_component(digits, "find recover_if_possible,find smoothing", recipe="recipes/digits/small.yaml")
    assert [line for line in both.text.splitlines() if line.startswith("##")] == [
        "## find recover_if_possible",
        "## find smoothing",
    ]
    assert "self.checkpointer.recover_if_possible()" in both.text
    assert "def first_loss(logits, target, smoothing=0.0)" in both.text


@pytest.mark.parametrize("where", ["core/brain.py:30", "Brain.fit", "fit"])
def test_a_function_is_opened_as_it_stands_with_values_and_what_is_off(digits: Path, where: str) -> None:
    lines = asked(digits, f"open {where}").splitlines()
    assert "brain.py Brain.fit(epochs, batches) :21, called at digits/train.py:19" in lines
    assert " 23  for epoch in epochs:" in lines
    assert " 27    torch.nn.utils.clip_grad_norm_(self.modules.parameters(), self.max_norm)  # self.max_norm = hparams.max_norm = 2.5 (A:2)" in lines  # fmt: skip
    assert " 34     self.ema.step()  # off: ema = False (A:4)" in lines


def test_what_does_not_fit_is_left_out_from_the_asked_line_outward(digits: Path) -> None:
    both = expand_component(digits, "open brain.py:28,run", recipe="recipes/digits/small.yaml", budget=200)
    lines = both.text.partition("\n## run")[0].splitlines()
    shown = [line for line in lines if line.lstrip(" …")[:2].isdigit()]
    assert any(line.endswith("28    self.optimizer.step()") for line in shown)
    assert any(line.endswith("24 for step, batch in enumerate(batches):") for line in shown)  # what it stands under
    assert not any("self.on_start()" in line for line in shown) and shown[0].startswith("…")
    assert lines[-1].endswith("statements more do not fit")


def test_where_there_is_little_room_the_asked_line_and_the_best_hit_are_shown_all_the_same(digits: Path) -> None:
    for what, line in (("open brain.py:34", "34     self.ema.step()"), ("find do_save", "31    if do_save:")):
        both = expand_component(digits, f"{what},run,loss", recipe="recipes/digits/small.yaml", budget=200)
        assert line in both.text.partition("\n## run")[0]


def test_a_method_is_opened_where_a_class_inherits_it_from(digits: Path) -> None:
    assert "brain.py Brain.fit(epochs, batches) :21" in asked(digits, "open Digits.fit")


def test_texts_and_classes_are_opened_too(digits: Path) -> None:
    lines = asked(digits, "open small.yaml:16").splitlines()
    assert lines[lines.index(" 16  lr: !ref <rate>") - 1] == " 15 Adam: !name:torch.optim.Adam"
    assert " 21  def fit(self, epochs, batches):" in asked(digits, "open Brain").replace("…", " ")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Are gradients clipped, and at what norm?", "self.max_norm = hparams.max_norm = 2.5 (A:2)"),
        ("What is the peak learning rate?", " Adam.lr = <rate> = 0.004 A:16"),
        ("When is a checkpoint written?", " save_every = 50 A:3"),
        ("Is an average of the weights kept?", " ema = False A:4"),
        ("Which loss is it, and how are labels smoothed?", "smoothing = 0.1 A:18"),
    ],
)
def test_a_question_in_plain_words_is_answered_with_values(digits: Path, question: str, answer: str) -> None:
    found = expand_component(digits, f"ask {question}", recipe="recipes/digits/small.yaml", budget=300)
    assert answer in found.text and found.used <= 300
    assert "recipes/other" not in found.text


def test_questions_that_are_asked_together_say_nothing_twice(
    digits: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked_one_by_one = ["--expand", "ask Are gradients clipped?", "--expand", "ask Is there clipping, at what norm?"]
    given = ["--scope", "recipes/digits/train.py", "--recipe", "recipes/digits/small.yaml", "--budget", "500"]
    monkeypatch.chdir(digits)
    assert main(["map", *given, *asked_one_by_one]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line[:1] in (" ", "…") and "#" not in line[:1]]
    assert sum("max_norm = 2.5 A:2" in line for line in lines) == 1
    assert len(lines) == len(set(lines)) > 3


def test_a_section_that_is_off_is_answered_last(tmp_path: Path) -> None:
    recipe = "big:\n  enabled: false\n  lr: 0.5\nsmall:\n  lr: 0.25\n"
    code = (
        "import torch, yaml\ncfg = yaml.safe_load(open('one.yaml'))\nnet = torch.nn.Linear(2, 1)\n"
        "lr = cfg['big']['lr'] if cfg['big']['enabled'] else cfg['small']['lr']\n"
        "opt = torch.optim.SGD(net.parameters(), lr=lr)\nfor step in range(9):\n    opt.zero_grad()\n"
        "    net(torch.rand(3, 2)).mean().backward()\n    opt.step()\n"
    )
    root = map_depth.write({"one.yaml": recipe, "train.py": code}, tmp_path)
    text = expand_component(root, "ask What is the learning rate?", recipe="one.yaml", budget=300).text
    assert 0 < text.index("small.lr = 0.25") < text.index("big.lr = 0.5")


def test_a_comma_in_a_question_belongs_to_it() -> None:
    assert check_parts("ask Which loss, with which weights?, loss,find a b") == (
        "ask Which loss, with which weights?",
        "loss",
        "find a b",
    )


def test_what_is_not_there_is_said(digits: Path) -> None:
    assert "no definition and no line nowhere.py:3" in asked(digits, "open nowhere.py:3")


def test_words_are_found_in_the_launch_script_beside_a_recipe(tmp_path: Path) -> None:
    files = {
        "run.sh": "# average_num\naverage_num=30\npython train.py\n",
        **{f"digits/{k}": v for k, v in RECIPES.items()},
    }
    files["digits/recipes/digits/run.sh"] = files.pop("run.sh")
    root = map_depth.write(files, tmp_path)
    given = {"scope": "digits/recipes/digits/train.py", "recipe": "digits/recipes/digits/small.yaml"}
    text = expand_component(root, "find average_num", budget=300, **given).text
    assert " run.sh:2 average_num=30" in text and "run.sh:1" not in text
