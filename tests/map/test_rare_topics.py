"""Words that mean an agent, diffusion or detection only beside others do not make a topic of the run by themselves."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component
from trainsleuth.map.expansion.run_sheet.topics import topic_of

TRAIN = """import hydra
import torch


@hydra.main(config_path="conf", config_name="run")
def main(cfg):
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    scheduler = cfg.lr_config and torch.optim.lr_scheduler.StepLR(optimizer, cfg.lr_step)
    for _ in range(cfg.steps * cfg.rollout.start):
        loss = model(torch.ones(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
RECIPE = "lr: 0.1\nlr_config: null\nlr_step: 3\nsteps: 10\nrollout:\n  start: 2\n"


def sheet(root: Path, recipe: str) -> str:
    map_depth.write({"train.py": TRAIN, "conf/run.yaml": recipe}, root)
    return expand_component(root, "run", recipe="python train.py", budget=2000).text


@pytest.mark.parametrize(
    ("name", "topic"), [("gradient_clip.algorithm", "clipping"), ("algorithm", "agent"), ("loss.gae_lambda", "agent")]
)
def test_a_section_that_says_another_topic_comes_first(name: str, topic: str) -> None:
    assert topic_of(name) == topic


def test_one_doubtful_word_is_no_topic_but_is_told(tmp_path: Path) -> None:
    text = sheet(tmp_path, RECIPE)
    assert "# agent" not in text
    assert "start=2 " in text.partition("# other settings")[2]


def test_beside_a_word_of_its_own_it_is_one(tmp_path: Path) -> None:
    assert "start=2 " in sheet(tmp_path, f"{RECIPE}gae_lambda: 0.95\n").partition("# agent")[2].partition("#")[0]


def test_what_is_set_to_nothing_is_told_beside_others(tmp_path: Path) -> None:
    assert "lr_config=null " in sheet(tmp_path, RECIPE).partition("# schedule")[2].partition("#")[0]


def test_a_schedule_of_noise_is_told_apart_from_that_of_the_rate(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\nimport yaml\n\ncfg = yaml.safe_load(open('all.yaml'))\nnet = torch.nn.Linear(2, cfg['width'])\n"
        "print(cfg['scheduler_kwargs']['base_shift'], cfg['scheduler_kwargs']['scheduler_subpath'], cfg['lr_scheduler'])\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + map_depth.STEP
    )
    (tmp_path / "all.yaml").write_text(
        "width: 3\nlr_scheduler: constant\nscheduler_kwargs:\n  scheduler_subpath: null\n  base_shift: 0.5\n  num_train_timesteps: 9\n"
    )
    sheet = expand_component(tmp_path, "run", recipe="all.yaml", budget=1500).text
    schedule = sheet[sheet.index("# schedule") :].split("\n#")[0]
    assert "lr_scheduler=constant" in schedule and "base_shift" not in schedule and "base_shift=0.5" in sheet
