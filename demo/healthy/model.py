import math

import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.dropout = config.dropout
        self.inward = nn.Linear(config.width, 3 * config.width)
        self.outward = nn.Linear(config.width, config.width)

    def forward(self, x):
        batch, time, width = x.shape
        split = self.inward(x).view(batch, time, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(
            query, key, value, is_causal=True, dropout_p=self.dropout if self.training else 0.0
        )
        return self.outward(mixed.transpose(1, 2).reshape(batch, time, width))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.width)
        self.attention = SelfAttention(config)
        self.norm2 = nn.LayerNorm(config.width)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, 4 * config.width),
            nn.GELU(),
            nn.Linear(4 * config.width, config.width),
            nn.Dropout(config.dropout),
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class CharGPT(nn.Module):
    """Letters so far (B, T) to what may come next (B, T, alphabet)."""

    def __init__(self, config, alphabet):
        super().__init__()
        self.context = config.context
        self.letters = nn.Embedding(alphabet, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, alphabet, bias=False)
        self.apply(self._start)
        for name, parameter in self.named_parameters():
            if name.endswith("outward.weight"):
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * config.layers))

    @staticmethod
    def _start(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, letters):
        x = self.letters(letters) + self.positions(torch.arange(letters.shape[1]))
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        scores = self.head(self.norm(x))
        return scores

    @torch.no_grad()
    def continue_text(self, letters, count):
        """`letters` (1, T) and `count` sampled ones after them."""
        for _ in range(count):
            following = self(letters[:, -self.context :])[:, -1].softmax(dim=-1)
            letters = torch.cat([letters, torch.multinomial(following, 1)], dim=1)
        return letters
