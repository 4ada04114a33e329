"""torchrun --nproc-per-node 2 ddp_gloo.py"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def moons(count):
    rng = torch.Generator().manual_seed(2)
    label = torch.arange(count) % 2
    angle = torch.rand(count, generator=rng) * torch.pi
    x = torch.where(label == 0, angle.cos(), 1 - angle.cos())
    y = torch.where(label == 0, angle.sin(), 0.5 - angle.sin())
    points = torch.stack([x, y], dim=1) + 0.1 * torch.randn(count, 2, generator=rng)
    return TensorDataset(points, label)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    dataset = moons(800)
    sampler = DistributedSampler(dataset, shuffle=True, seed=5)
    loader = DataLoader(dataset, batch_size=20, sampler=sampler, num_workers=1)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    losses = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for points, label in loader:
            loss = nn.functional.cross_entropy(model(points), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        mean = torch.tensor(losses[-len(loader) :]).mean()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"epoch {epoch} mean loss {mean.item() / dist.get_world_size():.4f}", flush=True)
    print(f"rank {rank} loss {losses[0]:.4f} -> {losses[-1]:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
