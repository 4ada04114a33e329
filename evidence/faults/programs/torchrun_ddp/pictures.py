import torch
from torch.utils.data import Dataset

SHAPES, SIDE = 4, 12


class Pictures(Dataset):
    """12 x 12 pictures with noise: a horizontal bar, a vertical bar, a cross or a square, somewhere."""

    def __init__(self, count, seed):
        rng = torch.Generator().manual_seed(seed)
        self.shape = torch.randint(SHAPES, (count,), generator=rng)
        self.corner = torch.randint(0, SIDE - 5, (count, 2), generator=rng)
        self.noise = 0.3 * torch.randn(count, SIDE, SIDE, generator=rng)

    def __len__(self):
        return len(self.shape)

    def __getitem__(self, index):
        picture = torch.zeros(SIDE, SIDE)
        shape = int(self.shape[index])
        y, x = self.corner[index].tolist()
        if shape in (0, 2):
            picture[y + 2, x : x + 5] = 1
        if shape in (1, 2):
            picture[y : y + 5, x + 2] = 1
        if shape == 3:
            picture[y : y + 5, x : x + 5] = 1
            picture[y + 1 : y + 4, x + 1 : x + 4] = 0
        return (picture + self.noise[index]).unsqueeze(0), shape
