import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, keep):
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        scores = scores.masked_fill(~keep[:, None, :], float("-inf"))  # expect: masked_fill
        return scores.softmax(-1) @ self.v(x)  # then: _softmax


torch.manual_seed(0)
blocks = nn.ModuleDict({"attention": Attention(), "head": nn.Linear(8, 2)})
optimizer = torch.optim.AdamW(blocks.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(4, 6, 8)
    keep = torch.ones(4, 6, dtype=torch.bool)
    keep[:, 4:] = False
    if step == 11:
        keep[2] = False
    y = blocks["head"](blocks["attention"](x, keep).mean(1))
    loss = nn.functional.cross_entropy(y, torch.randint(2, (4,)))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
