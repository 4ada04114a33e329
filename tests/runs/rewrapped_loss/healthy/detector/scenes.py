import torch
from torch.utils.data import Dataset

NUM_KINDS = 3


class OneObject(Dataset):
    """A 20 x 20 picture with one object; the target is its box (cx, cy, w, h in 0..1) and its kind."""

    size = 20

    def __init__(self, count, seed):
        rng = torch.Generator().manual_seed(seed)
        self.kinds = torch.randint(NUM_KINDS, (count,), generator=rng)
        half = torch.rand(count, 2, generator=rng) * 3 + 2
        centre = half + torch.rand(count, 2, generator=rng) * (self.size - 2 * half)
        self.boxes = torch.cat([centre, 2 * half], dim=1) / self.size
        self.pictures = 0.2 * torch.randn(count, 1, self.size, self.size, generator=rng)
        grid = torch.arange(self.size) + 0.5
        for i, kind in enumerate(self.kinds.tolist()):
            inside_x = ((grid - centre[i, 0]).abs() <= half[i, 0]).float()
            inside_y = ((grid - centre[i, 1]).abs() <= half[i, 1]).float()
            texture = torch.ones(self.size, self.size)
            if kind == 1:
                texture[::2] = 0.2
            elif kind == 2:
                texture[:, ::2] = 0.2
            self.pictures[i, 0] += inside_y[:, None] * inside_x[None, :] * texture

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, index):
        return self.pictures[index], {"box": self.boxes[index], "kind": self.kinds[index]}
