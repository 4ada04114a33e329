"""What a Hydra program is started with: every key under its package, worth what the last that sets it says."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component, map_repository

TRAIN = """from dataclasses import dataclass

import hydra
import torch


@dataclass
class ActorConfig:
    use_kl: bool = False
    lr: float = 9.0


@hydra.main(config_path="config", config_name="ppo", version_base=None)
def main(cfg):
    net = torch.nn.Linear(2, 1)
    config = hydra.utils.instantiate(cfg.worker.actor)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.worker.actor.optim.lr)
    for step in range(cfg.steps):
        loss = net(torch.ones(1, 2)).sum()
        if config.use_kl:
            loss = loss + 0.1 * net.weight.square().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
"""
FILES = {
    "train.py": TRAIN,
    "config/ppo.yaml": "defaults:\n  - actor@worker.actor: small\n  - data: text\n  - optional local: none_here\n"
    "  - _self_\n  - experiment: null\nsteps: 5\nworker:\n  kind: one\n",
    "config/other.yaml": "defaults:\n  - _self_\n  - data: text\nsteps: 7\ndata:\n  size: 70\n",
    "config/actor/small.yaml": "defaults:\n  - ../optim@optim: sgd\n  - base\n  - _self_\nwidth: 8\nname: small\n",
    "config/actor/large.yaml": "defaults:\n  - /optim@optim: adam\n  - base\n  - _self_\nwidth: 64\nname: large\n",
    "config/actor/base.yaml": "_target_: train.ActorConfig\nwidth: 1\nuse_kl: false\nbetas: [1, 2, 3]\n",
    "config/optim/sgd.yaml": "lr: 0.1\nkind: sgd\n",
    "config/optim/adam.yaml": "lr: 0.01\nkind: adam\n",
    "config/data/text.yaml": "defaults:\n  - tokens: bytes\nsize: 10\n",
    "config/data/images.yaml": "size: 20\n",
    "config/data/tokens/bytes.yaml": "count: 256\n",
    "config/tracker/file.yaml": "# @package log.file\nto: disk\n",
    "config/experiment/kl.yaml": "# @package _global_\nworker:\n  actor:\n    use_kl: true\n",
    "config/experiment/long.yaml": "# @package _global_\ndefaults:\n  - override /data: images\n"
    "  - override /actor@worker.actor: large\nsteps: 99\nworker:\n  actor:\n    betas: [4]\n",
}
PLAIN = {
    "worker.actor.optim.lr": "0.1",
    "worker.actor.width": "8",
    "worker.actor.betas": "[1, 2, 3]",
    "data.size": "10",
    "data.tokens.count": "256",
    "steps": "5",
    "worker.kind": "one",
}
NOT_THERE = ("optim.lr", "actor.width", "small.width", "experiment", "data.count", "lr", "use_kl")


@pytest.mark.parametrize(
    ("words", "expected", "absent"),
    [
        ("", PLAIN, NOT_THERE),
        ("worker.actor.optim.lr=3 ++steps=8", {**PLAIN, "worker.actor.optim.lr": "3", "steps": "8"}, NOT_THERE),
        ("+worker.actor.decay=0.2", {**PLAIN, "worker.actor.decay": "0.2"}, NOT_THERE),
        ("~worker.actor.betas", {"worker.actor.width": "8"}, ("worker.actor.betas", *NOT_THERE)),
        ("worker.actor.betas=[7]", {**PLAIN, "worker.actor.betas": "[7]"}, NOT_THERE),
        ("~data", {"steps": "5"}, ("data.size", "data.tokens.count")),
        ("data=images", {"data.size": "20", "steps": "5"}, ("data", "data.tokens.count")),
        (
            "actor@worker.actor=large",
            {**PLAIN, "worker.actor.optim.lr": "0.01", "worker.actor.width": "64"},
            ("actor@worker.actor", *NOT_THERE),
        ),
        ("actor@worker.actor=large optim@worker.actor.optim=sgd", {"worker.actor.optim.lr": "0.1"}, NOT_THERE),
        ("+tracker=file", {**PLAIN, "log.file.to": "disk"}, ("tracker.to", "tracker")),
        ("+tracker@side.log=file", {**PLAIN, "side.log.to": "disk"}, ("log.file.to", "tracker.to")),
        (
            "experiment=long",
            {"data.size": "20", "worker.actor.width": "64", "worker.actor.betas": "[4]", "steps": "99"},
            ("data.tokens.count", "experiment.steps"),
        ),
        (
            "experiment=long data=text steps=2",  # the command beats what the experiment exchanges
            {"data.size": "10", "worker.actor.width": "64", "steps": "2"},
            NOT_THERE,
        ),
        ("--config-name=other", {"steps": "7", "data.size": "10"}, ("worker.kind", "worker.actor.width")),
    ],
)
def test_each_key_stands_at_its_package_and_the_last_that_sets_it_wins(
    words: str, expected: dict[str, str], absent: tuple[str, ...], tmp_path: Path
) -> None:
    known = _known(tmp_path, f"python train.py {words}".strip())
    assert {name: known.get(name) for name in expected} == expected
    assert not set(absent) & known.keys()


def test_a_recipe_is_the_option_of_its_group_or_the_whole_configuration(tmp_path: Path) -> None:
    known = _known(tmp_path, "config/experiment/long.yaml")
    assert (known["steps"], known["data.size"], known["worker.kind"]) == ("99", "20", "one")
    assert _known(tmp_path, "config/other.yaml")["steps"] == "7"


@pytest.mark.parametrize("names_its_class", [True, False])
@pytest.mark.parametrize(
    ("words", "off"), [("worker.actor.use_kl=True", False), ("experiment=kl", False), ("steps=1", True)]
)
def test_the_default_of_a_class_switches_nothing_off_that_the_command_switches_on(
    words: str, off: bool, names_its_class: bool, tmp_path: Path
) -> None:
    target = "" if names_its_class else "_target_: train.ActorConfig\n"
    files = {path: text.replace(target, "") if target else text for path, text in FILES.items()}
    root = map_depth.write(files, tmp_path)
    text = expand_component(root, "loss", recipe=f"python train.py {words}").text
    assert "0.1 * net.weight" in text
    assert ("off: " in text) is off


def _known(folder: Path, recipe: str, files: dict[str, str] = FILES) -> dict[str, str]:
    root = map_depth.write(files, folder)
    return {item["name"]: item["value"] for item in expand_component(root, "config", recipe=recipe, budget=9000).items}


@pytest.mark.parametrize(
    "added",
    [
        {"plugin.py": "def more(search_path):\n    search_path.append(provider='base', path='pkg://base.config')\n"},
        {"config/ppo.yaml": FILES["config/ppo.yaml"] + "hydra:\n  searchpath:\n    - file://base/config\n"},
    ],
)
def test_groups_of_another_package_stand_on_the_search_path(added: dict[str, str], tmp_path: Path) -> None:
    group = {
        "base/config/limit/tight.yaml": "width: 3\n",
        "config/actor/small.yaml": "defaults: [base, _self_, {/limit@_here_: tight}]\nwidth: 8\n",
    }
    assert _known(tmp_path / "without", "python train.py", FILES | group)["worker.actor.width"] == "8"
    assert _known(tmp_path / "with", "python train.py", FILES | group | added)["worker.actor.width"] == "3"


@pytest.mark.parametrize("folder", ['ROOT + "/config"', 'str(ROOT) + "/config"', 'os.path.join(ROOT, "config")'])
def test_the_folder_of_the_configuration_may_be_put_together(tmp_path: Path, folder: str) -> None:
    main = TRAIN.replace('config_path="config"', f"config_path={folder}")
    assert _known(tmp_path, "python train.py data=images", {**FILES, "train.py": main})["data.size"] == "20"


@pytest.mark.parametrize(
    "above",
    [
        'FOLDER = os.getenv("CONFIGS", "config")\nif os.path.basename(FOLDER) != "config":\n    FOLDER = FOLDER + "/config"\n',
        'FOLDER = Path(__file__).parent / "config"\n',
    ],
)
def test_the_folder_and_the_name_of_the_configuration_may_be_constants(tmp_path: Path, above: str) -> None:
    main = TRAIN.replace('config_path="config"', "config_path=FOLDER").replace('config_name="ppo"', "config_name=NAME")
    main = f'import os\nfrom pathlib import Path\n\n{above}NAME = "ppo"\n\n{main}'
    other = {"elsewhere/config/ppo.yaml": "steps: 70\n"}  # as far away as the words of the folder allow
    assert _known(tmp_path, "python train.py data=images", {**FILES, **other, "train.py": main})["data.size"] == "20"


LISTS = {
    **FILES,
    "config/ppo.yaml": "defaults:\n  - data: text\n  - hook: ???\n  - metric: [one, two]\n  - _self_\nsteps: 5\n",
    **{f"config/{group}/{name}.yaml": f"{name}: {at}\n" for group in ("hook", "metric") for at, name in enumerate(("one", "two", "three"))},
    "config/experiment/hooks.yaml": "# @package _global_\ndefaults:\n  - override /hook: [two, three]\n  - override /metric: [three]\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", {"metric.one", "metric.two"}),
        ("hook=one", {"hook.one", "metric.one", "metric.two"}),
        ("hook=[one,three] metric=two", {"hook.one", "hook.three", "metric.two"}),
        ("+experiment=hooks", {"hook.two", "hook.three", "metric.three"}),
        ("+experiment=hooks metric=[one,two]", {"hook.two", "hook.three", "metric.one", "metric.two"}),
        ("~metric", set()),
    ],
)
def test_a_group_may_have_several_options_at_once(words: str, expected: set[str], tmp_path: Path) -> None:
    known = _known(tmp_path, f"python train.py {words}".strip(), LISTS)
    assert {name for name in known if name.startswith(("hook.", "metric."))} == expected


def test_a_file_that_a_loaded_module_reads_when_it_is_started_itself_is_none_of_the_run(tmp_path: Path) -> None:
    read = "import yaml\n\nif __name__ == '__main__':\n    yaml.safe_load(open('alone/width.yaml'))\n"
    files = {**FILES, "other.py": read, "train.py": f"import other\n{TRAIN}", "alone/width.yaml": "size: 77\nkind: 5\n"}
    assert "77" not in _known(tmp_path, "python train.py", files).values()
    again = {**files, "other.py": read.replace("if __name__ == '__main__':", "if yaml:")}
    assert "77" in _known(tmp_path, "python train.py", again).values()


def test_a_group_of_which_nothing_is_taken_is_told_and_decides(tmp_path: Path) -> None:
    limited = TRAIN.replace(
        "        opt.step()",
        "        if cfg.get('limit') is not None:\n            loss = loss * cfg.limit.width\n        opt.step()",
    )
    files = {
        **FILES,
        "train.py": limited,
        "config/ppo.yaml": FILES["config/ppo.yaml"].replace("  - _self_\n", "  - limit: null\n  - _self_\n"),
        "config/limit/tight.yaml": "width: 3\n",
    }
    assert _known(tmp_path, "python train.py", files)["limit"] == "null"
    known = _known(tmp_path, "python train.py limit=tight", files)
    assert known["limit.width"] == "3" and "limit" not in known
    for words, is_off in (("", True), ("limit=tight", False)):
        text = expand_component(tmp_path, "loss", recipe=f"python train.py {words}".strip()).text
        assert ("off: limit = null" in text) is is_off


DRIVER = {
    "train.py": "import hydra\nimport pytorch_lightning as pl\n\nfrom smooth import Smoother\n\n\n"
    '@hydra.main(config_path="config", config_name="drive")\ndef main(cfg):\n    smoother = Smoother(cfg.mode)\n'
    "    wrapped = hydra.utils.instantiate(cfg.model, mode=cfg.mode, smoother=smoother)\n"
    "    trainer = pl.Trainer(**cfg.lightning.params)\n    trainer.fit(wrapped)\n\n\nif __name__ == '__main__':\n    main()\n",
    "smooth.py": "from casadi import Opti\n\n\nclass Smoother:\n    def __init__(self, mode):\n"
    "        self._optimizer = Opti()\n        self._optimizer.minimize(3)\n",
    "nets/open_loop_model.py": "import pytorch_lightning as pl\nimport torch\n\n\nclass OpenLoopModel(pl.LightningModule):\n"
    "    def __init__(self, width, mode, smoother):\n        super().__init__()\n        self.fc = torch.nn.Linear(width, 1)\n"
    "        self.mode = mode\n\n"
    "    def training_step(self, batch, batch_idx):\n        loss = self.fc(batch)\n        return loss.sum() if self.mode == 'sum' else loss.mean()\n\n"
    "    def configure_optimizers(self):\n        return torch.optim.Adam(self.parameters())\n",
    "config/drive.yaml": "job_name: open_loop_model\nmode: mean\nmodel:\n  _target_: nets.open_loop_model.OpenLoopModel\n"
    "  _convert_: all\n  width: 4\nnoise:\n  mean: [1.0, 0.5]\n"
    "lightning:\n  params:\n    max_time: 00:16:00:00\n    max_epochs: 20\n    accelerator: ddp\n",
}


def test_what_a_configuration_names_is_told_once_and_only_what_it_names(tmp_path: Path) -> None:
    root = map_depth.write(DRIVER, tmp_path)
    sheet = expand_component(root, "run", recipe="python train.py", budget=3000).text
    assert "max_epochs=20" in sheet and "max_time=00:16:00:00" in sheet
    assert "OpenLoopModel open_loop_model.py:5 by model" in sheet and "width=4" in sheet
    assert "by job_name" not in sheet and "_target_" not in sheet and "_convert_" not in sheet
    assert "mean = [" not in sheet  # a word, not the setting that is called so
    shown = map_repository(root, recipe="python train.py", budget=4000)
    assert "distribution: config/drive.yaml:13" in shown.text
    assert "smooth.py" not in str(shown.components["training_loop"])  # it solves equations


def test_a_section_takes_the_place_of_nothing_and_nothing_that_of_a_section(tmp_path: Path) -> None:
    flow = "# @package _global_\nworker:\n  flow:\n    rate: 3\n"
    files = {
        **FILES,
        "config/ppo.yaml": FILES["config/ppo.yaml"] + "  flow: null\n",
        "config/experiment/flow.yaml": flow,
        "config/experiment/none.yaml": "# @package _global_\nworker:\n  actor: null\n",
    }
    known = _known(tmp_path, "python train.py experiment=flow", files)
    assert known["worker.flow.rate"] == "3" and "worker.flow" not in known
    known = _known(tmp_path, "python train.py experiment=none", files)
    assert known["worker.actor"] == "null" and "worker.actor.width" not in known and known["worker.flow"] == "null"


STRATEGIES = {
    "examples/start.py": """import argparse

