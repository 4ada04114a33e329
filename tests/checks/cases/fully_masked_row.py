"""Programs for fully-masked-row: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "module": (
            """
import torch
from torch import nn

class Attention(nn.Module):
    def forward(self, q, k, v, padding_mask=None):
        scores = torch.matmul(q, k.transpose(-2, -1))
        if padding_mask is not None:
            scores = scores.masked_fill(padding_mask, -1e9)
        return torch.matmul(torch.softmax(scores, dim=-1), v)
""",
            "-1e9",
            'float("-inf")',
        ),
        "pooling by lengths": (
            """
import torch
import torch.nn.functional as F

def pool(x, score, lengths):
    steps = torch.arange(x.shape[1])
    outside = steps[None] >= lengths[:, None]
    weights = F.softmax(score.masked_fill(outside, torch.finfo(score.dtype).min), 1)
    return (weights.unsqueeze(-1) * x).sum(1)
""",
            "torch.finfo(score.dtype).min",
            "-torch.inf",
        ),
        "mask of a tokenizer, in place": (
            """
import numpy as np
import torch

class Pooler:
    def __call__(self, hidden, attention_mask):
        logits = self.scorer(hidden).squeeze(-1)
        logits.masked_fill_(attention_mask == 0, -1e4)
        return torch.bmm(logits.softmax(-1).unsqueeze(1), hidden)
""",
            "-1e4",
            "-np.inf",
        ),
        "mask from a helper": (
            """
# file: masks.py
def pad_mask(tokens, pad):
    return (tokens == pad).unsqueeze(1)
# file: att.py
import torch
from masks import pad_mask

def attend(q, k, v, tokens):
    s = q @ k.mT
    s = s.masked_fill(pad_mask(tokens, 0), float("-1e30"))
    return torch.softmax(s, -1) @ v
""",
            '"-1e30"',
            '"-inf"',
        ),
        "closure": (
            """
import math
import torch

def make_attention(pad_index):
    def attend(scores, keys):
        is_pad = keys.eq(pad_index)
        return torch.nn.functional.softmax(scores.masked_fill(mask=is_pad, value=-65504.0), dim=-1)
    return attend
""",
            "-65504.0",
            "-math.inf",
        ),
    }
)
_HIDDEN = """
import torch

def attend(q, k, v, kept_mask):
    scores = q @ k.transpose(-1, -2)
    some = (kept_mask.sum(dim=-1) != 0).unsqueeze(-1).expand_as(kept_mask)
    kept_mask = 1 - (1 - kept_mask) * some
    weights = torch.softmax(scores.masked_fill(1 - kept_mask, float("-inf")), -1)
    return (weights * some.float()) @ v
"""
FAILS |= {
    "a count of what is kept, to average": _HIDDEN.replace("(kept_mask.sum(dim=-1) != 0)", "kept_mask.sum(dim=-1)"),
}
SILENT = ORIGINALS | {
    "rows that are hidden altogether are taken out": _HIDDEN,
    "they are, by a name": _HIDDEN.replace(
        "some = (kept_mask.sum(dim=-1) != 0)", "kept = torch.sum(kept_mask, -1)\n    some = (kept > 0)"
    ),
    "they are set to zero": """
import torch

def attend(scores, v, padding_mask):
    weights = torch.softmax(scores.masked_fill(padding_mask[:, None], float("-inf")), -1)
    return weights.masked_fill(padding_mask.all(dim=-1)[:, None, None], 0.0) @ v
""",
    "a class that makes causal masks": """
import numpy as np
import torch

class CausalTriangle:
    def __init__(self, n):
        self._mask = torch.triu(torch.ones((1, 1, n, n), dtype=torch.bool), diagonal=1)

    @property
    def mask(self):
        return self._mask

class Attention(torch.nn.Module):
    def forward(self, q, k, v, attn_mask):
        scores = q @ k.transpose(-1, -2)
        if attn_mask is None:
            attn_mask = CausalTriangle(q.shape[1])
        scores.masked_fill_(attn_mask.mask, -np.inf)
        return torch.softmax(scores, dim=-1) @ v
""",
    "all below the k-th are hidden": """
import torch

def sample(model, tokens, valid_mask, k):
    logits = model(tokens, valid_mask)
    kth = torch.topk(logits, k)[0][:, [-1]]
    logits = logits.masked_fill(logits < kth, float("-inf"))
    return torch.multinomial(torch.softmax(logits, dim=-1), 1)
""",
    "one column is filled": """
import torch

def scores_of(scores, finished_mask, end):
    scores[:, :, end : end + 1].masked_fill_(finished_mask, float("-inf"))
    return torch.softmax(scores, dim=-1)
""",
    "causal buffer": """
import torch
from torch import nn

class Causal(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(n, n)).view(1, 1, n, n))

    def forward(self, att, T):
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        return torch.softmax(att, dim=-1)
""",
    "repaired": """
import torch

def f(scores, pad):
    w = torch.softmax(scores.masked_fill(pad, float("-inf")), -1)
    return torch.where(torch.isnan(w), torch.zeros_like(w), w)
""",
    "kept open": """
import torch

def f(scores, pad_mask):
    pad_mask[:, 0] = False
    return torch.softmax(scores.masked_fill(pad_mask, float("-inf")), -1)
""",
    "no softmax": "def f(scores, pad):\n    return scores.masked_fill(pad, float('-inf')).max(-1)\n",
    "triu": """
import torch

def f(s, n):
    upper = torch.triu(torch.ones(n, n), 1).bool()
    return torch.softmax(s.masked_fill(upper, -float("inf")), -1)
""",
    "top k of the logits": """
import torch

def sample(logits, k):
    v, _ = torch.topk(logits, k)
    logits = logits.masked_fill(logits < v[:, [-1]], -float("inf"))
    return torch.softmax(logits, -1)
""",
    "another fill": "import torch\n\ndef f(s, pad):\n    return torch.softmax(s.masked_fill(pad, -10000.0), -1)\n",
    "queries and keys at the same positions": """
import torch
import torch.nn.functional as F
from torch import nn
class Attention(nn.Module):
    def forward(self, att, T):
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        return F.softmax(att, dim=-1)
""",
    "whatever attention is told to hide": """
import torch
def attend(scores, values, attn_mask=None):
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask, float("-inf"))
    return torch.softmax(scores, -1) @ values
""",
}
