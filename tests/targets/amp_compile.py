"""torch.compile, bfloat16 autocast, a CPU GradScaler, clipping after unscale_ and foreach AdamW."""

import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


model = nn.Sequential(nn.Linear(16, 32), Block(32), Block(32), nn.Linear(32, 4))
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, foreach=True)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=50)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
teacher = torch.randn(16, 4)

losses = []
for step in range(50):
    x = torch.randn(64, 16)
    y = (x @ teacher).argmax(1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(compiled(x), y)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
    losses.append(loss.item())
    if step % 10 == 0:
        print(f"step {step} loss {losses[-1]:.4f} scale {scaler.get_scale():.0f}")
print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")
