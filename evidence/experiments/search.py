"""Sixteen trials: random search finds the one parameter that matters, a grid wastes them on the other."""

import torch

CLAIMS = {
    "random-over-grid": "16 trials over two parameters of which one matters: distance to its best value {grid:.3f} with a 4 x 4 grid, "
    "{random:.3f} at random",
    "quasi-random": "32 trials over two parameters: the largest empty circle has a radius of {sobol:.2f} with a Sobol sequence and "
    "{uniform:.2f} at random",
}
SEEDS = 5
EXPECT = {
    "random comes closer than the grid": lambda m: m["random"] < m["grid"],
    "Sobol leaves smaller holes": lambda m: m["sobol"] < m["uniform"],
}


def nearest(values, target):
    return (values - target).abs().min().item()


def largest_hole(points):
    grid = torch.cartesian_prod(torch.linspace(0, 1, 50), torch.linspace(0, 1, 50))
    return torch.cdist(grid, points).min(1).values.max().item()


def measure(seed):
    draw = torch.Generator().manual_seed(seed)
    targets = torch.rand(400, generator=draw)
    grid = torch.linspace(0.125, 0.875, 4)
    return {
        "grid": sum(nearest(grid, one) for one in targets) / 400,
        "random": sum(nearest(torch.rand(16, generator=draw), one) for one in targets) / 400,
        "sobol": sum(
            largest_hole(torch.quasirandom.SobolEngine(2, scramble=True, seed=100 * seed + k).draw(32)) for k in range(20)
        ) / 20,
        "uniform": sum(largest_hole(torch.rand(32, 2, generator=draw)) for _ in range(20)) / 20,
    }  # fmt: skip
