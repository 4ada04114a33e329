"""torch.compile as a user writes it, over the model and over the step of the optimizer's caller."""

import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(17, 32)
        self.place = nn.Parameter(0.02 * torch.randn(12, 32))
        self.norm, self.mix, self.head = nn.LayerNorm(32), Attention(32, 4), nn.Linear(32, 17)

    def forward(self, tokens):
        x = self.embed(tokens) + self.place
        return self.head(x + self.mix(self.norm(x)))


model = Model()
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(120):
    start = torch.randint(0, 17, (32, 1))
    stride = torch.randint(1, 3, (32, 1))
    tokens = (start + stride * torch.arange(13)) % 17
    loss = nn.functional.cross_entropy(compiled(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, loss.item())
