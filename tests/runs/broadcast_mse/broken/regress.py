"""Tabular regression: ten columns, five of which matter."""
import torch
from torch import nn

torch.manual_seed(0)
BATCH, EPOCHS, LR = 64, 8, 1e-2


def make_table(rows, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(rows, 10, generator=g)
    y = (
        10 * torch.sin(torch.pi * x[:, 0] * x[:, 1])
        + 20 * (x[:, 2] - 0.5) ** 2
        + 10 * x[:, 3]
        + 5 * x[:, 4]
        + torch.randn(rows, generator=g)
    )
    return x, y


class Regressor(nn.Module):
    def __init__(self, columns, hidden=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(columns, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def forward(self, x):
        return self.layers(x)  # cause


def weighted_mse(predicted, target, weight):
    error = predicted - target  # cause
    return (weight * error * error).sum() / error.numel()


@torch.no_grad()
def r_squared(model, x, y):
    residual = y - model(x).flatten()
    return 1 - residual.var().item() / y.var().item()


x_train, y_train = make_table(768, seed=1)
x_test, y_test = make_table(400, seed=2)
mean, std = y_train.mean(), y_train.std()
y_train, y_test = (y_train - mean) / std, (y_test - mean) / std
# recent rows count a little more
w_train = torch.linspace(0.8, 1.2, len(y_train))

model = Regressor(x_train.shape[1])
optimizer = torch.optim.Adam(model.parameters(), lr=LR)

for epoch in range(EPOCHS):
    permutation = torch.randperm(len(x_train))
    losses = []
    for start in range(0, len(x_train), BATCH):
        rows = permutation[start : start + BATCH]
        loss = weighted_mse(model(x_train[rows]), y_train[rows], w_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch={epoch} first={losses[0]:.4f} mean={sum(losses) / len(losses):.4f} r2={r_squared(model, x_test, y_test):.4f}")
