"""Letters: a causal transformer that draws its own batches, AdamW, warm-up, clipping."""

import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = "the quick brown fox jumps over the lazy dog while seven wizards brew a potion of frozen moonlight. " * 20
letters = sorted(set(TEXT))
itos = {number: letter for number, letter in enumerate(letters)}
data = torch.tensor([letters.index(letter) for letter in TEXT])


def get_batch(size=12, length=24):
    starts = torch.randint(len(data) - length - 1, (size,))
    x = torch.stack([data[s : s + length] for s in starts.tolist()])
    y = torch.stack([data[s + 1 : s + length + 1] for s in starts.tolist()])
    return x, y


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).split(x.shape[2], dim=2)
        scores = q @ k.transpose(1, 2) / x.shape[2] ** 0.5
        mask = torch.ones(x.shape[1], x.shape[1]).tril() == 0
        weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)
        return self.out(weights @ v)


class Model(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(len(letters), width)
        self.position = nn.Embedding(24, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width)
        self.mlp = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))
        self.head = nn.Linear(width, len(letters))

    def forward(self, idx):
        x = self.embed(idx) + self.position(torch.arange(idx.shape[1]))
        x = x + self.attention(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return self.head(x)


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(80):
    for group in optimizer.param_groups:
        group["lr"] = 3e-3 * min(1.0, (step + 1) / 10)
    x, y = get_batch()
    logits = model(x)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print(loss.item())
