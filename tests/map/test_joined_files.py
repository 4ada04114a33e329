"""Configuration files whose paths code joins from options of the command, and a word where one was not read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component, map_repository

JOINED = "os.path.join(args.config_dir, args.config_name + '.yaml')"
FILES = {
    "src/train.py": "import argparse\nimport os\nfrom pathlib import Path\n\nimport torch\nimport yaml\n\n\ndef main():\n"
    "    parser = argparse.ArgumentParser()\n    parser.add_argument('--config-dir')\n"
    "    parser.add_argument('--config-name', default='plain')\n    args = parser.parse_args()\n"
    "    cfg = yaml.safe_load(open(JOINED))\n    net = torch.nn.Linear(2, 1)\n"
    "    opt = torch.optim.SGD(net.parameters(), lr=cfg['lr'])\n"
    + "".join(f"    {line}\n" for line in STEP.splitlines())
    + "\n\nif __name__ == '__main__':\n    main()\n",
    "src/first/plain.yaml": "lr: 0.25\n",
    "src/first/deep.yaml": "default_yaml: ../shared.yaml\nlr: 0.5\n",
    "src/second/deep.yaml": "lr: 0.75\n",
    "src/shared.yaml": "lr: 0.125\nmomentum: 0.875\n",
    "src/first/run.sh": "name=deep\npython ../train.py --config-dir=./ --config-name=${name}\n",
}


def _written(root: Path, joined: str = JOINED, more: Mapping[str, str] | None = None) -> Path:
    for name, text in {**FILES, **(more or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("JOINED", joined))
    return root


def _sheet(root: Path, recipe: str) -> str:
    return expand_component(root, "run", recipe=recipe, budget=2000).text


@pytest.mark.parametrize(
    "joined",
    [
        JOINED,
        "f'{args.config_dir}/{args.config_name}.yaml'",
        "Path(args.config_dir) / (args.config_name + '.yaml')",
        "os.path.join(args.config_dir, '{}.yaml'.format(args.config_name))",
        "os.path.join(getattr(args, 'config_dir'), args.config_name + '.yaml')",
    ],
)
def test_the_file_that_two_options_name_is_read_with_its_base(tmp_path: Path, joined: str) -> None:
    sheet = _sheet(_written(tmp_path, joined), "src/first/run.sh")
    assert "lr=0.5" in sheet and "momentum=0.875" in sheet
    assert "0.75" not in sheet and "0.125" not in sheet and "# not read" not in sheet


def test_names_that_are_bound_on_the_way_are_followed(tmp_path: Path) -> None:
    joined = "os.path.join(folder, name)"
    bound = "    folder = args.config_dir\n    name = '{}.yaml'.format(args.config_name)\n    cfg = "
    train = FILES["src/train.py"].replace("    cfg = ", bound)
    assert "lr=0.5" in _sheet(_written(tmp_path, joined, {"src/train.py": train}), "src/first/run.sh")


def test_a_folder_that_code_writes_and_the_default_of_the_option(tmp_path: Path) -> None:
    joined = "f'first/{args.config_name}.yaml'"
    assert "lr=0.25" in _sheet(_written(tmp_path, joined), "python src/train.py --config-dir x")


@pytest.mark.parametrize(
    "command",
    [
        "cd src/first && bash run.sh",
        "cd src/first; python ../train.py --config-dir=. --config-name=deep",
        "python src/train.py --config-dir src/first --config-name deep",
    ],
)
def test_a_command_begins_in_the_folder_that_it_changes_to(tmp_path: Path, command: str) -> None:
    assert "lr=0.5" in _sheet(_written(tmp_path), command)


def test_the_command_of_the_folder_starts_the_program_of_that_folder(tmp_path: Path) -> None:
    other = {"train.py": FILES["src/train.py"].replace("main", "other")}
    made = map_repository(_written(tmp_path, more=other), recipe="cd src && python train.py --config-dir first")
    assert made.entry == "src/train.py"


def test_a_configuration_that_was_not_read_is_told_before_values(tmp_path: Path) -> None:
    root = _written(tmp_path, "find(args)")
    command = "python src/train.py --config-dir=src/none --config-name=tall"
    sheet = _sheet(root, command)
    assert "# not read\n  the command says --config-name tall, and no configuration" in sheet
    assert sheet.index("# not read") < sheet.index("# optimizer")
    assert any("--config-name tall" in one for one in map_repository(root, recipe=command).unresolved)


def test_a_command_that_starts_nothing_here_is_told_before_values(tmp_path: Path) -> None:
    root = _written(tmp_path)
    sheet = _sheet(root, "cd src && bash missing.sh --lr 3")
    assert "# not read\n  the command starts no program that is found from the root: src/train.py is taken" in sheet
    assert "# not read" not in _sheet(root, "bash src/first/run.sh")
    scoped = expand_component(root, "run", scope="src/train.py", recipe="srun $PROGRAM --lr 3", budget=2000).text
    assert "# not read" not in scoped


def test_a_name_of_data_chooses_no_file_of_another_format(tmp_path: Path) -> None:
    main = FILES["src/train.py"].replace("open(JOINED)", "open(args.config_dir)")
    main = main.replace(
        "    net =", "    rows = json.load(open(os.path.join(cfg['name'], '{}.json'.format('a'))))\n    net ="
    )
    files = {
        "src/train.py": main,
        "src/start.yaml": "lr: 0.25\nscene: bears\nname: bears_first\n",
        "src/bears/bears_first.yaml": "momentum: 0.625\n",
    }
    command = "python src/train.py --config-dir src/start.yaml"
    assert "0.625" not in _sheet(_written(tmp_path, more=files), command)
    asked = main.replace("'{}.json'.format('a')", "cfg['scene'], cfg['name'] + '.yaml'").replace(
        "json.load", "yaml.safe_load"
    )
    assert "0.625" in _sheet(_written(tmp_path, more={**files, "src/train.py": asked}), command)


NAMED = {
    "model/train.py": "import argparse\n\nimport torch\nimport yaml\nfrom nets import Mixer\n\n\ndef main():\n"
    "    parser = argparse.ArgumentParser()\n    parser.add_argument('--data', default='roads')\n"
    "    args = parser.parse_args()\n    data = args.data\n    data = data.upper()\n    called = Mixer.__name__\n"
    "    with open(f'{called}.yaml') as file:\n        cfg = yaml.safe_load(file)\n    cfg = cfg[data]\n"
    "    net = Mixer(**cfg['net'])\n    opt = torch.optim.SGD(net.parameters(), lr=cfg['lr'], momentum=cfg['momentum'])\n"
    + "".join(f"    {line}\n" for line in STEP.splitlines())
    + "\n\nif __name__ == '__main__':\n    main()\n",
    "model/nets.py": "import torch\n\n\nclass Mixer(torch.nn.Module):\n    def __init__(self, width):\n"
    "        super().__init__()\n        self.head = torch.nn.Linear(2, width)\n",
    "model/Mixer.yaml": "".join(
        f"{name}:\n  lr: {rate}\n  momentum: 0.{rate[-1]}\n  net:\n    width: {width}\n"
        for name, rate, width in (("ROADS", "0.25", 3), ("RIVERS", "0.125", 5), ("RAILS", "0.75", 7))
    ),
}


@pytest.mark.parametrize("data", ["rivers", "RIVERS"])
def test_the_file_called_after_a_class_gives_the_section_that_an_option_picks(tmp_path: Path, data: str) -> None:
    sheet = _sheet(_written(tmp_path, more=NAMED), f"cd model && python train.py --data {data}")
    assert "lr=0.125" in sheet and "momentum=0.5" in sheet and "width=5" in sheet
    assert "0.25" not in sheet and "0.75" not in sheet
