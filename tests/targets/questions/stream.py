"""A stream: an iterable data set read by two workers, a small recurrent classifier, gradient accumulation."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Waves(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for number in range(info.id, 320, info.num_workers):
            rng = torch.Generator().manual_seed(number)
            label = number % 3
            times = torch.linspace(0, 6.28, 20).unsqueeze(1)
            yield torch.sin(times * (1 + label)) + 0.2 * torch.randn(20, 1, generator=rng), label


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 24, batch_first=True)
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(self.gru(x)[0][:, -1])


def main():
    torch.manual_seed(0)
    loader = DataLoader(Waves(), batch_size=16, num_workers=2)
    model = Reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        for number, (x, y) in enumerate(loader):
            loss = criterion(model(x), y) / 2
            loss.backward()
            if number % 2 == 1:
                optimizer.step()
                optimizer.zero_grad()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
