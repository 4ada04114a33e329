"""Settings that nothing reads, and defaults of classes of which the run makes no object."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.map import expand_component

COMMAND = "python train.py --lr 2e-4 --ema_start 5 --folder out --precision bf16"

FILES = {
    "train.py": "import argparse\nimport dataclasses\n\nimport torch\n\nfrom settings import Settings\nimport shapes\n\n"
    "parser = argparse.ArgumentParser()\nparser.add_argument('--lr', type=float, default=0.1)\n"
    "parser.add_argument('--ema_start', type=int, default=0)\nparser.add_argument('--precision', default='fp32')\n"
    "parser.add_argument('--weighting', default='uniform')\nparser.add_argument('--folder', default='.')\n"
    "args = parser.parse_args()\n"
    "settings = Settings(**{one.name: getattr(args, one.name) for one in dataclasses.fields(Settings)})\n"
    "net = torch.nn.Linear(2, shapes.width(settings))\n"
    "opt = torch.optim.SGD(net.parameters(), lr=settings.lr)\nkind = settings.weighting\n"
    + STEP
    + "    torch.save(net.state_dict(), settings.folder)\n",
    "shapes.py": "def width(settings):\n    return settings.width_of_all\n",
    "settings.py": "from dataclasses import dataclass, field\n\n\n@dataclass\nclass Settings:\n    lr: float = 0.0\n"
    "    ema_start: int = 0\n    weighting: str = ''\n    folder: str = ''\n    width_of_all: int = 4\n"
    "    precision: str = field(default='', metadata={'node': 'train.amp.precision'})\n\n\n"
    "@dataclass\nclass WideConfig:\n    width_of_all: int = 64\n    heads_of_all: int = 8\n",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_what_the_command_sets_and_nobody_reads_is_told_so(program: Path) -> None:
    sheet = expand_component(program, "run", recipe=COMMAND, budget=3000).text
    assert "ema_start=5 the command (no reader seen)" in sheet
    assert "lr=2e-4 the command\n" in sheet or "lr=2e-4 the command," in sheet
    assert "folder=out the command (no reader" not in sheet


def test_what_is_handed_on_under_another_name_may_be_read(tmp_path: Path) -> None:
    parsed = FILES["train.py"].replace(
        "args = parser.parse_args()\n", "args = HfArgumentParser(Settings).parse_args_into_dataclasses()[0]\n"
    )
    options = parsed.partition("parser = ")[2].partition("args = ")[0]
    plain = parsed.replace(f"parser = {options}", "").replace(
        "import argparse\n", "from transformers import HfArgumentParser\n"
    )
    for name, text in {**FILES, "train.py": plain}.items():
        (tmp_path / name).write_text(text)
    sheet = expand_component(tmp_path, "run", recipe=COMMAND, budget=3000).text
    assert "precision=bf16 the command" in sheet and "precision=bf16 the command (no reader seen)" not in sheet


def test_fields_of_a_class_that_is_not_made_are_no_answer(program: Path) -> None:
    said = expand_component(program, "ask what width?", recipe=COMMAND, budget=400).text
    assert "Settings.width_of_all = 4" in said and "WideConfig.width_of_all" not in said
    assert said.index("class Settings") < said.index("class WideConfig")


def test_an_option_stands_before_the_field_that_it_fills(program: Path) -> None:
    said = expand_component(program, "ask which weighting?", recipe=COMMAND, budget=300).text
    assert "weighting = uniform" in said and "Settings.weighting" not in said


ACTION = (
    "\n\nclass Squeezed(argparse.Action):\n    def __call__(self, parser, namespace, value, option=None):\n"
    "        setattr(namespace, self.dest, value.replace(' ', ''))\n\n\n"
    "kwargs = {'default': 'a word'}\nkwargs['action'] = Squeezed\n"
)


def test_what_the_parser_makes_of_every_value_is_named(tmp_path: Path) -> None:
    whole = FILES["train.py"].replace("import shapes\n", "import shapes\n" + ACTION)
    whole = whole.replace("args = parser", "parser.add_argument('--prompt', **kwargs)\nargs = parser")
    for name, text in {**FILES, "train.py": whole}.items():
        (tmp_path / name).write_text(text)
    sheet = expand_component(tmp_path, "run", recipe=COMMAND, budget=3000).text
    assert "the command's values go through Squeezed.__call__ train.py:" in sheet
    (tmp_path / "train.py").write_text(FILES["train.py"])
    assert "go through" not in expand_component(tmp_path, "run", recipe=COMMAND, budget=3000).text


def test_an_answer_says_that_nothing_reads_a_setting(program: Path) -> None:
    said = expand_component(program, "ask from which step on is an ema kept?", recipe=COMMAND, budget=300).text
    assert "ema_start = 5 the command, no reader seen" in said
    said = expand_component(program, "ask which lr?", recipe=COMMAND, budget=300).text
    assert "lr = 2e-4 the command" in said and "no reader" not in said


def test_the_seed_of_a_command_line_of_lightning_is_a_seed(tmp_path: Path) -> None:
    files = {
        "train.py": "from lightning.pytorch.cli import LightningCLI\nfrom net import Net\n\nif __name__ == '__main__':\n"
        "    LightningCLI(Net)\n",
        "net.py": "import torch\nfrom lightning import pytorch as pl\n\n\nclass Net(pl.LightningModule):\n"
        "    def __init__(self, width: int = 4):\n        super().__init__()\n        self.net = torch.nn.Linear(2, width)\n\n"
        "    def training_step(self, batch, index):\n        return self.net(batch).square().mean()\n",
        "conf.yaml": "seed_everything: 7\nmodel:\n  width: 8\n",
    }
    root = write(files, tmp_path)
    sheet = expand_component(root, "run", scope="train.py", recipe="conf.yaml", budget=2000).text
    assert "seed_everything=7" in sheet[sheet.index("# seed") :]


def test_the_one_key_of_a_recipe_that_no_code_names_is_told(tmp_path: Path) -> None:
    names = [f"knob_{letter}" for letter in "abcdefgh"]
    read = "".join(f"    print(options.{name})\n" for name in names)
    files = {
        "train.py": "import sys\n\nimport torch\nimport yaml\n\n\nclass Options:\n    def __init__(self, path):\n"
        "        for key, value in yaml.safe_load(open(path)).items():\n            setattr(self, key, value)\n\n\n"
        f"def main():\n    options = Options(sys.argv[1])\n    net = torch.nn.Linear(2, 2)\n{read}"
        "    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        + STEP.replace("\n", "\n    ")
        + "\n    torch.save(net.state_dict(), options.save_embed_path)\n\n\nif __name__ == '__main__':\n    main()\n",
        "a.yaml": "".join(f"{name}: {number}\n" for number, name in enumerate(names)) + "save_embeds_path: out\n",
    }
    write(files, tmp_path)
    assert "save_embeds_path=out a.yaml:9 (no reader seen)" in expand_component(tmp_path, "run", recipe="a.yaml").text
    (tmp_path / "a.yaml").write_text(files["a.yaml"].replace("save_embeds", "save_embed"))
    assert "no reader seen" not in expand_component(tmp_path, "run", recipe="a.yaml").text


UNREAD = "(no reader seen)"
HEAD = "import argparse\n\nimport torch\n{imports}\nparser = argparse.ArgumentParser()\nparser.add_argument('--rate', type=float, default=0.1)\nargs = parser.parse_args()\n"  # fmt: skip
NET = "net = torch.nn.Linear(2, 1)\n{made}\n" + STEP


@pytest.mark.parametrize(
    ("imports", "made", "is_said"),
    [
        ("", "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nprint(args)", True),
        ("import json", "opt = torch.optim.SGD(net.parameters(), lr=0.1)\njson.dump(args, open('a', 'w'))", True),
        ("from timm.optim import create_optimizer", "opt = create_optimizer(args, net)", False),
        ("from timm.optim import create, kwargs", "opt = create(net, **kwargs(cfg=args))", False),
    ],
)
def test_another_library_that_gets_all_settings_may_read_any(
    tmp_path: Path, imports: str, made: str, is_said: bool
) -> None:
    root = write({"train.py": HEAD.format(imports=imports) + NET.format(made=made)}, tmp_path)
    sheet = expand_component(root, "run", recipe="torchrun --nproc_per_node=8 train.py --rate 0.2").text
    assert (f"rate=0.2 the command {UNREAD}" in sheet) is is_said
    assert f"nproc_per_node=8 the command {UNREAD}" not in sheet


def test_a_parameter_of_the_function_that_a_command_line_calls_is_read(tmp_path: Path) -> None:
    body = NET.format(made="opt = torch.optim.SGD(net.parameters(), lr=0.1)").replace("\n", "\n    ")
    text = f"import fire\nimport torch\n\n\ndef train(where: str = None):\n    print(where)\n    {body}\n\nfire.Fire(train)\n"
    root = write({"train.py": text}, tmp_path)
    assert UNREAD not in expand_component(root, "run", recipe="python train.py --where a").text
