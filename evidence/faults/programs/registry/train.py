"""python train.py config.json: everything that is built comes from the registry by its name."""

import json
import sys

import torch
from quality import data, losses, model, schedules  # noqa: F401  fills the registry
from quality.registry import build
from quality.trainer import Trainer


def main(path):
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    torch.manual_seed(config["seed"])
    loaders = build("data", **config["data"])
    net = build("model", inputs=data.FEATURES, classes=data.CLASSES, **config["model"])
    optimizer = build("optimizer", parameters=net.parameters(), **config["optimizer"])
    schedule = build("schedule", optimizer=optimizer, **config["schedule"])
    trainer = Trainer(net, build("loss", **config["loss"]), optimizer, schedule, clip=config["clip"], ema=config["ema"])
    trainer.fit(*loaders, epochs=config["epochs"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "config.json")
