"""Binary glyphs: two bars of a seven-segment-like frame plus a dot, on 12 x 12 pixels."""

import torch

SIZE = 12
BARS = ((1, 2, 9), (5, 2, 9), (10, 2, 9))  # row, from column, to column
POSTS = ((2, 1, 10), (9, 1, 10))  # column, from row, to row


def glyphs(count, seed):
    rng = torch.Generator().manual_seed(seed)
    canvas = torch.zeros(count, SIZE, SIZE)
    bars = torch.rand(count, len(BARS), generator=rng) < 0.5
    posts = torch.rand(count, len(POSTS), generator=rng) < 0.6
    for i, (row, start, end) in enumerate(BARS):
        canvas[bars[:, i], row, start:end] = 1
    for i, (column, start, end) in enumerate(POSTS):
        canvas[posts[:, i], start:end, column] = 1
    flips = torch.rand(canvas.shape, generator=rng) < 0.01
    return (canvas - flips.float()).abs().flatten(1)
