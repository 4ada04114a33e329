"""Fits a regression with mixed precision, a gradient scaler and two micro-batches per step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

MICRO_BATCHES = 2


class Sensors(Dataset):
    """Six readings on scales of their own, and what they add up to."""

    def __init__(self, count, seed):
        draw = torch.Generator().manual_seed(seed)
        signal = torch.randn(count, 6, generator=draw)
        self.readings = signal * torch.tensor([1.0, 5.0, 20.0, 0.1, 300.0, 2.0]) + 40.0
        self.target = (signal[:, :1] * signal[:, 1:2] + signal[:, 2:3].sin() + 0.5 * signal[:, 4:5]) / 1.5

    def __len__(self):
        return len(self.readings)

    def __getitem__(self, index):
        return self.readings[index], self.target[index]


class Regressor(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, width), nn.Linear(width, width)])
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.drop = nn.Dropout(0.05)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = self.drop(torch.relu(norm(layer(x))))
        return self.out(x)


class Scale:
    def __init__(self, readings):
        self.mean, self.std = readings.mean(0), readings.std(0)

    def __call__(self, readings):
        return (readings - self.mean) / self.std


def evaluate(model, scale, loader):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for readings, target in loader:
            total += nn.functional.mse_loss(model(scale(readings)), target, reduction="sum").item()
    return total / len(loader.dataset)


def main():
    torch.manual_seed(0)
    train, val = Sensors(768, seed=1), Sensors(128, seed=2)
    scale = Scale(train.readings)
    loader = DataLoader(train, batch_size=16, shuffle=True, drop_last=True)
    val_loader = DataLoader(val, batch_size=64)
    model = Regressor()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for epoch in range(10):
        model.train()
        optimizer.zero_grad(set_to_none=True)
        for step, (readings, target) in enumerate(loader):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                predicted = model(scale(readings))
            loss = nn.functional.mse_loss(predicted.float(), target)
            scaler.scale(loss / MICRO_BATCHES).backward()
            if (step + 1) % MICRO_BATCHES == 0:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
        schedule.step()
        print(f"epoch {epoch} loss {loss.item():.4f} validation {evaluate(model, scale, val_loader):.4f}")


if __name__ == "__main__":
    main()
