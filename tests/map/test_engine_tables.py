"""What a table tells an engine that steps by itself: its optimizer, precision, clipping and accumulation."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository

PROGRAM = """
import deepspeed
import torch

ROWS = 16
TOLD = {
    "train_micro_batch_size_per_gpu": ROWS,
    "gradient_accumulation_steps": 4,
    "gradient_clipping": 0.5,
    "optimizer": {"type": "AdamW", "params": {"lr": 3e-6}},
    "bf16": {"enabled": True},
}
IDLE = {"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": False}}


def main():
    net = torch.nn.Linear(4, 4)
    engine, *_ = deepspeed.initialize(model=net, config=TOLD, model_parameters=net.parameters())
    other, *_ = deepspeed.initialize(model=torch.nn.Linear(4, 4), config=IDLE)
    for x in torch.load("batches.pt"):
        engine.backward((engine(x) - other(x)).square().mean())
        engine.step()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("feature", "line"), [("accumulation", 8), ("clipping", 9), ("mixed_precision", 11)])
def test_an_engine_does_what_its_table_says(tmp_path: Path, feature: str, line: int) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    part = map_repository(tmp_path, recipe="python train.py").features[feature]
    assert part.status == "found"
    assert [one.line for one in part.places] == [line]


def test_the_sheet_of_the_run_has_what_the_engine_is_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    shown = expand_component(tmp_path, "run", recipe="python train.py", budget=2000).text
    assert "optimizer.type=AdamW train.py:10, lr=3e-6 :10" in shown
    assert "train_micro_batch_size_per_gpu=ROWS (16 (:5)) train.py:7" in shown
    assert "bf16.enabled=True train.py:11" in shown
    assert "enabled=False" not in shown
