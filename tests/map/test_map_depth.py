"""One component in full, the configuration as it is, the way of one batch, the diagram."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import map_depth
import pytest
from trainsleuth.cli import main
from trainsleuth.map import EXPANDABLE, Expansion, diagram, expand_component, map_repository

REPOSITORIES = {
    "globals": map_depth.GLOBALS,
    "options": map_depth.OPTIONS,
    "sections": map_depth.SECTIONS,
    "bases": map_depth.BASES,
}


def expanded(files: dict[str, str], root: Path, what: str, **asked: Any) -> Expansion:
    return expand_component(map_depth.write(files, root), what, **asked)


def keys(found: Expansion) -> dict[str, dict[str, Any]]:
    return {item["name"]: dict(item) for item in found.items}


def test_a_file_that_is_executed_overrides_constants_and_the_command_overrides_the_file(tmp_path: Path) -> None:
    known = keys(expanded(map_depth.GLOBALS, tmp_path, "config"))
    values = {name: known[name]["value"] for name in ("batch_size", "learning_rate", "max_iters", "seed")}
    assert values == {"batch_size": "64", "learning_rate": "1e-3", "max_iters": "7", "seed": "1"}
    assert [layer["how"] for layer in known["learning_rate"]["layers"]] == ["default", "file"]
    assert known["learning_rate"]["reads"] == [{"path": "train.py", "line": 12}]
    assert "best" not in known  # a result, not a setting
    assert known["accum"]["layers"][-1] == {
        "how": "code", "path": "train.py", "line": 9, "value": "//= 2", "certain": False,
    }  # fmt: skip


def test_options_files_and_a_script_in_the_order_in_which_they_apply(tmp_path: Path) -> None:
    known = keys(expanded(map_depth.OPTIONS, tmp_path, "config"))
    assert known["lr"]["value"] == "3e-4"  # $LR of the script
    assert known["lr"]["about"] == "peak learning rate"
    assert known["optim.momentum"]["value"] == "0.9"
    assert known["batch_size"]["value"] == "8"
    assert not known["batch_size"]["layers"][-1]["certain"]  # doubled under an if


def test_what_nothing_reads_is_said_and_only_that(tmp_path: Path) -> None:
    found = expanded(map_depth.OPTIONS, tmp_path, "config")
    unread = {name for name, key in keys(found).items() if key["uses"] == "unread"}
    assert unread == {"warmup", "optim.nesterov_power"}
    assert "# read by nothing" in found.text


@pytest.mark.parametrize("taker", ["build(**vars(args))", "build(**args.__dict__)"])
def test_a_key_that_may_be_handed_on_is_not_called_unread(taker: str, tmp_path: Path) -> None:
    files = dict(map_depth.OPTIONS)
    files["train.py"] = files["train.py"].replace("    net = torch", f"    {taker}\n    net = torch")
    known = keys(expanded(files, tmp_path, "config"))
    assert {key["uses"] for key in known.values()} <= {"read", "unknown"}


def test_a_given_command_counts_instead_of_the_one_in_the_repository(tmp_path: Path) -> None:
    found = expanded(map_depth.OPTIONS, tmp_path, "config", recipe="python train.py --lr=7e-5 --amp")
    known = keys(found)
    assert (known["lr"]["value"], known["amp"]["value"]) == ("7e-5", "True")
    assert found.entry == "train.py"


def test_a_recipe_gives_the_values_of_the_classes_that_it_chooses(tmp_path: Path) -> None:
    known = keys(expanded(map_depth.SECTIONS, tmp_path, "config", recipe="recipes/base.yaml"))
    assert known["optimization.lr"]["value"] == "0.0005"  # the README's command starts another recipe
    assert known["optimization.clip_norm"]["value"] == "0.0"  # a default that the recipe leaves
    assert known["model.width"]["value"] == "3"
    assert "depth_of_large" not in json.dumps(known)


def test_references_are_followed(tmp_path: Path) -> None:
    found = expanded(map_depth.SECTIONS, tmp_path, "config", recipe="recipes/base.yaml")
    assert "model.rate = ${optimization.lr} = 0.0005" in found.text


def test_references_in_a_circle_end(tmp_path: Path) -> None:
    rates = "    label_rate: ${data.label_rate}\n"
    circle = (
        "data:\n    label_rate: ${rate}\n" + "".join(f"part{n}:\n{rates}" for n in range(40)) + "rate: ${label_rate}\n"
    )
    files = {
        "conf.yaml": circle,
        "train.py": "import torch\nfrom omegaconf import OmegaConf\ncfg = OmegaConf.load('conf.yaml')\n"
        "model = torch.nn.Linear(1, cfg.label_rate)\noptimizer = torch.optim.SGD(model.parameters(), cfg.part1.label_rate)\n"
        "for x in range(9):\n    optimizer.zero_grad()\n    model(x).mean().backward()\n    optimizer.step()\n",
    }
    known = keys(expanded(files, tmp_path, "config", recipe="conf.yaml", budget=8000))
    assert known["part1.label_rate"]["value"].startswith("${data.label_rate}")


def test_a_scope_that_is_a_library_finds_the_program_that_uses_it(tmp_path: Path) -> None:
    root = map_depth.write(map_depth.SECTIONS, tmp_path)
    assert map_repository(root, scope="lib").entry == "cli/train.py"


def test_python_files_with_bases_are_recipes(tmp_path: Path) -> None:
    root = map_depth.write(map_depth.BASES, tmp_path)
    known = keys(expand_component(root, "config", recipe="configs/head.py"))
    assert known["optim_wrapper.optimizer.lr"]["value"] == "0.02"
    assert known["train_cfg.max_epochs"]["value"] == "100"
    assert known["model.head.type"]["value"] == "Head"
    found = map_repository(root, recipe="configs/head.py")
    assert (found.framework, found.entry) == ("MMEngine", "tools/train.py")
    assert [p.line for p in found.components["model"].places if p.path == "nets/heads.py"] == [6, 7]


OPTIONS_BESIDE = """import argparse
from mmengine.config import Config
from mmengine.runner import Runner


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("--resume", nargs="?")
    parser.add_argument("--launcher", default="none")
    args = parser.parse_args()
    cfg = Config.fromfile(args.config)
    cfg.launcher = args.launcher
    if args.resume is not None:
        cfg.resume = True
        cfg.load_from = args.resume
    Runner.from_cfg(cfg).train()


