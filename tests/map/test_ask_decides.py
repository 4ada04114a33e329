"""What an answer prefers: the arm that runs before one that does not, and what a condition leads to."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component, read_anatomy
from trainsleuth.map.expansion import pages_of
from trainsleuth.map.expansion.questions.ranking import best_statements
from trainsleuth.map.expansion.questions.sources import Source
from trainsleuth.map.expansion.questions.terms import terms_of

COMMAND = "python train.py --kind huber"

FILES = {
    "train.py": "import argparse\nimport logging\n\nimport torch\n\nimport losses\n\nlogger = logging.getLogger(__name__)\n"
    "parser = argparse.ArgumentParser()\nparser.add_argument('--kind', default='plain')\n"
    "parser.add_argument('--sparse', action='store_true')\nargs = parser.parse_args()\n"
    "net = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), lr=1.0)\n"
    "if not args.sparse and not hasattr(net, 'attention'):\n"
    "    logger.warning('The attention is not sparse, samples of one row, and of others, may see each other in every "
    "layer of the net that is trained here, which nobody may want')\n"
    "criterion = losses.made(args.kind)\n" + STEP,
    "losses.py": "import torch\n\n\ndef made(kind):\n    if kind == 'plain':\n        logger = torch.nn.MSELoss()\n        return logger\n"
    "    if kind == 'huber':\n        return torch.nn.HuberLoss()\n"
    "    return wide(torch.nn.L1Loss, first=1, second=2)\n\n\n"
    "def wide(loss, first, second):\n"
    "    made = dict(name_of_the_first_of_all_of_them=first, name_of_the_second_of_all_of_them=second, name_of_the_loss"
    "_of_all_of_them=loss, name_of_the_fourth_of_all_of_them=first + second, name_of_the_fifth_of_all_of_them=first - "
    "second, name_of_the_last_of_all_of_them=second - first, what_comes_behind_all_of_them='the end, and nothing more')\n"
    "    return made\n",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_test_that_does_not_hold_comes_behind_one_that_does(program: Path) -> None:
    anatomy = read_anatomy(program, None, COMMAND, 8000)
    source = Source(lambda path: (program / path).read_text().splitlines(), pages_of(anatomy))
    hits = best_statements(source, terms_of("huber plain", True))
    said = [source.units(hit.page)[hit.place].text for hit in hits]
    assert said.index("if kind == 'huber':") < said.index("if kind == 'plain':")


def test_a_warning_is_told_with_its_condition(program: Path) -> None:
    said = expand_component(program, "ask is the attention sparse?", recipe=COMMAND, budget=200).text
    assert "logger.warning('The attention is not sparse" in said
    assert "which nobody may want" not in said


def test_a_function_that_fits_is_opened_with_nothing_left_out(program: Path) -> None:
    said = expand_component(program, "open wide", recipe=COMMAND, budget=400).text
    assert "'the end, and nothing more'" in said and "…" not in said


def test_the_asked_line_of_a_long_call_is_shown(tmp_path: Path) -> None:
    given = "".join(f"        name_of_argument_{number}={number},\n" for number in range(30))
    wide = "import torch\n\n\ndef wide(loss):\n    made = dict(\n" + given + "    )\n    return loss, made\n"
    for name, text in {
        "train.py": FILES["train.py"].replace("losses.made(", "losses.wide("),
        "losses.py": wide,
    }.items():
        (tmp_path / name).write_text(text)
    said = expand_component(tmp_path, "open losses.py:25", recipe=COMMAND, budget=200).text
    assert "name_of_argument_19=19" in said


def test_a_value_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--warm', type=int, default=5)\nparser.add_argument('--cold', type=int, default=7)\n"
        "args = parser.parse_args()\nnet = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), lr=1.0)\n"
        + STEP
        + "if args.warm:\n    print(args.warm + args.cold)\n    for group in opt.param_groups:\n"
        "        group['lr'] = args.warm * 2\n"
    )
    command = "python train.py --warm 3 --cold 4"
    said = expand_component(tmp_path, "ask warm and cold", recipe=command, budget=400).text
    assert " = 3 the command, " in said or " = 4 the command, " in said
    assert said.count("warm = 3") == 1 and "group['lr'] = args.warm * 2" in said
    alone = expand_component(tmp_path, "open train.py:16", recipe=command, budget=400).text
    assert "args.warm = 3 (the given command, default 5)" in alone


def test_what_the_map_takes_for_a_part_answers_a_question_about_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n\n\ndef score(net, rows):\n    net.eval()\n    with torch.no_grad():\n"
        "        return net(rows).sum()\n\n\n"
        "net = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), lr=1.0)\n"
        + STEP
        + "print(score(net, torch.rand(4, 2)))\n"
    )
    said = expand_component(tmp_path, "ask how is it tested?", budget=200).text
    assert " net.eval()" in said


def test_open_leads_to_the_statement_that_assigns_an_attribute(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n\n\nclass Trainer:\n    def __init__(self, rate, devices):\n        self.devices = devices\n"
        "        self.shared_rate: float = rate * self.devices\n\n    def fit(self):\n"
        "        net = torch.nn.Linear(2, 2)\n        opt = torch.optim.SGD(net.parameters(), lr=self.shared_rate)\n"
        "        for step in range(3):\n            net(torch.ones(1, 2)).sum().backward()\n            opt.step()\n"
        "            opt.zero_grad()\n\n\nTrainer(0.1, 4).fit()\n"
    )
    for where in ("shared_rate", "Trainer.shared_rate"):
        said = expand_component(tmp_path, f"open {where}", budget=200).text
        assert "self.shared_rate: float = rate * self.devices" in said and "no definition" not in said
    assert "no definition" in expand_component(tmp_path, "open Other.shared_rate", budget=200).text
