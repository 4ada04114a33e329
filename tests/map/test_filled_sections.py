"""Classes of settings that no parser is seen to fill: the sections of which the command sets keys are theirs."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from trainsleuth.map import expand_component

COMMAND = "python train.py trainer.epochs=3 sampling.top_k=5"

FILES = {
    "train.py": """
        import sys

        import torch

        from settings import Settings


        def trained(cfg):
            net = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(net.parameters(), lr=cfg.trainer.loss.rate)
            if cfg.trainer.critic_path is not None:
                net = torch.load(cfg.trainer.critic_path)
            for epoch in range(cfg.trainer.epochs):
                loss = (net(torch.rand(3, 2)) / cfg.trainer.loss.heat).sum()
                opt.zero_grad()
                loss.backward()
                opt.step()


        if __name__ == "__main__":
            trained(Settings.from_command(sys.argv[1:]))
        """,
    "settings.py": """
        from dataclasses import dataclass, field
        from typing import Optional

        from omegaconf import OmegaConf


        @dataclass
        class LossConfig:
            rate: float = 0.25
            heat: Optional[float] = None


        @dataclass
        class SamplingConfig:
            heat: float = 1.5
            top_k: int = -1


        @dataclass
        class TrainerConfig:
            epochs: int = 1
            critic_path: Optional[str] = None
            loss: LossConfig = field(default_factory=LossConfig)


        @dataclass
        class UnusedConfig:
            margin: float = 0.75


        @dataclass
        class Settings:
            trainer: TrainerConfig = field(default_factory=TrainerConfig)
            sampling: SamplingConfig = field(default_factory=SamplingConfig)

            @classmethod
            def from_command(cls, given):
                return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(cls), OmegaConf.from_dotlist(given)))

            def __post_init__(self):
                if self.trainer.loss.heat is None:
                    self.trainer.loss.heat = self.sampling.heat
        """,
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(dedent(text))
    return tmp_path


def test_a_default_beside_a_key_that_is_set_stands_with_its_statement(program: Path) -> None:
    text = expand_component(program, "open trained", recipe=COMMAND, budget=600).text
    assert "cfg.trainer.critic_path = None (settings.py:23)" in text
    assert "cfg.trainer.loss.rate = 0.25 (settings.py:10)" in text


def test_what_an_object_makes_of_a_field_of_one_that_it_holds_is_its_value(program: Path) -> None:
    asked = expand_component(program, "config", recipe=COMMAND, budget=3000)
    told = {str(item["name"]): (item["value"], item["layers"][-1]["line"]) for item in asked.items}
    assert told["trainer.loss.heat"] == ("1.5", 43)


def test_a_field_that_is_set_keeps_its_value(program: Path) -> None:
    asked = expand_component(program, "config", recipe=f"{COMMAND} trainer.loss.heat=2", budget=3000)
    assert {item["name"]: item["value"] for item in asked.items}["trainer.loss.heat"] == "2"


NOTHING = {
    "train.py": """
        import sys

        import torch
        from dataclasses import dataclass
        from omegaconf import OmegaConf


        @dataclass
        class NormConfig:
            level: str = "batch"


        @dataclass
        class ActorConfig:
            rate: float = 0.25
            norm: NormConfig | None = None


        @dataclass
        class Config:
            actor: ActorConfig
            epochs: int = 1


        class Actor:
            def __init__(self, config: ActorConfig):
                self.config = config
                self.norm = torch.nn.LayerNorm(2) if config.norm else None
                self.net = torch.nn.Linear(2, 2)

            def update(self):
                out = self.net(torch.rand(3, 2))
                if self.norm is not None:
                    out = self.norm(out)
                return out.sum()


        cfg = OmegaConf.merge(OmegaConf.structured(Config), OmegaConf.load(sys.argv[1]))
        actor = Actor(cfg.actor)
        opt = torch.optim.SGD(actor.net.parameters(), lr=cfg.actor.rate)
        for epoch in range(cfg.epochs):
            opt.zero_grad()
            actor.update().backward()
            opt.step()
        """,
    "run.yaml": "epochs: 3\\nactor:\\n  rate: 0.1\\n  norm:\\n    level: group\\n",
}


@pytest.mark.parametrize("is_set", [True, False])
def test_a_section_that_somebody_sets_is_not_the_nothing_of_its_default(is_set: bool, tmp_path: Path) -> None:
    for name, text in NOTHING.items():
        (tmp_path / name).write_text(dedent(text).replace("\\n", "\n"))
    if not is_set:
        (tmp_path / "run.yaml").write_text("epochs: 3\nactor:\n  rate: 0.1\n")
    found = expand_component(tmp_path, "lines norm", "train.py", "run.yaml", budget=800).text
    assert ("norm = None" in found) is not is_set
    assert ("# off" in found) is not is_set
