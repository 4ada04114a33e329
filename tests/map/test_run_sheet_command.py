"""The sheet of a run whose command the caller gives: only what this command names counts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from map_depth import STEP
from trainsleuth.map import expand_component

COMMAND = "python train.py --batch 4 --lr 2e-4"

OPTIONS = {
    "train.py": "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--config')\n"
    "parser.add_argument('--batch', type=int, default=8)\nparser.add_argument('--lr', type=float, default=0.1)\n"
    "args = parser.parse_args()\nnet = torch.nn.Linear(2, args.batch)\n"
    "opt = torch.optim.SGD(net.parameters(), lr=args.lr)\n" + STEP,
    "launch/four.yaml": "num_processes: 4\nmixed_precision: bf16\nzero_stage: 3\n",
    "README.md": "```\nlauncher --config_file launch/four.yaml && python train.py --config launch/four.yaml --lr 1e-3\n```\n",
}


def _sheet(tmp_path: Path, files: Mapping[str, str], command: str = COMMAND, budget: int = 3000) -> str:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return expand_component(tmp_path, "run", recipe=command, budget=budget).text


def test_a_configuration_that_only_another_command_names_does_not_count(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, OPTIONS)
    assert "lr=2e-4 the command" in sheet
    assert "num_processes" not in sheet and "bf16" not in sheet


def test_a_configuration_that_the_given_command_names_counts(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, OPTIONS, f"{COMMAND} --config launch/four.yaml")
    assert "num_processes=4" in sheet and "mixed_precision=bf16" in sheet


PARSED = {
    "train.py": "import torch\nfrom transformers import HfArgumentParser\n\nfrom lib import trainers\n"
    "from lib.args import ShortArguments\n\n\ndef main(args: ShortArguments):\n    net = torch.nn.Linear(2, args.batch)\n"
    "    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=args.momentum)\n"
    + STEP.replace("\n", "\n    ")
    + "\n    trainers.save(net, args)\n\n\nif __name__ == '__main__':\n    kinds = (ShortArguments,)\n"
    "    main(HfArgumentParser(kinds).parse_args_into_dataclasses()[0])\n",
    "lib/__init__.py": "",
    "lib/trainers.py": "import torch\n\nfrom .args import LongArguments\n\n\ndef save(net, args):\n"
    "    torch.save(net.state_dict(), args.folder)\n\n\ndef long(net, args: LongArguments):\n    return args.lr\n",
    "lib/args.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass AllArguments:\n    folder: str = 'out'\n"
    "    lr: float = 0.1\n    momentum: float = 0.5\n    batch: int = 8\n\n\n"
    "@dataclass\nclass LongArguments(AllArguments):\n    lr: float = 1e-6\n    momentum: float = 0.75\n\n\n"
    "@dataclass\nclass ShortArguments(AllArguments):\n    lr: float = 2e-5\n    momentum: float = 0.25\n",
}


def test_only_the_classes_that_the_parser_is_given_have_their_fields_told(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, PARSED)
    assert "lr=2e-4 the command" in sheet
    asked = expand_component(tmp_path, "config", recipe=COMMAND, budget=3000)
    told = {str(item["name"]): [layer["value"] for layer in item["layers"]] for item in asked.items}
    assert told["lr"] == ["2e-5", "2e-4"] and told["momentum"] == ["0.25"] and told["folder"] == ["out"]
    assert not any("." in name for name in told)


LATER = {
    **PARSED,
    "lib/args.py": PARSED["lib/args.py"].replace(
        "batch: int = 8\n",
        "batch: int = 8\n    bf16: bool = None\n    fp16: bool = False\n    seed: int = None\n    fine: bool = None\n\n"
        "    def __post_init__(self):\n        self.bf16 = not self.fp16 if self.bf16 is None else self.bf16\n"
        "        if self.seed is None:\n            self.seed = 7\n",
    ),
}


def test_what_replaces_a_default_of_none_is_told(tmp_path: Path) -> None:
    _sheet(tmp_path, LATER)
    asked = expand_component(tmp_path, "config", recipe=COMMAND, budget=3000)
    told = {str(item["name"]): (item["value"], [one["value"] for one in item["layers"]]) for item in asked.items}
    assert told["bf16"] == ("True", ["None", "True"])
    assert told["seed"] == ("7", ["None", "7"])
    assert told["fine"] == ("None", ["None"])


def test_what_replaces_a_default_may_rest_on_a_field_that_the_command_sets(tmp_path: Path) -> None:
    kinds = LATER["lib/args.py"].replace("self.seed = 7", "self.seed = 7 if self.fp16 else 9")
    _sheet(tmp_path, {**LATER, "lib/args.py": kinds})
    for flags, seed in (("", "9"), (" --fp16 True", "7")):
        asked = expand_component(tmp_path, "config", recipe=COMMAND + flags, budget=3000)
        assert {item["name"]: item["value"] for item in asked.items}["seed"] == seed


def test_what_rests_on_a_field_that_nobody_knows_is_told_as_it_is_written(tmp_path: Path) -> None:
    kinds = LATER["lib/args.py"].replace("    fp16: bool = False\n", "")
    _sheet(tmp_path, {**LATER, "lib/args.py": kinds})
    asked = expand_component(tmp_path, "config", recipe=COMMAND, budget=3000)
    told = {str(item["name"]): (item["value"], [one["value"] for one in item["layers"]]) for item in asked.items}
    assert told["bf16"] == ("None", ["None", "not self.fp16"])


def test_a_field_that_the_command_sets_is_not_replaced(tmp_path: Path) -> None:
    _sheet(tmp_path, LATER)
    asked = expand_component(tmp_path, "config", recipe=f"{COMMAND} --seed 3", budget=3000)
    assert {item["name"]: item["value"] for item in asked.items}["seed"] == "3"


def test_the_method_of_a_text_is_no_field_of_another_class(tmp_path: Path) -> None:
    files = {
        "train.py": "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--split', default='train')\nparser.add_argument('--hub_id')\n"
        "args = parser.parse_args()\nnet = torch.nn.Linear(2, len(args.split))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=1.0)\n"
        + STEP
        + "    torch.save(net.state_dict(), args.hub_id.split('/')[-1])\n",
    }
    _sheet(tmp_path, files)
    shown = expand_component(tmp_path, "checkpointing", recipe=COMMAND, budget=3000).text
    assert "args.hub_id.split" in shown and "split = train" not in shown and "split: train" not in shown


FRAMEWORK = {
    **PARSED,
    "train.py": "from transformers import HfArgumentParser, Trainer\n\nfrom lib.args import ShortArguments\n"
    "from lib.net import Net\n\n\ndef main():\n    (args,) = HfArgumentParser(ShortArguments).parse_args_into_dataclasses()\n"
    "    Trainer(Net(), args).train()\n\n\nif __name__ == '__main__':\n    main()\n",
    "lib/net.py": "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return {'loss': x.sum()}\n",
    "lib/args.py": "from dataclasses import dataclass\n\nfrom transformers import TrainingArguments\n\n\n@dataclass\n"
    "class ShortArguments(TrainingArguments):\n    weight_decay: float = 0.25\n    lr_scheduler_kwargs: dict = None\n",
}


def test_a_framework_reads_the_fields_of_a_class_that_derives_from_its_arguments(tmp_path: Path) -> None:
    assert "weight_decay=0.25 default" in _sheet(tmp_path, FRAMEWORK)
    plain = {**FRAMEWORK, "lib/args.py": FRAMEWORK["lib/args.py"].replace("(TrainingArguments)", "")}
    assert "weight_decay=0.25" not in _sheet(tmp_path, plain)


def test_what_the_framework_decides_is_not_missing(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, FRAMEWORK)
    assert "lr_scheduler_type is linear unless told otherwise" in sheet
    assert "# logged\n  inside Hugging Face Trainer" in sheet and "# devices\n  inside Hugging Face Trainer" in sheet
    missing = next((line for line in sheet.splitlines() if line.startswith("nothing found")), "")
    assert not any(name in missing for name in ("schedule", "logged", "devices"))
    told = _sheet(tmp_path, FRAMEWORK, f"{COMMAND} --lr_scheduler_type cosine")
    assert "lr_scheduler_type=cosine the command" in told and "is linear" not in told


def test_what_a_shell_knows_is_certain_and_what_it_does_not_may_come_by_the_command(tmp_path: Path) -> None:
    script = "python train.py --batch 4 --config $HOME/big --lr $LR\n"
    sheet = _sheet(tmp_path, {**OPTIONS, "run.sh": script}, "run.sh")
    assert "config=$HOME/big the command" in sheet
    assert "lr=0.1 default train.py:8 (may become $LR by the command)" in sheet


def test_an_option_without_a_default_of_its_own_is_worth_nothing(tmp_path: Path) -> None:
    script = OPTIONS["train.py"].replace("default=0.1", "default=argparse.SUPPRESS")
    sheet = _sheet(tmp_path, {**OPTIONS, "train.py": script}, "python train.py --batch 4")
    assert "SUPPRESS" not in sheet and "batch=4 the command" in sheet


def test_the_formatter_of_a_parser_is_no_class_of_settings(tmp_path: Path) -> None:
    told = OPTIONS["train.py"].replace("import argparse\n", "import argparse\n\nfrom shown import Short\n", 1)
    told = told.replace("ArgumentParser()", "ArgumentParser(formatter_class=Short)")
    assert "formatter_class=Short" in told
    shown = "import argparse\n\n\nclass Short(argparse.HelpFormatter):\n    width = 77\n"
    assert "77" not in _sheet(tmp_path, {**OPTIONS, "train.py": told, "shown.py": shown}, "python train.py --batch 4")
