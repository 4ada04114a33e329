import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

LENGTH = 24


def draw(count, seed):
    """Windows of a sine of random frequency and phase under noise, (count, LENGTH, 1), and what comes next."""
    rng = torch.Generator().manual_seed(seed)
    frequency = 0.2 + 0.6 * torch.rand(count, 1, generator=rng)
    phase = 6.28 * torch.rand(count, 1, generator=rng)
    series = torch.sin(frequency * torch.arange(LENGTH + 1) + phase)
    series = series + 0.05 * torch.randn(count, LENGTH + 1, generator=rng)
    return series[:, :-1].unsqueeze(-1), series[:, -1:]


class Oscillations(lightning.LightningDataModule):
    def setup(self, stage):
        self.train = TensorDataset(*draw(1280, seed=0))
        self.valid = TensorDataset(*draw(256, seed=1))

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=32, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.valid, batch_size=128)
