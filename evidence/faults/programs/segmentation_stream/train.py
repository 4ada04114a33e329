"""A small U-Net on an endless stream of pictures from two loader workers; loss is cross-entropy plus Dice."""

import torch
from losses import segmentation_loss
from scenes import Scenes, reseed
from torch.utils.data import DataLoader
from unet import UNet

STEPS, EVERY = 240, 20


@torch.no_grad()
def evaluate(model, loader):
    """Intersection over union on scenes that were never trained on."""
    model.eval()
    both, either = 0.0, 0.0
    for picture, mask in loader:
        said = model(picture) > 0
        both += (said & (mask > 0.5)).sum().item()
        either += (said | (mask > 0.5)).sum().item()
    model.train()
    return both / max(1.0, either)


def main():
    torch.manual_seed(0)
    stream = DataLoader(Scenes(seed=0), batch_size=16, num_workers=2, worker_init_fn=reseed)
    held_out = DataLoader(Scenes(seed=10_000, limit=64), batch_size=32)
    model = UNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
    batches = iter(stream)
    for step in range(1, STEPS + 1):
        picture, mask = next(batches)
        logits = model(picture)
        loss = segmentation_loss(logits, mask)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        if step % EVERY == 0:
            print(f"step {step} loss {loss.item():.4f} overlap {evaluate(model, held_out):.3f}", flush=True)


if __name__ == "__main__":
    main()
