import argparse

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from nets import Critic, Generator
from sensors import read_log, station_log


def moment_gap(generator, real):
    """Distance between real and generated rows in their means and covariances."""
    with torch.no_grad():
        fake = generator(torch.randn(1000, generator.noise))
    return ((fake.mean(0) - real.mean(0)).norm() + (fake.T.cov() - real.T.cov()).norm()).item()


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=int, default=4820)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--noise", type=int, default=8)
    parser.add_argument("--lr-g", type=float, default=2e-3)
    parser.add_argument("--lr-d", type=float, default=6e-3)
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(23)
    table = read_log(station_log(args.hours, seed=5))
    order = torch.Generator().manual_seed(10)
    loader = DataLoader(TensorDataset(table), args.batch, shuffle=True, drop_last=True, generator=order)
    generator, critic = Generator(args.noise, table.shape[1]), Critic(table.shape[1])
    opt_g = torch.optim.Adam(generator.parameters(), lr=args.lr_g, betas=(0.0, 0.9))
    opt_d = torch.optim.Adam(critic.parameters(), lr=args.lr_d, betas=(0.0, 0.9))
    for step, (real,) in enumerate(loader):
        z = torch.randn(len(real), args.noise)
        fake = generator(z)

        opt_d.zero_grad()
        loss_d = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
        loss_d.backward()
        opt_d.step()

        opt_g.zero_grad()
        loss_g = F.softplus(-critic(fake)).mean()
        loss_g.backward()
        opt_g.step()

        if step % 8 == 0 or step + 1 == len(loader):
            gap = moment_gap(generator, table[:400])
            print(f"step {step} d {loss_d.item():.3f} g {loss_g.item():.3f} gap {gap:.3f}")


if __name__ == "__main__":
    main()
