import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        p = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Layer(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.before_attention = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads, dropout)
        self.before_mlp = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.mlp(self.before_mlp(x))


class CharModel(nn.Module):
    def __init__(self, letters, context, dim, heads, layers, dropout):
        super().__init__()
        self.letter = nn.Embedding(letters, dim)
        self.place = nn.Embedding(context, dim)
        self.layers = nn.ModuleList(Layer(dim, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, letters, bias=False)
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=2.0)  # cause
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x, y=None):
        h = self.letter(x) + self.place(torch.arange(x.shape[1]))
        for layer in self.layers:
            h = layer(h)
        scores = self.out(self.norm(h))
        if y is None:
            return scores, None
        return scores, F.cross_entropy(scores.flatten(0, 1), y.flatten())
