"""Star ratings for made-up reviews. Readers may leave stars and write nothing."""

import torch
from torch.utils.data import Dataset

WORDS, STARS, PAD = 200, 5, 0


class Reviews(Dataset):
    def __init__(self, count, seed, silent_share=0.0):
        rng = torch.Generator().manual_seed(seed)
        self.stars = torch.randint(STARS, (count,), generator=rng)
        self.texts = []
        for star in self.stars.tolist():
            if float(torch.rand((), generator=rng)) < silent_share:
                self.texts.append(torch.zeros(0, dtype=torch.long))
                continue
            length = int(torch.randint(4, 20, (), generator=rng))
            filler = torch.randint(1, WORDS - 60, (length,), generator=rng)
            telling = WORDS - 60 + 12 * star + torch.randint(12, (length,), generator=rng)
            use = torch.rand(length, generator=rng) < 0.3
            self.texts.append(torch.where(use, telling, filler))

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return self.texts[index], self.stars[index]


def pad_batch(items):
    """Word ids (B, longest) filled with PAD, and stars (B,)."""
    texts, stars = zip(*items)
    longest = max(len(text) for text in texts)
    words = torch.full((len(texts), longest), PAD)
    for row, text in zip(words, texts):
        row[: len(text)] = text
    return words, torch.stack(stars)
