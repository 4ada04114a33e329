import torch
from torch.utils.data import IterableDataset, get_worker_info

SIDE = 24


class Scenes(IterableDataset):
    """Pictures (3, SIDE, SIDE) of a bright disc before a shaded background; the mask (1, SIDE, SIDE) is the disc."""

    def __init__(self, seed, limit=None):
        self.seed, self.limit = seed, limit
        self.rows = torch.arange(SIDE).float()

    def draw(self, rng):
        y, x, radius = (6 + 12 * torch.rand(2, generator=rng)).tolist() + [3 + 4 * torch.rand(1, generator=rng).item()]
        distance = (self.rows[:, None] - y) ** 2 + (self.rows[None, :] - x) ** 2
        mask = (distance < radius**2).float()
        shade = torch.rand(3, 1, 1, generator=rng) * self.rows[None, :, None] / SIDE
        picture = shade + mask * (0.4 + 0.4 * torch.rand(3, 1, 1, generator=rng))
        picture = picture + 0.1 * torch.randn(3, SIDE, SIDE, generator=rng)
        return 2 * picture - 1, mask.unsqueeze(0)

    def __iter__(self):
        rng = torch.Generator().manual_seed(self.seed)
        drawn = 0
        while self.limit is None or drawn < self.limit:
            yield self.draw(rng)
            drawn += 1


def reseed(worker):
    """Each worker draws scenes of its own."""
    get_worker_info().dataset.seed += 1000 * (worker + 1)
