import tempfile

import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 3)

    def forward(self, x, labels=None):
        logits = self.lin(x) / x.sum(1, keepdim=True)  # expect: div
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


torch.manual_seed(0)
rows = [{"x": torch.rand(4) + 0.1, "labels": torch.tensor(i % 3)} for i in range(64)]
rows[41]["x"] = torch.zeros(4)
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, gradient_accumulation_steps=2, num_train_epochs=2,
    report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no", seed=3,
)
Trainer(model=Net(), args=arguments, train_dataset=rows).train()
