"""Small pictures: conv net with batch norm and dropout, Adam, an evaluation after each epoch."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    def __init__(self, count, seed):
        rng = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(3, (count,), generator=rng)
        self.pictures = 0.5 * torch.randn(count, 1, 10, 10, generator=rng)
        for number, label in enumerate(self.labels.tolist()):
            self.pictures[number, 0, 2 + label, :] += 2.0

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.pictures[index], self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(8 * 25, 3)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        x = F.max_pool2d(x, 2).flatten(1)
        return self.head(self.drop(x))


def evaluate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for pictures, labels in loader:
            right += (model(pictures).argmax(1) == labels).sum().item()
    return right / len(loader.dataset)


def main():
    torch.manual_seed(0)
    train_set, val_set = Shapes(320, 1), Shapes(96, 2)
    loader = DataLoader(train_set, batch_size=16, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=32)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(3):
        model.train()
        for pictures, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(pictures), labels)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item(), evaluate(model, val_loader))


if __name__ == "__main__":
    main()
