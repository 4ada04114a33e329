"""A documented command that names a file of settings by another ending than it has."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP
from trainsleuth.map import map_repository

FILES = {
    "train.py": "import argparse\n\nimport torch\nimport yaml\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--conf_dir')\nargs = parser.parse_args()\ncfg = yaml.safe_load(open(args.conf_dir))\n"
    "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=cfg['lr'])\n" + STEP,
    "conf/small.yaml": "lr: 0.125\n",
    "README.md": "```\npython train.py --conf_dir=conf/small.yml\n```\n",
}
COMMAND = "python train.py --conf_dir=conf/small.yml"
SAID = "the command says conf/small.yml, which is not there; conf/small.yaml is taken for it"


def _written(root: Path, more: tuple[str, ...] = ()) -> Path:
    for name, text in (*FILES.items(), *((one, "lr: 0.5\n") for one in more)):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


def test_the_only_file_of_that_name_is_read_and_it_is_said(tmp_path: Path) -> None:
    root = _written(tmp_path)
    for made in (map_repository(root), map_repository(root, recipe=COMMAND)):
        assert SAID in made.unresolved and "conf/small.yaml" in made.text.partition("# data")[0]


def test_nothing_is_said_of_a_file_that_is_there(tmp_path: Path) -> None:
    root = _written(tmp_path, ("conf/small.yml",))
    for made in (map_repository(root), map_repository(root, recipe=COMMAND)):
        assert not any("taken for it" in one for one in made.unresolved)
