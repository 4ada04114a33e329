"""Where a framework holds the loop: what its step consists of in the methods that the repository gives it."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.map import map_repository

LIGHTNING = """
import lightning as L
import torch


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 2)
        self.decoder = torch.nn.Linear(2, 2)

    def training_step(self, batch, index):
        return self.shared(batch, "train")

    def validation_step(self, batch, index):
        return self.eval_step(batch)

    def shared(self, batch, split):
        out = self.noisy(batch)
        loss = torch.nn.functional.mse_loss(out, batch)
        total_loss = loss + 0.1 * out.square().mean()
        return total_loss

    def noisy(self, batch):
        hidden = self.net(batch)
        return self.decoder(hidden)

    def eval_step(self, batch):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


settings = {"max_epochs": 3, "gradient_clip_val": 1.0}
trainer = L.Trainer(**settings)
trainer.fit(Module(), torch.utils.data.DataLoader(torch.randn(8, 2)))
"""
HUGGING_FACE = """
import torch
from transformers import LlamaForCausalLM, Trainer, TrainingArguments


class Model(LlamaForCausalLM):
    def forward(self, input_ids=None, labels=None):
        outputs = self.model(input_ids)
        logits = self.lm_head(outputs[0])
        loss_fct = torch.nn.CrossEntropyLoss()
        loss = loss_fct(logits, labels)
        return loss, logits


model = Model.from_pretrained("llama")
Trainer(model=model, args=TrainingArguments("out"), train_dataset=open("data")).train()
"""


def loop_of(root: Path) -> set[int]:
    made = map_repository(root)
    assert made.components["training_loop"].status == "elsewhere"
    return {place.line for place in made.components["training_loop"].places}


def line_of(text: str, source: str) -> int:
    return next(at for at, line in enumerate(source.split("\n"), 1) if text in line)


def test_the_shared_step_of_a_module_is_followed(tmp_path: Path) -> None:
    lines = loop_of(write({"train.py": LIGHTNING}, tmp_path))
    said = (
        "self.shared(batch",
        "out = self.noisy",
        "loss = torch",
        "total_loss =",
        "hidden = self.net",
        "self.decoder(",
    )
    assert not [one for one in said if line_of(one, LIGHTNING) not in lines]


def test_settings_of_the_loop_in_a_table_that_is_handed_over(tmp_path: Path) -> None:
    assert line_of("gradient_clip_val", LIGHTNING) in loop_of(write({"train.py": LIGHTNING}, tmp_path))


def test_a_model_that_makes_its_loss_itself(tmp_path: Path) -> None:
    lines = loop_of(write({"train.py": HUGGING_FACE}, tmp_path))
    said = ("def forward", "outputs = self.model", "loss = loss_fct")
    assert not [one for one in said if line_of(one, HUGGING_FACE) not in lines]


EMA = """
import torch


class EMA:
    def __init__(self, decay):
        self.decay, self.shadow = decay, {}

    def update(self, model):
        for name, param in model.named_parameters():
            new = (1 - self.decay) * param.data + self.decay * self.shadow[name]
            self.shadow[name] = new.clone()


net = torch.nn.Linear(2, 1)
ema = EMA(0.9)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""


def test_where_averaged_weights_are_moved(tmp_path: Path) -> None:
    program = EMA + STEP.rstrip() + "\n    ema.update(net)\n"
    places = map_repository(write({"train.py": program}, tmp_path)).components["training_loop"].places
    assert {line_of("def update", program), line_of("ema.update(net)", program)} <= {place.line for place in places}


FORECASTER = {
    "net.py": "import torch\nfrom lightning import LightningModule\n\n\nclass Net(LightningModule):\n"
    "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(2, 1)\n\n"
    "    def training_step(self, batch, index):\n        return self.layer(batch).mean()\n\n"
    "    def configure_optimizers(self):\n        return torch.optim.Adam(self.parameters(), lr=0.3)\n",
    "estimator.py": "from gluonts.torch.model.estimator import PyTorchLightningEstimator\n\nfrom net import Net\n\n\n"
    "class OwnEstimator(PyTorchLightningEstimator):\n    def create_lightning_module(self):\n        return Net()\n",
    "run.py": "from estimator import OwnEstimator\n\n\ndef main(data):\n"
    "    estimator = OwnEstimator(trainer_kwargs={})\n    CALL\n\n\nif __name__ == '__main__':\n    main([])\n",
}


@pytest.mark.parametrize("call", ["estimator.train_model(data, ckpt_path=None)", "estimator.train(data)"])
def test_an_estimator_of_gluonts_trains_the_module_that_it_makes(tmp_path: Path, call: str) -> None:
    write({**FORECASTER, "run.py": FORECASTER["run.py"].replace("CALL", call)}, tmp_path)
    found = map_repository(tmp_path)
    assert "Lightning · trains" in found.text and found.components["training_loop"].status == "elsewhere"
    assert ("net.py", 13) in {(one.path, one.line) for one in found.components["optimizer_scheduler"].places}


def test_where_a_module_has_its_step_and_its_optimizer_nothing_here_trains_is_not_said(tmp_path: Path) -> None:
    write({**FORECASTER, "run.py": FORECASTER["run.py"].replace("CALL", "print(estimator)")}, tmp_path)
    text = map_repository(tmp_path).text
    assert "NOT SEEN TO TRAIN, other code here does" in text and "nothing here trains" not in text
    assert "is not seen to train; net.py:10 is a step for a trainer of a library" in text, text
