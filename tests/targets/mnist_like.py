"""Digit pictures the classic way: conv net, log_softmax, nll_loss, Adadelta, StepLR, a test per epoch."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset


class FakeDigits(Dataset):
    """Pictures (1, 14, 14): one of ten random prototypes, shifted by up to a pixel, plus noise."""

    def __init__(self, count, seed):
        self.prototypes = (torch.rand(10, 14, 14, generator=torch.Generator().manual_seed(0)) < 0.3).float()
        rng = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(10, (count,), generator=rng)
        self.shifts = torch.randint(-1, 2, (count, 2), generator=rng).tolist()
        self.noise = 0.4 * torch.randn(count, 14, 14, generator=rng)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        label = int(self.labels[index])
        picture = torch.roll(self.prototypes[label], self.shifts[index], dims=(0, 1)) + self.noise[index]
        return picture.unsqueeze(0), label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3)
        self.conv2 = nn.Conv2d(12, 24, 3)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.4)
        self.fc1 = nn.Linear(24 * 25, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.dropout1(x).flatten(1)
        x = self.dropout2(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(args, model, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print(f"epoch {epoch} [{batch_idx}/{len(loader)}] loss: {loss.item():.4f}")


def test(model, loader):
    model.eval()
    test_loss = correct = 0
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            correct += output.argmax(dim=1).eq(target).sum().item()
    count = len(loader.dataset)
    print(f"test: average loss {test_loss / count:.4f}, accuracy {correct}/{count}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.7)
    parser.add_argument("--log-interval", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save-model", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    train_loader = DataLoader(FakeDigits(1024, seed=1), batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(FakeDigits(256, seed=2), batch_size=128)
    model = Net()
    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    for epoch in range(1, args.epochs + 1):
        train(args, model, train_loader, optimizer, epoch)
        test(model, test_loader)
        scheduler.step()
    if args.save_model:
        torch.save(model.state_dict(), "digits.pt")


if __name__ == "__main__":
    main()
