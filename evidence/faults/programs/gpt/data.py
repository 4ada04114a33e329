"""Sums, written out as text: 12+7=19."""

import random

import torch

ALPHABET = "\n0123456789+="
INDEX = {letter: i for i, letter in enumerate(ALPHABET)}


def encode(text):
    return torch.tensor([INDEX[letter] for letter in text])


def sums(count, seed):
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        a, b = draw.randrange(100), draw.randrange(100)
        lines.append(f"{a}+{b}={a + b}\n")
    return encode("".join(lines))


class Text:
    """Random windows of a text and the same windows one letter later."""

    def __init__(self, tokens, block):
        self.tokens, self.block = tokens, block

    def batch(self, size):
        starts = torch.randint(len(self.tokens) - self.block - 1, (size,))
        x = torch.stack([self.tokens[s : s + self.block] for s in starts])
        y = torch.stack([self.tokens[s + 1 : s + 1 + self.block] for s in starts])
        return x, y
