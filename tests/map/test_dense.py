"""`lines REGEX in PATH` and `open PATH:FIRST-LAST`: as dense as a search, and with what a search does not know."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component
from trainsleuth.map.expansion.questions.says import Line, Says
from trainsleuth.repository import RepositoryError

COMMAND = "python train.py --lr 0.5"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "losses").mkdir()
    (tmp_path / "losses" / "wide.py").write_text(
        '"""What a loss of weight is."""\n\n\ndef wide(x, args):\n    """Takes the weight."""\n'
        "    if args.clip:\n        x = x.clamp(0, args.clip)  # weight\n"
        "    else:\n        # the weight again\n        x = x * args.weight\n    return x.mean()\n"
    )
    (tmp_path / "unrelated.py").write_text("weight = 3\n")
    (tmp_path / "notes.yaml").write_text(
        "# weight: 1\nweight: 2  # kept\nother: 4\nloss:\n  terms:\n    - name: wide\n      power: 3\n  power: 5\n"
    )
    (tmp_path / "train.py").write_text(
        "import argparse\nimport torch\nfrom losses.wide import wide\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--lr', type=float, default=0.1)\nparser.add_argument('--clip', type=float, default=None)\n"
        "parser.add_argument('--weight', type=float, default=2.5)\nargs = parser.parse_args()\n"
        "net = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), lr=args.lr)\n"
        "criterion = lambda a, b: wide(a - b, args)\n" + STEP
    )
    return tmp_path


def _said(program: Path, what: str, budget: int = 400) -> list[str]:
    """Lines between the header and the count."""
    return expand_component(program, what, recipe=COMMAND, budget=budget).text.split("\n")[1:-2]


@pytest.mark.parametrize("between", [" ", ", ", "|"])
def test_several_files_are_named_one_after_the_other(program: Path, between: str) -> None:
    said = _said(program, f"lines weight in {between.join(('losses/wide.py', 'notes.yaml'))}")
    assert "wide.py" in said and "notes.yaml" in said and "train.py" not in said


def test_statements_that_match_stand_with_the_values_of_their_names(program: Path) -> None:
    assert _said(program, r"lines args\.(lr|weight|clip)") == [
        "train.py",
        " 11 opt = torch.optim.SGD(net.parameters(), lr=args.lr)  # lr = 0.5",
        "wide.py",
        " 6 if args.clip:  # clip = None",
        " 7 x = x.clamp(0, args.clip)  # off",
        " 10 x = x * args.weight  # weight = 2.5",
    ]


def test_files_and_folders_may_be_named(program: Path) -> None:
    assert _said(program, "lines weight in losses") == ["wide.py", " 10 x = x * args.weight  # weight = 2.5"]
    assert _said(program, "lines weight in unrelated.py") == ["unrelated.py", " 1 weight = 3"]
    assert _said(program, "lines weight|kept in notes.yaml") == ["notes.yaml", " 2 weight: 2"]
    assert _said(program, "lines weight in nowhere.py") == [" no file and no folder is called nowhere.py"]


def test_all_arguments_of_a_long_signature_that_match_are_told(program: Path) -> None:
    names = ", ".join(f"argument_{number}=None" for number in range(40))
    wide = ",\n    ".join(f"option_{number}={number}" for number in range(40))
    (program / "long.py").write_text(f"def made({names}):\n    pass\n\n\ndef wide(\n    {wide},\n):\n    pass\n")
    (line,) = _said(program, r"lines argument_(3|17|39)= in long.py")[1:]
    assert all(f"argument_{number}=None" in line for number in (3, 17, 39)) and "argument_20" not in line
    assert _said(program, "open long.py:7-8") == ["long.py", " 7  option_1=1,", " 8  option_2=2,"]
    said = _said(program, "lines argument_3= in nowhere.py long.py")
    assert said[0] == " no file and no folder is called nowhere.py" and said[1] == "long.py"


def test_the_cells_of_a_notebook_are_searched_and_not_its_json(program: Path) -> None:
    cells = [{"cell_type": "code", "source": ["weight = 7\n", "cell_type = weight"], "outputs": [], "metadata": {}}]
    (program / "look.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    assert _said(program, "lines weight|metadata in look.ipynb") == [
        "look.ipynb",
        " 1 weight = 7",
        " 2 cell_type = weight",
    ]


def test_a_line_may_be_sought_as_it_is_written(program: Path) -> None:
    assert _said(program, r"lines ^\s+x = in losses") == [
        "wide.py",
        " 7 x = x.clamp(0, args.clip)  # off",
        " 10 x = x * args.weight  # weight = 2.5",
    ]


def test_a_word_of_a_loop_is_no_file(program: Path) -> None:
    assert any("for step in range(10):" in line for line in _said(program, "lines for step in range"))


def test_what_is_said_often_does_not_hide_the_others(program: Path) -> None:
    (program / "train.py").write_text(
        (program / "train.py").read_text() + "".join(f"\nlost({one})" for one in range(60))
    )
    said = _said(program, "lines lost|parser.parse_args", budget=200)
    assert any("parser.parse_args()" in line for line in said)
    assert re.search(r"lines more do not fit: train.py:(\d+) :\d+ :\d+$", said[-1]), "where the next ones stand"


def test_a_range_is_told_with_its_indentation_and_without_comments(program: Path) -> None:
    assert _said(program, "open losses/wide.py:4-11") == [
        "wide.py",
        " 4 def wide(x, args):",
        " 6  if args.clip:  # off",
        " 8  else:",
        " 10   x = x * args.weight  # weight = 2.5",
        " 11  return x.mean()",
    ]
    assert _said(program, "open notes.yaml:1-6") == [
        "notes.yaml",
        " 2 weight: 2",
        " 3 other: 4",
        " 4 loss:",
        " 5  terms:",
        " 6   - name: wide",
    ]
    assert len(_said(program, "open notes.yaml")) == 8


def test_a_range_that_does_not_run_is_told_all_the_same(program: Path) -> None:
    assert _said(program, "open losses/wide.py:7-7") == [
        "wide.py",
        " 4 def wide(…)",
        " 6  if args.clip:  # clip = None",
        " 7   x = x.clamp(0, args.clip)  # off",
    ]


def test_a_range_stands_under_its_headers_and_messages_are_brief(program: Path) -> None:
    (program / "far.py").write_text(
        "import time\n\n\nclass Far:\n    def run(self, x, logger):\n        for step in range(3):\n"
        "            begun = time.time()\n            if x is None:\n                message = f'nothing at {step}'\n"
        "                raise ValueError(message)\n            if step == 1:\n                logger.info('half')\n"
        "                x = x + 1\n            self.timer.stop()\n            x = 2 * x\n"
    )
    assert _said(program, "open far.py:7-15") == [
        "far.py",
        " 5  def Far.run(…)",
        " 6   for step in range(3):",
        " 8    if x is None: raise ValueError",
        " 11    if step == 1:",
        " 12     logger.info('half')",
        " 13     x = x + 1",
        " 15    x = 2 * x",
    ]


def test_a_line_of_yaml_stands_with_its_sections(program: Path) -> None:
    assert _said(program, "lines power in notes.yaml") == [
        "notes.yaml",
        " 7 loss.terms.power: 3",
        " 8 loss.power: 5",
    ]


def test_nothing_that_matches_and_no_expression_are_said(program: Path) -> None:
    assert _said(program, "lines Takes the weight") == [
        " no line of 2 files matches; comments and docstrings are not searched"
    ]
    with pytest.raises(RepositoryError, match="not a regular expression"):
        _said(program, "lines (")


def test_what_says_a_value_comes_before_what_uses_it_and_what_is_off_comes_last() -> None:
    texts = (
        "use(warmup_steps)  # off",
        "use(warmup_steps)",
        "if warmup_steps:  # warmup_steps = 3",
        "warmup_steps = int(x)",
    )
    lines = [Line("a.py", number, text) for number, text in enumerate(texts)]
    assert [line.text for line in Says("warmup_steps").in_turn(lines)] == [texts[3], texts[1], texts[2], texts[0]]


def test_lines_that_say_the_same_are_told_once(program: Path) -> None:
    (program / "train.py").write_text((program / "train.py").read_text() + "\nlost(2)" * 9)
    (line,) = _said(program, "lines lost")[1:]
    assert line == " 20 lost(2) (also 21, 22, 23, 24, 25, 26, ...)"


def test_where_a_file_has_several_classes_each_hit_says_which(program: Path) -> None:
    (program / "two.py").write_text(
        "weight = 1\n\n\nclass One:\n    def make(self):\n        return weight\n\n\n"
        "class Two:\n    def make(self):\n        def inner():\n            return 2 * weight\n\n        return inner\n"
    )
    said = ["two.py", " 1 weight = 1", " class One", " 6 return weight", " class Two", " 12 return 2 * weight"]
    assert _said(program, "lines weight in two.py") == said
    assert _said(program, "lines return weight in two.py") == ["two.py", " 6 return weight"]


@pytest.mark.parametrize(
    ("sought", "word"),
    [
        (r"self\.weight", "self.weight"),
        ("def fit", "fit"),
        (r"\bscale\b", "scale"),
        (r"args\.(lr", "lr"),
        (r"x\s*=", "x"),
    ],
)
def test_an_alternative_goes_by_its_last_word(sought: str, word: str) -> None:
    assert Says(f"{sought}|never")._has_word(word) and not Says(f"{sought}|never")._has_word("nothing here")


def test_what_only_asks_comes_after_what_uses() -> None:
    texts = ("if path is None:", "def load(self, path):", "torch.save(model, path)", "def path(self):", "path: str = 3")
    lines = [Line("a.py", number, text) for number, text in enumerate(texts)]
    assert [line.number for line in Says("path").in_turn(lines)] == [4, 2, 3, 0, 1]
    idle = [line._replace(is_idle=line.number == 4) for line in lines]
    assert [line.number for line in Says("path").in_turn(idle)] == [2, 3, 0, 1, 4]


def test_ranges_of_one_file_stand_together_under_headers_that_are_said_once(program: Path) -> None:
    text = expand_component(program, "open wide.py:6-6, open train.py:1-2, open wide.py:9-11", recipe=COMMAND).text
    assert text.count("def wide(") == 1 and text.count("wide.py\n") == 1
    assert " 10   x = x * args.weight  # weight = 2.5\n" in text and " 11  return x.mean()" in text
    assert text.index("def wide(") < text.index("return x.mean()") < text.index("import argparse")


def test_of_ranges_that_do_not_fit_each_has_its_beginning(tmp_path: Path) -> None:
    lines = "".join(f"value_{number} = step({number})\n" for number in range(1, 61))
    (tmp_path / "train.py").write_text(f"import torch\n\n{lines}{STEP}")
    text = expand_component(tmp_path, "open train.py:3-30, open train.py:40-62", budget=200).text
    assert "value_1 =" in text and "value_38 =" in text and "value_28 =" not in text and "value_60 =" not in text


def test_a_name_that_code_gives_another_value_has_none_beside_it(tmp_path: Path) -> None:
    train = (
        "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--steps', type=int)\n"
        "args = parser.parse_args()\nif args.steps is None:\n    args.steps = len(open('a').read())\n"
        "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nprint(args.steps)\n"
    )
    (tmp_path / "train.py").write_text(train + STEP)
    text = expand_component(tmp_path, "lines print", recipe="python train.py --other 1", budget=200).text
    assert "11 print(args.steps)\n" in text


TABLE = (
    "model_config = ConfigDict(\n    {\n        'trunk': {\n"
    + "".join(f"            'size_of_part_{number}': {number},\n" for number in range(40))
    + "        },\n        'settings': {\n            'optimizer': {\n                'learning_rate': 1.8e-3,  # the peak\n"
    "                'betas': (0.9, 0.99),\n            },\n            'ema': dict(\n                decay=0.999,\n            ),\n"
    "        },\n    }\n)\n"
)


def test_what_stands_deep_in_a_table_is_told_with_its_sections(program: Path) -> None:
    (program / "table.py").write_text(TABLE)
    assert _said(program, "lines learning_rate|betas|decay in table.py") == [
        "table.py",
        " 47 model_config.settings.optimizer.learning_rate: 1.8e-3",
        " 48 model_config.settings.optimizer.betas: (0.9, 0.99)",
        " 51 model_config.settings.ema.decay=0.999",
    ]


def test_a_search_is_kept_to_lines_or_to_a_definition(program: Path) -> None:
    (program / "many.py").write_text(
        "class First:\n    def go(self, rate):\n        return rate\n\n\nclass Second:\n    def go(self, rate):\n        return 2 * rate\n"
    )
    assert _said(program, "lines rate in many.py:Second") == ["many.py", " 7 def go(self, rate):", " 8 return 2 * rate"]
    assert _said(program, "lines return in many.py:1-5") == ["many.py", " 3 return rate"]
    assert _said(program, "lines return in many.py:First.go") == ["many.py", " 3 return rate"]


def test_a_section_of_the_settings_is_opened(program: Path) -> None:
    (program / "config.yaml").write_text("net:\n  head:\n    kind: wide\n    width: 3\n  depth: 2\nlr: 0.1\n")
    (program / "train.py").write_text(
        "import torch\nimport yaml\n\ncfg = yaml.safe_load(open('config.yaml'))\n"
        "net = torch.nn.Linear(cfg['net']['head']['width'], 2)\nopt = torch.optim.SGD(net.parameters(), lr=cfg['lr'])\n"
        "criterion = torch.nn.MSELoss()\n" + STEP
    )
    shown = expand_component(program, "open net.head", recipe="python train.py", budget=400).text
    assert "net.head.kind = wide config.yaml:3" in shown and ".width = 3 :4" in shown and "depth" not in shown
