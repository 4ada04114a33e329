from pathlib import Path

import torch


class Letters:
    """A text as letter numbers, its last tenth held out."""

    def __init__(self, path, context):
        text = Path(path).read_text(encoding="utf-8")
        self.alphabet = sorted(set(text))
        self.number = {letter: i for i, letter in enumerate(self.alphabet)}
        numbers = self.encode(text)
        cut = len(numbers) * 9 // 10
        self.parts = {"train": numbers[:cut], "held out": numbers[cut:]}
        self.context = context

    def encode(self, text):
        return torch.tensor([self.number[letter] for letter in text])

    def decode(self, numbers):
        return "".join(self.alphabet[i] for i in numbers.tolist())

    def batch(self, part, size):
        """Random stretches (size, context) and the same stretches one letter later."""
        numbers = self.parts[part]
        starts = torch.randint(len(numbers) - self.context - 1, (size,))
        stretches = torch.stack([numbers[s : s + self.context + 1] for s in starts])
        return stretches[:, :-1], stretches[:, 1:]
