from dataclasses import dataclass

import torch

from equation import equation_residual, exact, start_residual
from network import Wave


@dataclass
class Options:
    steps: int = 100
    points: int = 64
    lr: float = 5e-3
    start_weight: float = 5.0
    seed: int = 0


class Solver:
    def __init__(self, options):
        torch.manual_seed(options.seed)
        self.options = options
        self.net = Wave()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=options.lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.99)

    def losses(self):
        t = torch.rand(self.options.points, 1)
        inside = equation_residual(self.net, t).pow(2).mean()
        start = start_residual(self.net).pow(2).sum()
        return inside, start

    def step(self):
        inside, start = self.losses()
        total = inside + self.options.start_weight * start
        total.backward()
        self.optimizer.zero_grad()  # cause
        self.optimizer.step()
        self.scheduler.step()
        return total.item(), inside.item(), start.item()

    @torch.no_grad()
    def error(self):
        t = torch.linspace(0, 1, 200).unsqueeze(1)
        return ((self.net(t) - exact(t)).norm() / exact(t).norm()).item()


def main():
    options = Options()
    solver = Solver(options)
    for step in range(options.steps):
        total, inside, start = solver.step()
        if step % 10 == 0 or step + 1 == options.steps:
            print(f"{step:3d} total {total:.5f} inside {inside:.5f} start {start:.5f} rel_error {solver.error():.4f}")


if __name__ == "__main__":
    main()
