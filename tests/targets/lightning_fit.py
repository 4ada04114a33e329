"""LightningModule with two loader workers, clipping, accumulation and the default checkpoint callback."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def spirals(count, seed):
    rng = torch.Generator().manual_seed(seed)
    label = torch.arange(count) % 2
    turn = torch.rand(count, generator=rng) * 4 + 0.5
    angle = turn + torch.pi * label
    points = torch.stack([turn * angle.cos(), turn * angle.sin()], dim=1) / 4
    return TensorDataset(points + 0.02 * torch.randn(count, 2, generator=rng), label)


class Spiral(L.LightningModule):
    def __init__(self, lr=0.02):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
        self.criterion = nn.CrossEntropyLoss()
        self.seen = []

    def training_step(self, batch, index):
        points, label = batch
        loss = self.criterion(self.net(points), label)
        self.seen.append(loss.item())
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        points, label = batch
        self.log("val_accuracy", (self.net(points).argmax(1) == label).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.lr)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.7)
        return {"optimizer": optimizer, "lr_scheduler": schedule}


def main():
    L.seed_everything(7)
    train = DataLoader(spirals(640, seed=0), batch_size=32, shuffle=True, num_workers=2)
    valid = DataLoader(spirals(160, seed=1), batch_size=80, num_workers=2)
    model = Spiral()
    trainer = L.Trainer(
        max_epochs=4,
        accelerator="cpu",
        gradient_clip_val=1.0,
        accumulate_grad_batches=2,
        enable_progress_bar=False,
        log_every_n_steps=5,
    )
    trainer.fit(model, train, valid)
    print(f"loss {model.seen[0]:.4f} -> {model.seen[-1]:.4f}")


if __name__ == "__main__":
    main()