if __name__ == "__main__":
    main()
"""
WRAPPED = {
    **map_depth.BASES,
    "tools/train.py": OPTIONS_BESIDE,
    "tools/dist.sh": "CONFIG=$1\nGPUS=$2\nNODES=${NODES:-1}\n\npython -m torch.distributed.launch \\\n    --nnodes=$NODES \\\n"
    '    --nproc_per_node=$GPUS \\\n    $(dirname "$0")/train.py \\\n    $CONFIG --launcher pytorch ${@:3}\n',
    "configs/_base_/run.py": "resume = False\nload_from = None\ndefault_hooks = dict(checkpoint=dict(type='Saver'))\n",
    "nets/stages.py": "from mmengine.registry import TRANSFORMS\n\n\n@TRANSFORMS.register_module()\nclass Flip:\n"
    "    def __init__(self, prob=0.25):\n        self.prob = prob\n\n\n@TRANSFORMS.register_module()\nclass Pack:\n    pass\n",
    "configs/head.py": "_base_ = ['./_base_/run.py']\ntrain_pipeline = [dict(type='Flip'), dict(type='Pack')]\ntrain_dataloader = dict(batch_size=16)\nsize = (16,)\nmodel = dict(\n"
    "    head=dict(\n        type='Head',\n        init_cfg=dict(\n            type='Pretrained',\n"
    "            checkpoint='https://download.example.org/pose/pretrained_models/'\n            'network_w32-36af842e.pth'),\n"
    "        width=7,\n        names=('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')))\n",
}


def wrapped(root: Path, what: str, more: str = "") -> Expansion:
    return expanded(WRAPPED, root, what, scope="tools/train.py", recipe=f"bash tools/dist.sh configs/head.py 8{more}")


def test_the_arguments_of_a_launch_script_are_put_into_its_command(tmp_path: Path) -> None:
    known = keys(wrapped(tmp_path, "config", " --resume auto"))
    assert [known[one]["value"] for one in ("nproc_per_node", "nnodes", "launcher")] == ["8", "1", "pytorch"]
    assert known["load_from"]["value"] == "auto"
    sheet = wrapped(tmp_path, "run").text
    assert "16 train_dataloader.batch_size x 8 nproc_per_node = 128 examples a step" in sheet
    assert "by default: Flip: stages.py:6 prob=0.25" in sheet


def test_an_option_is_not_the_setting_of_the_same_name(tmp_path: Path) -> None:
    known = keys(wrapped(tmp_path, "config"))
    assert [known[one]["value"] for one in ("resume", "load_from")] == ["False", "None"]


def test_the_entry_of_a_table_at_a_line_is_shown_first_and_a_path_keeps_its_end(tmp_path: Path) -> None:
    found = wrapped(tmp_path, "open configs/head.py:10").text
    assert "A:8 model › head › init_cfg=dict(type='Pretrained', checkpoint=" in found
    assert "size = (16,)" in found
    assert "/network_w32-36af842e.pth" in wrapped(tmp_path, "model").text


def test_a_component_shows_whole_statements_with_values_and_conditions(tmp_path: Path) -> None:
    root = map_depth.write(map_depth.OPTIONS, tmp_path)
    optimizer = expand_component(root, "optimizer_scheduler")
    made = next(item for item in optimizer.items if "SGD" in item.get("text", ""))
    assert made["values"]["args.lr"].startswith("3e-4 (run.sh:2, default 0.1)")
    assert "0.9 (config.json:1" in made["values"]["cfg.optim.momentum"]
    saved = next(item for item in expand_component(root, "checkpointing").items if "torch.save" in item.get("text", ""))
    assert saved["when"] == "step % cfg['save']['every'] == 0"
    assert saved["values"]["cfg.save.every"].startswith("5 ")


def test_the_path_of_one_batch_names_what_enters_the_loss(tmp_path: Path) -> None:
    found = expanded(map_depth.OPTIONS, tmp_path, "batch")
    roles = [item["role"] for item in found.items]
    assert roles == ["forward", "loss", "backward", "optimizer step", "zero_grad"]
    loss = next(item for item in found.items if item["role"] == "loss")
    assert loss["said"] == "input of CrossEntropyLoss: logits.softmax(-1) is probabilities; it expects logits"


STABLE = 500  # the budget at which the same is asked twice


@pytest.mark.parametrize("name", REPOSITORIES)
@pytest.mark.parametrize("budget", [200, STABLE, pytest.param(2000, marks=pytest.mark.twins)])
def test_expansions_keep_their_budget_and_every_line_exists(name: str, budget: int, tmp_path: Path) -> None:
    root = map_depth.write(REPOSITORIES[name], tmp_path)
    for what in EXPANDABLE:
        found = expand_component(root, what, budget=budget)
        assert found.used <= budget, found.text
        if budget == STABLE:
            assert json.loads(json.dumps(found.to_dict())) == expand_component(root, what, budget=budget).to_dict()
        for item in found.items:
            if "line" in item:
                lines = (root / item["path"]).read_text().split("\n")
                assert 1 <= item["line"] <= len(lines), item


NODE = re.compile(r'^    (\w+)\["([^"\[\]{}<>|]|<br/>)+"\]$')
EDGE = re.compile(r"^    (\w+) (?:-->|-\. updates \.->) (\w+)$")


@pytest.mark.parametrize("name", REPOSITORIES)
def test_the_diagram_is_mermaid(name: str, tmp_path: Path) -> None:
    """Each line is a node whose text holds no character of Mermaid's own, or an arrow between nodes."""
    lines = diagram(map_depth.write(REPOSITORIES[name], tmp_path)).splitlines()
    assert lines[0] == "flowchart TD"
    nodes = [found[1] for line in lines[1:] if (found := NODE.match(line))]
    edges = [found.groups() for line in lines[1:] if (found := EDGE.match(line))]
    assert len(nodes) + len(edges) == len(lines) - 1, "\n".join(lines)
    assert {end for edge in edges for end in edge} <= set(nodes)
    assert len(nodes) == len(set(nodes)) >= 5


