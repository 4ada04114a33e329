"""What room is left on the sheet of a run is for: defaults of which no topic says a word, and whole statements."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component

COMMAND = "python train.py --lr 2e-4"

FILES = {
    "train.py": "import torch\nfrom peft import LowRank\nfrom transformers import HfArgumentParser\n\n"
    "from lib.args import Arguments, Fields\nfrom lib.shards import pack\n\n\n"
    "def main(args):\n    net = torch.nn.Linear(2, 4)\n"
    "    config = LowRank(rank=args.rank, dropout=args.dropout, scaled=args.scaled)\n"
    "    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=args.beta_of_the_first_moment_of_all,"
    " weight_decay=args.decay_of_all_weights, nesterov=args.with_nesterov)\n"
    "    rows = pack(args.packing_strategy, args.keep, Fields.train)\n"
    + STEP.replace("\n", "\n    ")
    + "\n\n\nif __name__ == '__main__':\n    main(HfArgumentParser(Arguments).parse_args_into_dataclasses()[0])\n",
    "lib/__init__.py": "",
    "lib/shards.py": "def pack(strategy, keep, part):\n    return (strategy, keep, part)\n",
    "lib/args.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass Arguments:\n    lr: float = 0.1\n"
    "    keep: str = None\n    packing_strategy: str = 'first_fit'\n    rank: int = 8\n    dropout: float = 0.05\n"
    "    scaled: bool = False\n    beta_of_the_first_moment_of_all: float = 0.5\n    decay_of_all_weights: float = 0.0\n"
    "    with_nesterov: bool = False\n    unread: int = 3\n\n\nclass Fields:\n    train = 'train'\n    dropout = 'dropout'\n",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def _left(program: Path, budget: int = 3000) -> str:
    sheet = expand_component(program, "run", recipe=COMMAND, budget=budget).text
    return sheet.partition("# other defaults that it reads\n")[2].partition("\n#")[0]


def test_defaults_that_the_run_reads_follow_those_that_say_something_first(program: Path) -> None:
    left = _left(program)
    assert "packing_strategy=first_fit" in left and left.index("packing_strategy") < left.index("keep=None")
    assert "unread" not in left and "lr=" not in left


def test_what_stands_on_the_sheet_is_not_told_again(program: Path) -> None:
    sheet = expand_component(program, "run", recipe=COMMAND, budget=3000).text
    assert sheet.count("dropout=0.05") == 1 and sheet.count("packing_strategy=first_fit") == 1


def test_what_a_librarys_class_is_handed_is_no_setting_beside_the_option(program: Path) -> None:
    asked = expand_component(program, "config", recipe=COMMAND, budget=3000)
    told = {str(item["name"]): item["value"] for item in asked.items}
    assert told["rank"] == "8" and told["dropout"] == "0.05"
    assert not any(name.startswith(("LowRank.", "Arguments.")) for name in told)


def test_names_of_fields_are_no_settings(program: Path) -> None:
    told = {str(item["name"]) for item in expand_component(program, "config", recipe=COMMAND, budget=3000).items}
    assert "train" not in told and not any(name.startswith("Fields.") for name in told)


def test_room_that_is_left_shows_statements_whole(program: Path) -> None:
    whole = "nesterov=args.with_nesterov)"
    assert whole in expand_component(program, "run", recipe=COMMAND, budget=3000).text
    assert whole not in expand_component(program, "run", recipe=COMMAND, budget=200).text


OPTIONS = """    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.125)
    parser.add_argument("--epochs", type=int, default=15)
    PARSED
"""
RUN = """    net = torch.nn.Linear(2, 4)
    opt = torch.optim.SGD(net.parameters(), lr=a.lr)
    for epoch in range(a.epochs):
        loss = net(torch.ones(1, 2)).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize("parsed", ["a = parser.parse_args()", "a, rest = parser.parse_known_args()"])
@pytest.mark.parametrize("text", [f"def main():\n{OPTIONS}{RUN}", f"{dedent(OPTIONS)}\n\ndef main():\n{RUN}"])
def test_options_are_read_by_whatever_name_the_parser_made(tmp_path: Path, parsed: str, text: str) -> None:
    program = f"import argparse\nimport torch\n\n\n{text}\n\nif __name__ == '__main__':\n    main()\n"
    (tmp_path / "train.py").write_text(program.replace("PARSED", parsed))
    sheet = expand_component(tmp_path, "run", budget=3000).text
    assert "lr=0.125 default" in sheet and "epochs=15 default" in sheet
    asked = expand_component(tmp_path, "run", recipe="python train.py --lr 2e-4", budget=3000).text
    assert "lr=2e-4 the command\n" in asked
