"""accelerate launch --cpu accelerate_train.py"""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def modular_sums(count, base=11):
    rng = torch.Generator().manual_seed(3)
    pairs = torch.randint(base, (count, 2), generator=rng)
    return TensorDataset(pairs, pairs.sum(1) % base)


class Adder(nn.Module):
    def __init__(self, base=11, dim=32):
        super().__init__()
        self.numbers = nn.Embedding(base, dim)
        self.net = nn.Sequential(nn.Linear(2 * dim, 128), nn.ReLU(), nn.Linear(128, base))

    def forward(self, pairs):
        return self.net(self.numbers(pairs).flatten(1))


def main():
    torch.manual_seed(0)
    accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
    model = Adder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=100)
    loader = DataLoader(modular_sums(1024), batch_size=32, shuffle=True)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    first = last = None
    for epoch in range(5):
        for pairs, total in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(pairs), total)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            last = loss.item()
            first = last if first is None else first
        accelerator.print(f"epoch {epoch} loss {last:.4f}")
    accelerator.print(f"loss {first:.4f} -> {last:.4f}")


if __name__ == "__main__":
    main()
