"""accelerate: several tags per document, accumulation over two batches, clipping and a warm-up."""

import torch
from accelerate import Accelerator
from documents import TAGS, documents
from torch import nn
from torch.utils.data import DataLoader


class Tagger(nn.Module):
    def __init__(self, words=200, width=48):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.norm = nn.LayerNorm(width)
        self.hidden = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, TAGS)

    def forward(self, document):
        mean = self.norm(self.words(document).mean(1))
        return self.head(self.dropout(torch.relu(self.hidden(mean))))


def evaluate(accelerator, model, loader):
    model.eval()
    right, count = 0.0, 0
    with torch.no_grad():
        for document, tags in loader:
            said = (model(document) > 0).float()
            said, tags = accelerator.gather_for_metrics((said, tags))
            right += (said == tags).float().sum().item()
            count += tags.numel()
    model.train()
    return right / count


def main():
    torch.manual_seed(0)
    accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
    train = DataLoader(documents(2560, seed=0), batch_size=32, shuffle=True)
    valid = DataLoader(documents(256, seed=1), batch_size=128)
    model, optimizer, train, valid, scheduler = accelerator.prepare(model, optimizer, train, valid, scheduler)
    for epoch in range(6):
        model.train()
        for document, tags in train:
            with accelerator.accumulate(model):
                logits = model(document)
                loss = nn.functional.binary_cross_entropy_with_logits(logits, tags)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        accelerator.print(f"epoch {epoch} loss {loss.item():.4f} right {evaluate(accelerator, model, valid):.3f}")


if __name__ == "__main__":
    main()
