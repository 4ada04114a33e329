"""An option of the command line and a key in a section of a file that are called alike."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP
from trainsleuth.map import expand_component, read_anatomy

READ_APART = (
    "launcher_conf = cfg.get('launcher')\nnodes = args.nodes if args.nodes is not None else launcher_conf.nodes\n"
    "if launcher_conf.nodes:\n    print(f'{nodes} nodes at once')\nelse:\n    print('one node, and no other')\n"
)
FLATTENED = "for section in cfg.values():\n    parser.set_defaults(**section)\nargs = parser.parse_args()\n"


def _program(root: Path, uses: str) -> Path:
    (root / "train.py").write_text(
        "import argparse\n\nimport torch\nfrom omegaconf import OmegaConf\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--config')\nparser.add_argument('--nodes', type=int, default=None)\n"
        "args = parser.parse_args()\ncfg = OmegaConf.load(args.config)\n"
        + uses
        + "net = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        + STEP
    )
    (root / "small.yaml").write_text("launcher:\n  nodes: 4\n  port: 7\n")
    return root


def test_a_key_that_code_reads_in_its_section_is_not_the_option_of_that_name(tmp_path: Path) -> None:
    root = _program(tmp_path, READ_APART)
    command = "python train.py --config small.yaml"
    truth = read_anatomy(root, None, command, 2000).truth
    assert truth is not None
    values = {key.name: key.value for key in truth.keys}
    assert values["launcher.nodes"] == "4" and values["nodes"] == "None"
    said = expand_component(root, "find at_once nodes", recipe=command, budget=400).text
    assert "nodes at once" in said and "off:" not in said.partition("nodes at once")[0]


def test_one_that_nobody_reads_there_sets_the_option(tmp_path: Path) -> None:
    root = _program(tmp_path, FLATTENED)
    truth = read_anatomy(root, None, "python train.py --config small.yaml", 2000).truth
    assert truth is not None
    assert {key.name: key.value for key in truth.keys}["nodes"] == "4"


def test_a_section_is_not_the_key_of_that_name_in_another(tmp_path: Path) -> None:
    root = _program(tmp_path, "graph = cfg.graph\nprint(graph)\nprint(cfg.files.graph)\n")
    (root / "small.yaml").write_text("graph:\n  width: 4\nfiles:\n  graph: graph.pt\n")
    said = expand_component(root, "open train.py:11", recipe="python train.py --config small.yaml", budget=400).text
    shown = {line.split()[0].lstrip("…"): line for line in said.splitlines() if "graph" in line}
    assert "graph.pt" not in shown["11"] and "graph.pt" in shown["13"]
