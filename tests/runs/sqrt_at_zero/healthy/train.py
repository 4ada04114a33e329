import torch
from torch import nn

from signatures import Signatures

STEPS, PAIRS, MARGIN = 100, 32, 1.5


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(2, 24, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv1d(24, 24, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(24 * 6, dim),
        )

    def forward(self, strokes):
        return self.net(strokes.transpose(1, 2))


def distance(a, b):
    return ((a - b).square().sum(dim=-1) + 1e-9).sqrt()


def contrastive_loss(a, b, genuine):
    gap = distance(a, b)
    attract = genuine * gap.square()
    repel = (1 - genuine) * (MARGIN - gap).clamp(min=0).square()
    return (attract + repel).mean()


@torch.no_grad()
def ranking_quality(encoder, first, second, genuine):
    """Chance that a genuine pair lies closer together than a forged one."""
    gap = distance(encoder(first), encoder(second))
    near, far = gap[genuine == 1], gap[genuine == 0]
    return (near[:, None] < far[None, :]).float().mean().item()


def main():
    torch.manual_seed(4)
    rng = torch.Generator().manual_seed(5)
    known = Signatures(writers=12, per_writer=800, seed=8)
    strangers = Signatures(writers=20, per_writer=30, seed=9)
    trial = strangers.pairs(400, rng)
    encoder = Encoder()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
    for step in range(STEPS):
        first, second, genuine = known.pairs(PAIRS, rng)
        loss = contrastive_loss(encoder(first), encoder(second), genuine)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 10 == 0 or step == STEPS - 1:
            print(f"{step} loss {loss.item():.4f} auc {ranking_quality(encoder, *trial):.3f}")


if __name__ == "__main__":
    main()
