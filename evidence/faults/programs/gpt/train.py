"""Trains a small GPT on sums written as text, in the manner of nanoGPT."""

import math

import torch
from data import ALPHABET, Text, sums
from model import GPT

BLOCK, BATCH, STEPS, WARMUP = 24, 16, 220, 5
PEAK = 4e-3

torch.manual_seed(1337)
train_text, val_text = Text(sums(2000, seed=1), BLOCK), Text(sums(400, seed=2), BLOCK)
model = GPT(len(ALPHABET), BLOCK)
decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=PEAK, betas=(0.9, 0.98))


def rate(step):
    if step < WARMUP:
        return PEAK * (step + 1) / WARMUP
    return PEAK * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))))


@torch.no_grad()
def estimate(text):
    model.eval()
    losses = [model(*text.batch(BATCH))[1].item() for _ in range(4)]
    model.train()
    return sum(losses) / len(losses)


x, y = train_text.batch(BATCH)
for step in range(STEPS):
    for group in optimizer.param_groups:
        group["lr"] = rate(step)
    if step % 40 == 0:
        print(f"step {step} validation {estimate(val_text):.4f}")
    logits, loss = model(x, y)
    x, y = train_text.batch(BATCH)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
