"""An endless stream read by two persistent workers, in passes of a fixed number of steps, with validation between."""

import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Tones(IterableDataset):
    def __init__(self, first):
        self.first = first

    def __iter__(self):
        info = get_worker_info()
        for number in itertools.count(self.first + info.id, info.num_workers):
            rng = torch.Generator().manual_seed(number)
            pitch = number % 4
            times = torch.linspace(0, 6.28, 48)
            phase = 6.28 * torch.rand(1, generator=rng)
            yield torch.sin((1 + pitch) * times + phase) + 0.3 * torch.randn(48, generator=rng), pitch


def main():
    torch.manual_seed(0)
    train = DataLoader(Tones(0), batch_size=24, num_workers=2, persistent_workers=True)
    valid = DataLoader(Tones(1_000_000), batch_size=24, num_workers=2, persistent_workers=True)
    model = nn.Sequential(
        nn.Unflatten(1, (1, 48)), nn.Conv1d(1, 16, 7, padding=3), nn.BatchNorm1d(16), nn.ReLU(),
        nn.AdaptiveMaxPool1d(8), nn.Flatten(), nn.Linear(128, 4),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    stream = iter(train)
    for part in range(3):
        model.train()
        for wave, pitch in itertools.islice(stream, 30):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(wave), pitch)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = [(model(wave).argmax(1) == pitch).float().mean() for wave, pitch in itertools.islice(valid, 5)]
        print(part, loss.item(), torch.stack(right).mean().item())


if __name__ == "__main__":
    main()
