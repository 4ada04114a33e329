"""python -m charlm.train [--steps=100 ...]"""

import torch

from . import config as c
from .corpus import get_batch, letters
from .model import CharModel

torch.manual_seed(c.seed)
model = CharModel(len(letters), c.context, c.dim, c.heads, c.layers, c.dropout)
matrices = [p for p in model.parameters() if p.dim() >= 2]
vectors = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": matrices, "weight_decay": c.weight_decay}, {"params": vectors, "weight_decay": 0.0}],
    lr=c.lr,
    betas=(0.9, 0.95),
)


def estimate(split):
    model.eval()
    with torch.no_grad():
        losses = [model(*get_batch(split, c.batch_size, c.context))[1] for _ in range(c.eval_batches)]
    model.train()
    return torch.stack(losses).mean().item()


model.train()
for step in range(c.steps):
    for group in optimizer.param_groups:
        group["lr"] = c.lr * min(1.0, (step + 1) / c.warmup)
    summed = 0.0
    for _ in range(c.accumulate):
        _, loss = model(*get_batch("train", c.batch_size, c.context))
        (loss / c.accumulate).backward()
        summed += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), c.grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step % 10 == 0:
        print(f"step {step} train {summed / c.accumulate:.4f}")
    if (step + 1) % c.eval_every == 0:
        print(f"step {step} valid {estimate('valid'):.4f}")
