import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from augment import jitter, regroup
from ghostnorm import GhostBatchNorm
from render import make_set

SIZE = 20
CONFIG = {"epochs": 5, "batch_size": 64, "lr": 4e-3, "hidden": 96}


def to_dataset(count, seed):
    return TensorDataset(*(torch.from_numpy(part) for part in make_set(count, SIZE, seed)))


def angular_error(net, dataset):
    """Median error in degrees."""
    net.eval()
    with torch.no_grad():
        guess = net(dataset.tensors[0])
    net.train()
    true = dataset.tensors[1]
    turn = torch.atan2(guess[:, 1], guess[:, 0]) - torch.atan2(true[:, 1], true[:, 0])
    return torch.rad2deg(torch.atan2(turn.sin(), turn.cos()).abs().median()).item()


def main(epochs, batch_size, lr, hidden):
    torch.manual_seed(8)
    train_set, test_set = to_dataset(1024, seed=0), to_dataset(256, seed=1)
    loader = DataLoader(train_set, batch_size, shuffle=True, drop_last=True)
    net = nn.Sequential(
        nn.Flatten(),
        nn.Linear(SIZE * SIZE, hidden),
        GhostBatchNorm(hidden),
        nn.GELU(),
        nn.Linear(hidden, hidden),
        GhostBatchNorm(hidden),
        nn.GELU(),
        nn.Linear(hidden, 2),
    )
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for i, (pictures, targets) in enumerate(loader):
            pictures, targets = regroup(jitter(pictures), targets)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                guess = net(pictures)
            loss = nn.functional.mse_loss(guess.float(), targets)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            if i % 8 == 0:
                print(f"epoch {epoch} batch {i} loss {loss.item():.4f}")
        scheduler.step()
        print(f"epoch {epoch} median error {angular_error(net, test_set):.1f} degrees")


if __name__ == "__main__":
    main(**CONFIG)