def test_text_of_the_repository_cannot_shape_the_diagram(tmp_path: Path) -> None:
    files = dict(map_depth.GLOBALS)
    files["train.py"] = files["train.py"].replace(
        "loss.backward()", 'loss.backward()  # "]; click train call alert("x") <b>'
    )
    text = diagram(map_depth.write(files, tmp_path))
    assert '"]; click' not in text
    assert "<b>" not in text


def test_the_command_line_expands_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(map_depth.write(map_depth.OPTIONS, tmp_path))
    assert main(["map", root, "--expand", "optimizer-scheduler", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["expand"] == "optimizer_scheduler"
    assert main(["map", root, "--format", "mermaid"]) == 0
    assert capsys.readouterr().out.startswith("flowchart TD\n")
    assert main(["map", root, "--expand", "nonsense"]) == 2
    assert "optimizer_scheduler" in capsys.readouterr().err


def test_a_project_beside_the_program_is_not_part_of_it(tmp_path: Path) -> None:
    """An override in a folder that nothing imports cannot run."""
    files = {
        "lib/__init__.py": "",
        "lib/base.py": "import torch\n\n\nclass Trainer:\n    def run(self):\n        self.step()\n\n    def step(self):\n"
        "        loss = torch.ones(1, requires_grad=True).sum()\n        loss.backward()\n",
        "train.py": "from lib.base import Trainer\n\nif __name__ == '__main__':\n    Trainer().run()\n",
        "projects/other/mine.py": "from lib.base import Trainer\n\n\nclass Mine(Trainer):\n    def step(self):\n        loss = 2\n"
        "        loss.backward()\n",
    }
    found = map_repository(map_depth.write(files, tmp_path))
    assert found.entry == "train.py"
    assert {place.path for place in found.components["training_loop"].places} == {"lib/base.py", "train.py"}