from dacite import from_dict
from hydra import compose, initialize
from worker import RunConfig, Worker


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config_path", default="config")
    parser.add_argument("--config_name", default="none")
    args = parser.parse_args()
    initialize(config_path=args.config_path)
    cfg = from_dict(data_class=RunConfig, data=compose(config_name=args.config_name))
    Worker(cfg).fit()


if __name__ == "__main__":
    main()
""",
    "examples/small/run.sh": "#!/bin/bash\nCONFIG_PATH=$(basename $(dirname $0))\n"
    'python examples/start.py --config_path $CONFIG_PATH --config_name "$(basename "$0" .sh)"\n',
    "examples/small/run.yaml": "defaults:\n  - ../shared/env@_here_\n  - _self_\nsteps: 1024\nactor:\n  strategy:\n    name: sharded\n    lr: 0.2\n"
    "critic:\n  strategy:\n    name: plain\n",
    "examples/shared/env.yaml": "env:\n  maze:\n    steps: ${limit}\nlimit: 10\n",
    "worker.py": """from dataclasses import dataclass, field


@dataclass
class RunConfig:
    steps: int = 500
    actor: dict = field(default_factory=dict)


def create(worker):
    name = worker.config.strategy.name
    if name == "plain":
        from strategies.plain import Plain as chosen
    elif name == "sharded":
        from strategies.sharded import Sharded as chosen
    elif name == "mocked":
        from strategies.mocked import Mocked as chosen
    else:
        raise ValueError(name)
    if worker.wraps:
        chosen = wrapped(chosen)
    return chosen(worker)


