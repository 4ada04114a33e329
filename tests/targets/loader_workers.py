"""A map-style dataset with its own transforms, two persistent workers and a custom collate function."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info


class NoisyDigits(Dataset):
    """Ten fixed 8 x 8 patterns under noise; each item also says which process made it."""

    def __init__(self, count):
        rng = torch.Generator().manual_seed(1)
        self.patterns = (torch.rand(10, 8, 8, generator=rng) < 0.5).float()
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rng = torch.Generator().manual_seed(index)
        info = get_worker_info()
        picture = self.patterns[index % 10] + 0.8 * torch.randn(8, 8, generator=rng)
        return {"picture": picture, "label": index % 10, "worker": info.id if info else -1}


def collate(items):
    return {
        "picture": torch.stack([item["picture"] for item in items]),
        "label": torch.tensor([item["label"] for item in items]),
        "workers": {item["worker"] for item in items},
    }


def main():
    torch.manual_seed(0)
    loader = DataLoader(
        NoisyDigits(1280), 32, shuffle=True, num_workers=2, persistent_workers=True, collate_fn=collate
    )
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses, workers = [], set()
    for _ in range(2):
        for batch in loader:
            workers |= batch["workers"]
            loss = nn.functional.cross_entropy(model(batch["picture"]), batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    print(f"workers {sorted(workers)}")
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
