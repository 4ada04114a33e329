"""Settings whose names have the word of a topic and whose values or readers say another."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository

TRAIN = """
import sys

import torch
import yaml
from torch import nn


class Work:
    def __init__(self, cfg):
        self.model = nn.Linear(4, 4)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])
        self.kept = cfg["KEY"]

    def noisy(self, x):
        return x + torch.randn_like(x).clamp(-self.kept, self.kept)

    def train(self, cfg=None):
        for x in torch.load("batches.pt"):
            loss = self.model(x).square().mean()
            SAYS
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


if __name__ == "__main__":
    Work(yaml.safe_load(open(sys.argv[1]))).train()
"""


def topic(root: Path, key: str, value: str, says: str) -> str:
    """The heading under which the sheet tells the setting."""
    (root / "train.py").write_text(TRAIN.replace("KEY", key).replace("SAYS", says))
    (root / "a.yaml").write_text(f"lr: 0.1\n{key}: {value}\n")
    sheet = expand_component(root, "run", "train.py", "python train.py a.yaml").text
    before, found, _ = sheet.partition(f"{key}={value}")
    assert found, sheet
    return before.rpartition("# ")[2].partition("\n")[0]


FACTOR = "loss = loss + self.kept * sum(one.square().sum() for one in self.model.parameters())"
CLIPS = 'nn.utils.clip_grad_norm_(self.model.parameters(), cfg["total_clip"])'


@pytest.mark.parametrize(
    ("key", "value", "says", "told"),
    [
        ("stddev_clip", "0.3", "x = self.noisy(x)", "other settings"),
        ("clip_val", "9", 'x = x.clamp(-cfg["clip_val"], cfg["clip_val"])', "other settings"),
        ("clip_val", "9", 'nn.utils.clip_grad_norm_(self.model.parameters(), cfg["clip_val"])', "clipping"),
        ("strategy", "group_k_fold", "pass", "other settings"),
        ("strategy", "ddp", "pass", "devices"),
        ("loss_scale_window", "1000", "pass", "precision"),
        ("recover_dual", "true", "pass", "other settings"),
        ("recover_from", "a.pt", "pass", "resumed"),
        ("grad_clip", "0.3", "pass", "clipping"),
        ("clip", "0.3", "pass", "clipping"),
        ("amp_obs_size", "200", "pass", "other settings"),
        ("amp_level", "O1", "pass", "precision"),
        ("disc_weight_decay", "0.1", FACTOR, "loss"),
        ("disc_weight_decay", "0.1", "pass", "optimizer"),
        ("bc_weight", "runs/bc.pt", "pass", "other settings"),
        ("bc_weight", "0.5", "pass", "loss"),
        ("stddev_schedule", "linear", "pass", "other settings"),
        ("lr_schedule", "linear", "pass", "schedule"),
        ("t_max", "900", "while not cfg['t_max']: pass", "length"),
        ("t_max", "900", "pass", "schedule"),
    ],
)
def test_the_topic_of_a_setting(tmp_path: Path, key: str, value: str, says: str, told: str) -> None:
    assert topic(tmp_path, key, value, says) == told


def test_a_bound_that_clips_gradients_is_one(tmp_path: Path) -> None:
    text = TRAIN.replace("KEY", "lr").replace("SAYS", CLIPS)
    text = text.replace(
        "Work(yaml.safe_load(open(sys.argv[1]))).train()",
        "cfg = yaml.safe_load(open(sys.argv[1]))\n    Work(cfg).train(cfg)",
    )
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "a.yaml").write_text("lr: 0.1\ntotal_clip: 2.0\n")
    sheet = expand_component(tmp_path, "run", "train.py", "python train.py a.yaml").text
    assert "# clipping\n  total_clip=2.0" in sheet, sheet


DIFFUSION = """
import numpy as np
import torch
from torch import nn


class ScheduleSampler:
    def weights(self):
        return np.ones(100)

    def sample(self, count, device):
        drawn = np.random.choice(100, size=(count,), p=self.weights() / 100)
        return torch.from_numpy(drawn).to(device)


class UniformSampler(ScheduleSampler):
    def weights(self):
        return np.ones(100)


def create_schedule_sampler(name):
    return UniformSampler()


