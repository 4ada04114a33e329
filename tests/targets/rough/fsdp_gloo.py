"""torchrun --nproc-per-node 2 fsdp_gloo.py: each layer's parameters are spread over the ranks."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def rings(count):
    rng = torch.Generator().manual_seed(3)
    label = torch.arange(count) % 2
    angle = 2 * torch.pi * torch.rand(count, generator=rng)
    radius = 1.0 + label + 0.2 * torch.randn(count, generator=rng)
    return TensorDataset(torch.stack([radius * angle.cos(), radius * angle.sin()], 1), label)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = rings(640)
    sampler = DistributedSampler(dataset, shuffle=True, seed=1)
    loader = DataLoader(dataset, batch_size=16, sampler=sampler)
    model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    mesh = dist.device_mesh.init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for points, label in loader:
            loss = nn.functional.cross_entropy(model(points), label)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    print(f"rank {dist.get_rank()} loss {losses[0]:.4f} -> {losses[-1]:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
