from torch import nn


def mlp(inputs, hidden, outputs):
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.LeakyReLU(0.2),
        nn.Linear(hidden, hidden),
        nn.LeakyReLU(0.2),
        nn.Linear(hidden, outputs),
    )


class Generator(nn.Module):
    def __init__(self, noise, columns, hidden=48):
        super().__init__()
        self.noise = noise
        self.net = mlp(noise, hidden, columns)

    def forward(self, z):
        return self.net(z)


class Critic(nn.Module):
    def __init__(self, columns, hidden=48):
        super().__init__()
        self.net = mlp(columns, hidden, 1)

    def forward(self, rows):
        return self.net(rows).squeeze(-1)
