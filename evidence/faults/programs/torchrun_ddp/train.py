"""torchrun --nproc-per-node 2 train.py: pictures of four shapes, DistributedDataParallel on gloo."""

import torch
import torch.distributed as dist
from pictures import SHAPES, Pictures
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class ConvNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(8 * width, SHAPES)

    def forward(self, picture):
        return self.head(self.dropout(self.features(picture).flatten(1)))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    counted = torch.zeros(2)
    for picture, shape in loader:
        counted += torch.tensor([(model(picture).argmax(1) == shape).sum(), len(shape)])
    dist.all_reduce(counted)
    return (counted[0] / counted[1]).item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    train, valid = Pictures(1280, seed=0), Pictures(256, seed=1)
    sampler = DistributedSampler(train, shuffle=True, seed=5)
    loader = DataLoader(train, batch_size=16, sampler=sampler)
    valid_loader = DataLoader(valid, batch_size=64, sampler=DistributedSampler(valid, shuffle=False))
    model = DistributedDataParallel(ConvNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(6):
        sampler.set_epoch(epoch)
        model.train()
        for picture, shape in loader:
            optimizer.zero_grad()
            logits = model(picture)
            loss = nn.functional.cross_entropy(logits, shape)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
        schedule.step()
        right = evaluate(model.module, valid_loader)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} right {right:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
