"""Trains a small convolutional network on generated pictures of bars and blobs."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
CLASSES, SIZE = 4, 12


def pictures(count, seed):
    """Bars at four angles, with noise. Shapes (count, 1, 12, 12) and (count,)."""
    draw = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=draw)
    y, x = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
    angle = labels * torch.pi / CLASSES
    offset = torch.rand(count, generator=draw) - 0.5
    away = x * angle.cos()[:, None, None] + y * angle.sin()[:, None, None] - offset[:, None, None]
    images = 255 * torch.exp(-20 * away**2) + 25 * torch.rand(count, SIZE, SIZE, generator=draw)
    return images[:, None].clamp(0, 255), labels


def standardised(images):
    return (images - 80.0) / 85.0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)])
        self.norm = nn.LayerNorm(16 * 3 * 3)
        self.drop = nn.Dropout(0.2)
        self.hidden = nn.Linear(16 * 3 * 3, 32)
        self.head = nn.Linear(32, CLASSES)

    def forward(self, x):
        for block in self.blocks:
            x = F.max_pool2d(F.relu(block(x)), 2)
        x = self.norm(x.flatten(1))
        x = F.relu(self.hidden(x))
        return self.head(self.drop(x))


def accuracy(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for images, labels in loader:
            right += (model(images).argmax(1) == labels).sum().item()
            total += len(labels)
    return right / total


def main():
    train_images, train_labels = pictures(2560, seed=1)
    val_images, val_labels = pictures(160, seed=2)
    train_set = TensorDataset(standardised(train_images), train_labels)
    val_set = TensorDataset(standardised(val_images), val_labels)
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=64)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.7)
    for epoch in range(3):
        model.train()
        for images, labels in loader:
            optimizer.zero_grad()
            logits = model(images)
            loss = F.cross_entropy(logits, labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        schedule.step()
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {accuracy(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
