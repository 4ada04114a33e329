from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader

from frontend import LogSpectrogram
from recordings import SOURCES, Sessions


@dataclass(frozen=True)
class Config:
    clips: int = 960
    batch_size: int = 12
    lr: float = 2e-3
    width: int = 12
    log_every: int = 10


def build(config):
    return nn.Sequential(
        LogSpectrogram(),
        nn.Conv2d(1, config.width, 5, stride=2, padding=2),
        nn.LeakyReLU(0.1),
        nn.Conv2d(config.width, 2 * config.width, 3, stride=2, padding=1),
        nn.LeakyReLU(0.1),
        nn.AdaptiveAvgPool2d((4, 1)),
        nn.Flatten(),
        nn.Linear(8 * config.width, len(SOURCES)),
    )


def test_accuracy(model):
    waves, labels = next(iter(DataLoader(Sessions(200, sessions=1, seed=99), batch_size=200)))
    model.eval()
    with torch.no_grad():
        hits = model(waves).argmax(1) == labels
    model.train()
    return hits.float().mean().item()


def main(config=Config()):
    torch.manual_seed(0)
    model = build(config)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.NAdam(model.parameters(), lr=config.lr)
    running = None
    for step, (waves, labels) in enumerate(DataLoader(Sessions(config.clips), batch_size=config.batch_size)):
        loss = criterion(model(waves), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running = loss.item() if running is None else 0.8 * running + 0.2 * loss.item()
        if step % config.log_every == 0:
            print(f"{step:4d}  running loss {running:.4f}")
    print(f"test accuracy {test_accuracy(model):.3f}")


if __name__ == "__main__":
    main()
