"""Lightning: forecasts the next value of noisy oscillations with a GRU."""

import lightning
import torch
from data import Oscillations
from torch import nn


class Forecaster(lightning.LightningModule):
    def __init__(self, width=32, lr=1e-2, steps=240):
        super().__init__()
        self.lr, self.steps = lr, steps
        self.encoder = nn.GRU(1, width, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, series):
        states, _ = self.encoder(series)
        return self.head(self.norm(states[:, -1]))

    def training_step(self, batch, index):
        series, following = batch
        forecast = self(series)
        loss = nn.functional.mse_loss(forecast, following)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        series, following = batch
        self.log("val_error", (self(series) - following).abs().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.lr)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def main():
    lightning.seed_everything(3)
    trainer = lightning.Trainer(
        max_epochs=6,
        accelerator="cpu",
        gradient_clip_val=1.0,
        num_sanity_val_steps=0,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        logger=False,
    )
    model = Forecaster()
    trainer.fit(model, datamodule=Oscillations())
    print(trainer.callback_metrics)


if __name__ == "__main__":
    main()
