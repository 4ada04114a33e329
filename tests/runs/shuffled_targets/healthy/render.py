import numpy as np


def hand(angle, size, rng):
    """A clock hand at `angle` (radians) from the middle of a (size, size) picture."""
    picture = rng.normal(0.0, 0.15, (size, size)).astype(np.float32)
    middle = (size - 1) / 2
    for reach in np.linspace(0, middle, 3 * size):
        row = int(round(middle - reach * np.sin(angle)))
        column = int(round(middle + reach * np.cos(angle)))
        picture[row, column] = 1.0
    return picture


def make_set(count, size, seed):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, count)
    pictures = np.stack([hand(angle, size, rng) for angle in angles])
    targets = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    return pictures, targets
