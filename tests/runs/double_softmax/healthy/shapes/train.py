"""python -m shapes.train [--epochs N]"""

import argparse

import torch

from .data import SHAPES, make_loaders
from .engine import evaluate, train_one_epoch
from .losses import SmoothedCrossEntropy
from .model import ShapeNet


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--smoothing", type=float, default=0.02)
    parser.add_argument("--train-size", type=int, default=768)
    parser.add_argument("--test-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    train_loader, test_loader = make_loaders(args)
    model = ShapeNet(len(SHAPES))
    criterion = SmoothedCrossEntropy(args.smoothing)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=args.lr, momentum=0.9, nesterov=True, weight_decay=1e-4
    )
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=args.lr, total_steps=args.epochs * len(train_loader)
    )
    for epoch in range(args.epochs):
        train_one_epoch(model, criterion, train_loader, optimizer, scheduler)
        print(f"epoch {epoch}: test accuracy {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
