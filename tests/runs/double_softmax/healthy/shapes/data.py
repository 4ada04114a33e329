import torch
from torch.utils.data import DataLoader, Dataset

SHAPES = ("disc", "square", "ring", "cross", "stripe", "triangle")
SIZE = 24


def draw(kind, centre, radius):
    """One shape as a (SIZE, SIZE) picture with values 0 and 1."""
    ys, xs = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    dy, dx = ys - centre[0], xs - centre[1]
    distance = (dx**2 + dy**2).sqrt()
    box = torch.maximum(dx.abs(), dy.abs())
    if kind == "disc":
        mask = distance <= radius
    elif kind == "square":
        mask = box <= radius * 0.85
    elif kind == "ring":
        mask = (distance <= radius) & (distance >= radius * 0.6)
    elif kind == "cross":
        mask = (box <= radius) & ((dx.abs() <= 1) | (dy.abs() <= 1))
    elif kind == "stripe":
        mask = (box <= radius) & ((dx + dy).abs() <= 2)
    else:
        mask = (dy <= radius * 0.8) & (dx.abs() <= (dy + radius) / 2)
    return mask.float()


class ShapePictures(Dataset):
    """Pictures are drawn on demand; item i is the same in every epoch and every process."""

    def __init__(self, length, noise=0.35, offset=0):
        self.length = length
        self.noise = noise
        self.offset = offset

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        rng = torch.Generator().manual_seed(self.offset + index)
        label = int(torch.randint(len(SHAPES), (), generator=rng))
        centre = torch.randint(9, 15, (2,), generator=rng)
        radius = float(torch.rand((), generator=rng) * 3 + 5)
        picture = draw(SHAPES[label], centre, radius)
        picture = picture + self.noise * torch.randn(SIZE, SIZE, generator=rng)
        return picture.unsqueeze(0), label


def make_loaders(args):
    train = ShapePictures(args.train_size)
    test = ShapePictures(args.test_size, offset=1_000_000)
    return (
        DataLoader(train, batch_size=args.batch_size, shuffle=True, num_workers=args.workers),
        DataLoader(test, batch_size=128, num_workers=args.workers),
    )