class Worker:
    def __init__(self, config: RunConfig):
        self.config = config
        self.strategy = create(self)

    def fit(self):
        for step in range(self.config.steps):
            self.strategy.train_step()
""",
    **{
        f"strategies/{name}.py": f"import torch\n\n\nclass {name.title()}:\n    def __init__(self, worker):\n"
        f"        self.net = torch.nn.Linear(2, 1)\n        self.optimizer = torch.optim.{kind}(self.net.parameters(), lr=0.1)\n\n"
        "    def train_step(self):\n        self.net(torch.ones(1, 2)).sum().backward()\n        self.optimizer.step()\n"
        for name, kind in (("plain", "SGD"), ("sharded", "AdamW"), ("mocked", "Adagrad"))
    },
}


def test_a_program_that_composes_by_itself_is_read_by_its_script(tmp_path: Path) -> None:
    """What the script is called names the configuration, and a default above the first folder is found."""
    recipe = "bash examples/small/run.sh"
    known = _known(tmp_path, recipe, STRATEGIES)
    assert (known["steps"], known["env.maze.steps"], known["limit"]) == ("1024", "${limit}", "10")
    shown = expand_component(tmp_path, "run", scope="examples/start.py", recipe=recipe, budget=4000).text
    assert "steps=1024" in shown and "500" not in shown.replace("default 500", "")
    assert "torch.optim.SGD(" in shown and "torch.optim.AdamW(" in shown  # one of the two that sections name
    assert "Adagrad" not in shown
