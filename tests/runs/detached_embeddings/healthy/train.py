import torch
from torch.utils.data import DataLoader, TensorDataset

from pairing import similarity, symmetric_loss
from pairs import VOCABULARY, make_pairs
from towers import PairModel

EPOCHS = 4
BATCH = 64
LR = 3e-3


@torch.no_grad()
def retrieval(model, sketches, captions):
    """Share of sketches whose own caption is the best match among all."""
    model.eval()
    best = similarity(model, sketches, captions).argmax(dim=1)
    model.train()
    return (best == torch.arange(len(best))).float().mean().item()


def main():
    torch.manual_seed(5)
    loader = DataLoader(TensorDataset(*make_pairs(1280, seed=1)), BATCH, shuffle=True, drop_last=True)
    held_out = make_pairs(64, seed=2)
    model = PairModel(VOCABULARY)
    decay = [p for p in model.parameters() if p.ndim >= 2]
    plain = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}], lr=LR
    )
    step = 0
    for epoch in range(EPOCHS):
        for sketches, captions in loader:
            loss = symmetric_loss(similarity(model, sketches, captions))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"step {step} contrastive {loss.item():.3f} scale {model.log_scale.exp().item():.2f}")
            step += 1
        print(f"epoch {epoch} retrieval@1 {retrieval(model, *held_out):.3f}")


if __name__ == "__main__":
    main()
