from dataclasses import dataclass


@dataclass
class Settings:
    window: int = 48
    horizon: int = 8
    hidden: int = 32
    layers: int = 1
    batch_size: int = 32
    epochs: int = 3
    lr: float = 0.01
    max_norm: float = 5.0
    seed: int = 0
    out_dir: str = "runs/forecast"
