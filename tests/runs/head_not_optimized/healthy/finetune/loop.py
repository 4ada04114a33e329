import torch
from torch.nn import functional as F


def fit(model, optimizer, data, steps, batch_size=32, name="fit"):
    tokens, labels = data
    for step in range(steps):
        chosen = torch.randint(len(tokens), (batch_size,))
        loss = F.cross_entropy(model(tokens[chosen]), labels[chosen])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 10 == 0 or step + 1 == steps:
            print(f"{name} step {step} loss {loss.item():.4f}")


@torch.no_grad()
def accuracy(model, data):
    tokens, labels = data
    model.eval()
    share = (model(tokens).argmax(dim=1) == labels).float().mean().item()
    model.train()
    return share
