"""Programs for mask-left-unread."""

from ._programs import mutant

_CRF = """
import torch
from torch import nn

class CRF(nn.Module):
    def forward(self, features, tags, masks):
        return (self.__partition(features, masks.float()) - self.__gold(features, tags, masks.float())).mean()

    def __gold(self, features, tags, masks):
        return (features.gather(2, tags.unsqueeze(2)).squeeze(2) * masks).sum(1)

    def __partition(self, features, masks):
        '''over all paths

        :param masks: [B, L] masks
        '''
        scores = features[:, 0]
        for t in range(1, features.shape[1]):
            mask_t = masks[:, t].unsqueeze(1)
            scores_t = torch.logsumexp(scores.unsqueeze(1) + features[:, t].unsqueeze(2), 2)
            scores = scores_t * mask_t + scores * (1 - mask_t)
        return torch.logsumexp(scores, 1)
"""
_POOL = """
import torch
from torch import nn

class Reader(nn.Module):
    def forward(self, states, lengths):
        return torch.cat([self.longest(states, lengths), self.average(states, lengths)], 1)

    def longest(self, states, lengths):
        held = torch.arange(states.shape[1])[None] < lengths[:, None]
        return states.masked_fill(~held[..., None], -1e9).max(1).values

    def average(self, states, lengths):
        return states.sum(1) / lengths[:, None]
"""
SILENT = {
    "reads it": _CRF,
    "pools": _POOL,
    "an interface": """
import torch
from torch import nn

class Mean(nn.Module):
    def pool(self, states, mask):
        return (states * mask).sum(1) / mask.sum(1)

    def forward(self, states, mask):
        return self.pool(states, mask)

class First(nn.Module):
    def pool(self, states, mask):
        return states[:, :1].sum(1)

    def score(self, states, mask):
        return (states * mask).sum(1)

    def forward(self, states, mask):
        return self.pool(states, mask) + self.score(states, mask)
""",
    "nothing over places": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def embed(self, words, mask):
        return self.head(words)

    def pool(self, states, mask):
        return (states * mask).sum(1)

    def forward(self, words, mask):
        return self.pool(self.embed(words, mask), mask)
""",
    "nobody gives one": """
from torch import nn

class Net(nn.Module):
    def total(self, states, mask):
        return states.sum(1)

    def pool(self, states, mask):
        return (states * mask).sum(1)

    def forward(self, states, mask):
        return self.pool(states, mask) + self.total(states, None)
""",
    "in a function within": """
from torch import nn

class Net(nn.Module):
    def total(self, states, mask):
        def hidden(at):
            return states[:, at] * mask[:, at]
        return sum(hidden(at) for at in range(states.shape[1]))

    def pool(self, states, mask):
        return (states * mask).sum(1)

    def forward(self, states, mask):
        return self.pool(states, mask) + self.total(states, mask)
""",
}
FAILS = {
    "runs through padding": mutant(
        _CRF,
        ("scores = scores_t * mask_t + scores * (1 - mask_t)", "scores = scores_t"),
        ("            mask_t = masks[:, t].unsqueeze(1)\n", ""),
    ),
    "counts padding": mutant(_CRF, ("squeeze(2) * masks).sum(1)", "squeeze(2)).sum(1)")),
    "maximum of padding": mutant(
        _POOL,
        ("        held = torch.arange(states.shape[1])[None] < lengths[:, None]\n", ""),
        ("masked_fill(~held[..., None], -1e9).", ""),
    ),
}
