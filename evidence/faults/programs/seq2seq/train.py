"""Encoder and decoder with padding and masks: writes a string of digits in reverse."""

import torch
from reversing import BEGIN, PAD, Strings, pad
from torch import nn
from torch.utils.data import DataLoader
from transformer import Translator

WARMUP = 20


def evaluate(model, loader):
    """Share of target tokens that are predicted right, given those before."""
    model.eval()
    right, count = 0, 0
    with torch.no_grad():
        for source, target in loader:
            said = model(source, target[:, :-1]).argmax(-1)
            wanted = target[:, 1:]
            kept = wanted != PAD
            right += (said[kept] == wanted[kept]).sum().item()
            count += kept.sum().item()
    return right / count


def main():
    torch.manual_seed(0)
    train = DataLoader(Strings(1280, seed=0), batch_size=32, shuffle=True, collate_fn=pad)
    valid = DataLoader(Strings(192, seed=1), batch_size=96, collate_fn=pad)
    model = Translator(tokens=BEGIN + 2)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.05)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / WARMUP, 1.0))
    for epoch in range(6):
        model.train()
        for source, target in train:
            logits = model(source, target[:, :-1])
            loss = criterion(logits.flatten(0, 1), target[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch} loss {loss.item():.4f} right {evaluate(model, valid):.3f}", flush=True)


if __name__ == "__main__":
    main()
