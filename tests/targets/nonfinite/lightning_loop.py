import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 3, bias=False)

    def training_step(self, batch, index):
        x, y = batch
        distance = (self.lin(x) - y).square().sum(1).sqrt()  # expect: div
        return distance.mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 3)
x[37], y[37] = 0.0, 0.0
loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)
trainer = lightning.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, gradient_clip_val=1.0, accumulate_grad_batches=2,
)
trainer.fit(Net(), loader)
