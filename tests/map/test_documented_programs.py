"""The program that a documented command starts through its settings, and a loop that a library runs in a class it is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import map_repository

TRAIN = """import hydra


@hydra.main(config_path="conf", config_name="small")
def main(cfg):
    cls = hydra.utils.get_class(cfg._target_)
    workspace = cls(cfg)
    workspace.run()


if __name__ == "__main__":
    main()
"""
WORKSPACE = """import hydra
import torch


class NAMEWorkspace:
    def __init__(self, cfg):
        self.net = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=cfg.lr)

    def run(self):
        for x in torch.ones(8, 4, 2):
            self.optimizer.zero_grad()
            self.net(x).mean().backward()
            self.optimizer.step()


@hydra.main(config_path="../conf", config_name="small")
def main(cfg):
    NAMEWorkspace(cfg).run()


if __name__ == "__main__":
    main()
"""
README = "Run\n```console\n(near)[net]$ python train.py --config-name=KIND lr=0.3\n```\n"


@pytest.mark.parametrize("kind", ["Near", "Far"])
def test_the_plain_map_is_that_of_the_class_which_the_settings_of_a_documented_command_name(
    tmp_path: Path, kind: str
) -> None:
    files = {f"work/{one.lower()}.py": WORKSPACE.replace("NAME", one) for one in ("Near", "Far", "Other")}
    confs = {
        f"conf/{one.lower()}.yaml": f"_target_: work.{one.lower()}.{one}Workspace\nlr: 0.1\n" for one in ("Near", "Far")
    }
    readme = README.replace("KIND", kind.lower())
    write({**files, **confs, "work/__init__.py": "", "train.py": TRAIN, "README.md": readme}, tmp_path)
    found = map_repository(tmp_path)
    assert found.entry == f"work/{kind.lower()}.py"
    assert f"launch: python train.py --config-name={kind.lower()} lr=0.3 (README.md:3)" in found.text
    scoped = map_repository(tmp_path, "train.py", f"python train.py --config-name={kind.lower()}").text
    assert f"which _target_ names (conf/{kind.lower()}.yaml:1)" in scoped, scoped


GIVEN = """from oatmeal.algorithms import Learner
from oatmeal.interface import get_program, start
from LIBRARY import partial


class OwnLearner(Learner):
    def compute_loss(self, batch):
        return batch.mean()


program = CALL
start(program)
"""


@pytest.mark.parametrize(
    ("library", "call", "trains"),
    [
        ("functools", "get_program(learner_cls=OwnLearner)", True),
        ("functools", "get_program(OwnLearner)", True),
        ("functools", "partial(OwnLearner)", False),
    ],
)
def test_a_library_that_is_given_a_class_below_its_learner_runs_the_loop(
    tmp_path: Path, library: str, call: str, trains: bool
) -> None:
    write({"train.py": GIVEN.replace("LIBRARY", library).replace("CALL", call)}, tmp_path)
    text = map_repository(tmp_path).text
    assert ("oatmeal · trains" in text and "inside oatmeal" in text) is trains, text
