"""python -m tagger.train"""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader

from . import Tagger
from .treebank import IGNORE, TAGS, WORDS, Treebank, collate
from .vectors import pretrained_vectors, use_fixed_vectors


def token_accuracy(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for words, tags in loader:
            real = tags != IGNORE
            right += (model(words).argmax(-1)[real] == tags[real]).sum().item()
            total += real.sum().item()
    model.train()
    return right / total


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--dim", type=int, default=24)
    args = parser.parse_args(argv)

    torch.manual_seed(12)
    train_loader = DataLoader(Treebank(640, seed=1), args.batch, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(Treebank(200, seed=2), 100, collate_fn=collate)
    model = Tagger(WORDS, TAGS, args.dim)
    use_fixed_vectors(model.encoder, pretrained_vectors(WORDS, args.dim))
    criterion = nn.CrossEntropyLoss(ignore_index=IGNORE)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 8))

    for epoch in range(args.epochs):
        for step, (words, tags) in enumerate(train_loader):
            scores = model(words)
            loss = criterion(scores.flatten(0, 1), tags.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([p for p in model.parameters() if p.grad is not None], 2.0)
            optimizer.step()
            schedule.step()
            if step % 10 == 0:
                print(f"{epoch}.{step:02d} loss {loss.item():.3f}")
        print(f"{epoch} dev accuracy {token_accuracy(model, dev_loader):.3f} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
