import argparse
from dataclasses import dataclass, fields


@dataclass
class Config:
    context: int = 64
    layers: int = 4
    heads: int = 4
    width: int = 128
    dropout: float = 0.1
    batch_size: int = 12
    steps: int = 200
    lr: float = 2e-3
    min_lr: float = 2e-4
    warmup: int = 20
    weight_decay: float = 0.1
    max_norm: float = 1.0
    eval_every: int = 50
    eval_batches: int = 4
    log_every: int = 10
    seed: int = 1
    checkpoint: str = "checkpoints/last.pt"


def from_command_line():
    parser = argparse.ArgumentParser(description="Train a small character model.")
    for field in fields(Config):
        parser.add_argument("--" + field.name.replace("_", "-"), type=type(field.default), default=field.default)
    return Config(**vars(parser.parse_args()))
