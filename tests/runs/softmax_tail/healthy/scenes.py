"""Coloured blocks and discs on a background; the mask says which is where."""

import torch

COLOURS = torch.tensor([[0.1, 0.1, 0.2], [0.8, 0.3, 0.2], [0.3, 0.7, 0.3], [0.4, 0.4, 0.9]])


def make_scene(size, rng):
    ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    mask = torch.zeros(size, size, dtype=torch.long)
    for kind in torch.randperm(3, generator=rng) + 1:
        cy, cx = torch.randint(4, size - 4, (2,), generator=rng)
        reach = int(torch.randint(3, 7, (), generator=rng))
        if kind == 1:
            inside = ((ys - cy).abs() <= reach) & ((xs - cx).abs() <= reach)
        elif kind == 2:
            inside = (ys - cy) ** 2 + (xs - cx) ** 2 <= reach**2
        else:
            inside = ((ys - cy).abs() <= 2) & ((xs - cx).abs() <= reach + 2)
        mask[inside] = kind
    tint = 0.15 * torch.randn(4, 3, generator=rng)
    image = (COLOURS + tint)[mask].permute(2, 0, 1)
    image = image + 0.15 * torch.randn(image.shape, generator=rng)
    return image, mask


def make_split(count, size, seed):
    rng = torch.Generator().manual_seed(seed)
    images, masks = zip(*(make_scene(size, rng) for _ in range(count)))
    return torch.stack(images), torch.stack(masks)
