"""The inner loop of a framework's trainer that the project writes anew, and commands that a script shows before it runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import map_repository

TRAINER = """import torch
from transformers import AutoModel, Trainer, TrainingArguments


class Slow(Trainer):
    def compute_loss(self, model, inputs, **more):
        return model(**inputs).loss

    def {name}(self, batch_size=None, args=None, **more):
        for epoch in range(int(args.num_train_epochs)):
            for inputs in self.get_train_dataloader():
                loss = self.training_step(self.model, inputs)
                self.optimizer.step()
                self.optimizer.zero_grad()


Slow(AutoModel.from_pretrained("some/base"), TrainingArguments("out"), train_dataset=torch.load("data.pt")).train()
"""


@pytest.mark.parametrize(("name", "status"), [("_inner_training_loop", "found"), ("_other", "elsewhere")])
def test_an_inner_loop_of_its_own_is_the_loop(name: str, status: str, tmp_path: Path) -> None:
    part = map_repository(write({"train.py": TRAINER.replace("{name}", name)}, tmp_path)).components["training_loop"]
    assert part.status == status


SHOWN = (
    'OUT=runs\ncmd="torchrun --nproc_per_node=2 train.py --output_dir $OUT 2>&1 | tee log.txt"\necho $cmd\neval $cmd\n'
)
WRITTEN = 'echo "python train.py --lr 0.1" > job.sh\n'


@pytest.mark.parametrize(
    ("script", "begins"), [(SHOWN, "torchrun --nproc_per_node=2 train.py"), (WRITTEN, 'echo "python train.py')]
)
def test_a_command_that_is_only_shown_starts_nothing(script: str, begins: str, tmp_path: Path) -> None:
    files = {"train.py": TRAINER.replace("{name}", "_other"), "run.sh": script}
    shown = map_repository(write(files, tmp_path)).text.partition("launch: ")[2]
    assert shown.startswith(begins)
