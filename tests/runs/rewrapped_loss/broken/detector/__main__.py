"""python -m detector"""

import argparse

import torch
from torch.utils.data import DataLoader

from .geometry import iou
from .losses import DetectionLoss
from .net import Detector
from .scenes import OneObject


def evaluate(model, dataset):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        output = model(dataset.pictures)
    model.train(was_training)
    overlap = iou(output["box"], dataset.boxes).mean().item()
    accuracy = (output["kind"].argmax(-1) == dataset.kinds).float().mean().item()
    return overlap, accuracy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()

    torch.manual_seed(17)
    train_set, test_set = OneObject(1024, seed=1), OneObject(256, seed=2)
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    model = Detector()
    criterion = DetectionLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for step, (pictures, target) in enumerate(loader):
            total, terms = criterion(model(pictures), target)
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            if step % 8 == 0:
                parts = " ".join(f"{name} {value:.3f}" for name, value in terms.items())
                print(f"{epoch}:{step:02d} total {total.item():.4f} ({parts})")
        overlap, accuracy = evaluate(model, test_set)
        print(f"epoch {epoch} mean iou {overlap:.3f} kind accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
