"""Sketches of two strokes and captions that describe them."""

import torch

DIRECTIONS, PLACES = 8, 16
VOCABULARY = 2 * (DIRECTIONS + PLACES)
SIZE = 16


def stroke(canvas, place, direction):
    row, column = 2 + 3 * (place // 4), 2 + 3 * (place % 4)
    angle = torch.tensor(direction * torch.pi / DIRECTIONS)
    for reach in torch.linspace(-3, 3, 13):
        y = int((row + reach * angle.sin()).round().clamp(0, SIZE - 1))
        x = int((column + reach * angle.cos()).round().clamp(0, SIZE - 1))
        canvas[y, x] = 1.0


def make_pairs(count, seed):
    rng = torch.Generator().manual_seed(seed)
    places = torch.randint(PLACES, (count, 2), generator=rng)
    directions = torch.randint(DIRECTIONS, (count, 2), generator=rng)
    canvases = torch.zeros(count, SIZE, SIZE)
    for canvas, where, which in zip(canvases, places.tolist(), directions.tolist()):
        for place, direction in zip(where, which):
            stroke(canvas, place, direction)
    canvases = canvases + 0.1 * torch.randn(canvases.shape, generator=rng)
    captions = torch.cat([places, PLACES + directions], dim=1)
    return canvases.unsqueeze(1), captions
