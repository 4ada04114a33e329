"""At a high rate attention logits grow without bound; normalised queries and keys hold them."""

import math

import torch
from torch import nn
from torch.nn import functional as F

CLAIMS = {
    "qk-norm": "2 layers of width 32, Adam at 0.1, 150 steps: greatest attention logit {plain:.0f} without and {normed:.1f} with "
    "normalised queries and keys",
    "instability-reproducible-small": "the same model at 3e-3: greatest logit {calm:.1f}, loss {calm_loss:.2f}; at 0.1 loss "
    "{plain_loss:.2f}, with the normalisation {normed_loss:.2f}, so it cured the logits and not the rate",
}
EXPECT = {
    "without it the logits are more than ten times as large": lambda m: m["plain"] > 10 * m["normed"],
    "normalised logits stay below the square root of the width": lambda m: m["normed"] <= math.sqrt(16) * 1.01,
    "a low rate keeps them small as well": lambda m: m["calm"] < 0.5 * m["plain"],
    "the high rate costs loss": lambda m: m["plain_loss"] > m["calm_loss"],
}
LETTERS, LENGTH, WIDTH = 16, 24, 32


class Block(nn.Module):
    def __init__(self, normed):
        super().__init__()
        self.normed, self.greatest = normed, 0.0
        self.norm, self.mix, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (2, 16)).transpose(1, 2) for part in self.mix(self.norm(x)).chunk(3, -1))
        if self.normed:
            q, k = (F.normalize(part, dim=-1) * 16**0.5 for part in (q, k))
        logits = q @ k.transpose(-1, -2) / 16**0.5
        self.greatest = logits.abs().max().item()
        hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
        mixed = logits.masked_fill(hidden, -math.inf).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.up(x)


def train(seed, normed, rate):
    """Loss and greatest logit at the end, on text in which each letter follows from the two before."""
    torch.manual_seed(seed)
    embed, head = nn.Embedding(LETTERS, WIDTH), nn.Linear(WIDTH, LETTERS)
    place, blocks = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH)), nn.ModuleList(Block(normed) for _ in range(2))
    parameters = [place, *embed.parameters(), *head.parameters(), *blocks.parameters()]
    step, losses, greatest = torch.optim.Adam(parameters, lr=rate), [], 0.0
    for _ in range(150):
        text = torch.randint(LETTERS, (16, LENGTH + 1))
        for at in range(2, LENGTH + 1):
            text[:, at] = (3 * text[:, at - 1] + text[:, at - 2]) % LETTERS
        x = embed(text[:, :-1]) + place
        for block in blocks:
            x = block(x)
        loss = F.cross_entropy(head(x).flatten(0, 1), text[:, 1:].flatten())
        step.zero_grad()
        loss.backward()
        step.step()
        losses.append(loss.item())
        greatest = max(greatest, *(block.greatest for block in blocks))
    return sum(losses[-20:]) / 20, greatest


def measure(seed):
    calm_loss, calm = train(seed, False, 3e-3)
    plain_loss, plain = train(seed, False, 0.1)
    normed_loss, normed = train(seed, True, 0.1)
    return {
        "plain": plain, "normed": normed, "calm": calm,
        "plain_loss": plain_loss, "normed_loss": normed_loss, "calm_loss": calm_loss,
    }  # fmt: skip
