"""`open` finds what is meant by a file and a name, and shows what decides with what it leads to."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component
from trainsleuth.map.expansion.questions.units import joined

COMMAND = "python train.py --task maze"
FILES = {
    "train.py": "import argparse\nimport functools\n\nimport torch\n\nimport tasks\n\n"
    "parser = argparse.ArgumentParser()\nparser.add_argument('--task', default='maze')\nargs = parser.parse_args()\n\n\n"
    "@functools.lru_cache(maxsize=7)\ndef weights(rows):\n    return torch.ones(rows)\n\n\n"
    "net = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), lr=1.0)\n"
    "criterion = torch.nn.MSELoss()\nrows = weights(2)\n" + STEP,
    "tasks/__init__.py": "KINDS = ('maze', 'pole')\n",
    "tasks/maze/rate.py": 'def rate(said):\n    """Rates.\n\n    Args:\n        said: words of a player\n    """\n    return 3\n',
    "tasks/aisle/rate.py": "LEAST = 0.25\n\n\ndef rate(said):\n    return 7\n",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def _opened(program: Path, where: str) -> str:
    return expand_component(program, f"open {where}", recipe=COMMAND, budget=250).text


@pytest.mark.parametrize("where", ["aisle/rate.py:rate", "aisle/rate:rate", "tasks/aisle/rate.py:rate"])
def test_a_file_and_a_name_lead_to_the_definition(program: Path, where: str) -> None:
    said = _opened(program, where)
    assert "return 7" in said and "return 3" not in said


def test_a_file_and_a_variable_lead_to_its_line(program: Path) -> None:
    assert "LEAST = 0.25" in _opened(program, "aisle/rate.py:LEAST")


def test_of_namesakes_that_do_not_run_the_one_in_a_folder_that_a_setting_names_comes_first(program: Path) -> None:
    said = _opened(program, "rate")
    assert "return 3" in said and "also aisle/rate.py:4" in said


def test_a_docstring_of_what_is_loaded_and_does_not_run_is_no_code(tmp_path: Path) -> None:
    text = 'def idle(said):\n    """Idle.\n\n    Args:\n        said: words of a player\n    """\n    return said\n'
    (tmp_path / "train.py").write_text(
        "import torch\n\n\n" + text + "\n\nnet = torch.nn.Linear(2, 2)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=1.0)\ncriterion = torch.nn.MSELoss()\n" + STEP
    )
    said = expand_component(tmp_path, "open idle", budget=250).text
    assert "return said" in said and "words of a player" not in said


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        (['found = re.search("[0-9.,]+", ', "    text,", ")"], 'found = re.search("[0-9.,]+", text)'),
        (["one = ('( a',)"], "one = ('( a',)"),
        (["pair = [ 1, 2, ]"], "pair = [1, 2]"),
    ],
)
def test_what_stands_in_quotes_stays_as_it_is(lines: list[str], whole: str) -> None:
    assert joined(lines) == whole


def test_a_condition_that_is_opened_among_others_is_shown_with_what_it_leads_to(program: Path) -> None:
    more = "".join(f"    total_of_all_rows_{n} = rows_that_are_counted * {n}\n" for n in range(60))
    (program / "tasks/aisle/long.py").write_text(
        "def long(rows_that_are_counted, path, other):\n"
        + more
        + "    if path is None:\n        path = other\n    return path\n"
    )
    said = _opened(program, "aisle/long.py:long")
    assert "if path is None:" not in said or "path = other" in said
    assert "return path" in said


def test_what_a_long_function_works_out_comes_before_what_it_only_measures(program: Path) -> None:
    plumbing = "".join(f"    size_{n} = rows_that_are_counted.shape[{n}]\n    send(size_{n}, {n})\n" for n in range(40))
    (program / "tasks/aisle/long.py").write_text(
        "def long(rows_that_are_counted, mean, spread):\n"
        + plumbing
        + "    scores = (rows_that_are_counted - mean) / spread\n"
        + plumbing
        + "    return scores\n"
    )
    said = _opened(program, "aisle/long.py:long")
    assert "scores = (rows_that_are_counted - mean) / spread" in said and "return scores" in said