def main():
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters())
    schedule_sampler = create_schedule_sampler("uniform")
    for x in torch.load("batches.pt"):
        t = schedule_sampler.sample(len(x), "cpu")
        loss = model(x * t[:, None]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


def test_what_draws_time_steps_is_no_data_and_no_schedule(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DIFFUSION)
    sheet = expand_component(tmp_path, "run", "train.py", "python train.py").text
    assert "Sampler" not in sheet and "create_schedule_sampler" not in sheet, sheet


def test_what_draws_examples_is(tmp_path: Path) -> None:
    reads = "    def __iter__(self):\n        yield from range(100)\n\n    def sample"
    (tmp_path / "train.py").write_text(DIFFUSION.replace("    def sample", reads))
    assert "UniformSampler" in expand_component(tmp_path, "run", "train.py", "python train.py").text


SCHEDULE = """
import torch
from torch import nn


class DecaySchedule:
    def __init__(self, first, last):
        self.first, self.last = first, last

    def at(self, step):
        return max(self.last, self.first - 0.1 * step)


def main():
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = DecaySchedule(GIVEN)
    for step, x in enumerate(torch.load("batches.pt")):
        loss = model(x + schedule.at(step) * torch.randn_like(x)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("given", "is_rate"), [("1.0, 0.05", False), ("1.0, last=optimizer.defaults['lr']", True)])
def test_a_schedule_of_exploration_is_none_of_the_rate(tmp_path: Path, given: str, is_rate: bool) -> None:
    (tmp_path / "train.py").write_text(SCHEDULE.replace("GIVEN", given))
    sheet = expand_component(tmp_path, "run", "train.py", "python train.py").text
    assert ("# schedule" in sheet) is is_rate, sheet


NETWORK = """
import sys

import torch
import yaml
from torch import nn


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.pairing = cfg["lr_pairing"]

    def forward(self, x):
        return self.layer(x)


def main():
    cfg = yaml.safe_load(open(sys.argv[1]))
    model = Net(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for mix in cfg.values():
        for x in torch.load(mix["dataset_name"])[: mix["weight"]]:
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("said", "told"), [("lr_pairing=difference", "model"), ("weight=0.5", "data")])
def test_left_and_right_are_no_rate_and_a_share_of_the_data_is_no_loss(tmp_path: Path, said: str, told: str) -> None:
    (tmp_path / "train.py").write_text(NETWORK)
    (tmp_path / "a.yaml").write_text("lr: 0.1\nlr_pairing: difference\nweb:\n  dataset_name: web\n  weight: 0.5\n")
    sheet = expand_component(tmp_path, "run", "train.py", "python train.py a.yaml").text
    before, found, _ = sheet.partition(said)
    assert found, sheet
    assert before.rpartition("# ")[2].partition("\n")[0] == told


def test_a_text_that_python_evaluates_is_no_evaluation(tmp_path: Path) -> None:
    reads = NETWORK.replace("import sys", "import ast\nimport sys", 1).replace(
        "    cfg = yaml", "    names = ast.literal_eval(sys.argv[2])\n    cfg = yaml"
    )
    tested = "\n    model.eval()\n    with torch.no_grad():\n        print(model(torch.load('test.pt')).mean())\n\n\nif __name__"
    (tmp_path / "train.py").write_text(reads.replace("\n\nif __name__", tested))
    shown = {(one.role, one.text) for one in map_repository(tmp_path).components["evaluation"].places}
    assert any("model.eval()" in text for _, text in shown)
    assert not any("literal_eval" in text for role, text in shown if role in ("mention", "evaluation call")), shown


NOISE = """
import sys

import numpy as np
import torch
import yaml
from torch import nn


def linear_beta_schedule(steps, top=0.02):
    return np.linspace(1e-4, top, steps)


def cosine_beta_schedule(steps):
    return np.cos(np.linspace(0, 1, steps))


NOISES = {"linear": linear_beta_schedule, "cosine": cosine_beta_schedule}


def parse_val_loss(name):
    return float(name.partition("loss=")[2])


def best_of(names):
    losses = np.array([parse_val_loss(name) for name in names])
    return names[losses.argmin()] if names else None


class Diffusion(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.betas = torch.tensor(NOISES[kind](100))

    def forward(self, x):
        return self.net(x + self.betas.mean() * torch.randn_like(x))


cfg = yaml.safe_load(open(sys.argv[1]))
model = Diffusion(cfg["schedule_type"])
best = best_of(sys.argv[2:])
optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
for x in torch.load("batches.pt"):
    error = (model(x) - x).square().mean()
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
"""


def test_a_schedule_of_noise_is_none_of_the_rate_and_a_number_out_of_a_name_no_loss(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(NOISE)
    (tmp_path / "a.yaml").write_text("lr: 0.1\nschedule_type: linear\n")
    made = map_repository(tmp_path, recipe="python train.py a.yaml")
    assert all("beta_schedule" not in place.text for place in made.components["optimizer_scheduler"].places)
    sheet = expand_component(tmp_path, "run", "train.py", "python train.py a.yaml", budget=3000).text
    assert "schedule_type=linear" not in sheet.partition("# schedule\n")[2].partition("\n#")[0]
    assert "parse_val_loss" not in sheet.partition("# loss\n")[2].partition("\n#")[0]
