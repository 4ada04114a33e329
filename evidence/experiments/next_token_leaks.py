"""Two ways to see the answer: targets that are not shifted, and attention without its mask."""

import math

import torch
from torch import nn
from torch.nn import functional as F

CLAIMS = {
    "off-by-one-target": "loss of a small character model on random text after 200 steps: {unshifted:.3f} with targets that are the "
    "inputs, {shifted:.2f} with shifted ones (ln 20 is {chance:.2f})",
    "backprop-dependency-check": "largest gradient of an output to a later input: {masked:.0e} with the causal mask, {open:.0e} without",
}
EXPECT = {
    "unshifted targets fall to a tenth of chance": lambda m: m["unshifted"] < 0.1 * m["chance"],
    "shifted targets on random text stay at chance": lambda m: abs(m["shifted"] / m["chance"] - 1) < 0.1,
    "the mask leaves exactly no gradient": lambda m: m["masked"] == 0,
    "without it there is one": lambda m: m["open"] > 1e-6,
}
LETTERS, LENGTH = 20, 16


class Small(nn.Module):
    def __init__(self, causal=True):
        super().__init__()
        self.causal = causal
        self.embed, self.place = nn.Embedding(LETTERS, 32), nn.Parameter(0.02 * torch.randn(LENGTH, 32))
        self.mix, self.head = nn.Linear(32, 96), nn.Linear(32, LETTERS)

    def forward(self, tokens):
        return self.from_vectors(self.embed(tokens))

    def from_vectors(self, x):
        x = x + self.place
        q, k, v = self.mix(x).chunk(3, -1)
        return self.head(x + F.scaled_dot_product_attention(q, k, v, is_causal=self.causal))


def train(seed, shift):
    torch.manual_seed(seed)
    net = Small()
    step = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(200):
        text = torch.randint(LETTERS, (32, LENGTH + 1))
        inputs, targets = text[:, :-1], text[:, 1:] if shift else text[:, :-1]
        step.zero_grad()
        loss = F.cross_entropy(net(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        step.step()
    return loss.item()


def later_gradient(seed, causal):
    torch.manual_seed(seed)
    net, x = Small(causal), torch.randn(2, LENGTH, 32, requires_grad=True)
    net.from_vectors(x)[:, 5].sum().backward()
    return x.grad[:, 6:].abs().max().item()


def measure(seed):
    return {
        "unshifted": train(seed, shift=False),
        "shifted": train(seed, shift=True),
        "chance": math.log(LETTERS),
        "masked": later_gradient(seed, causal=True),
        "open": later_gradient(seed, causal=False),
    }
