import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
data = rng.normal(size=(200, 4)).astype("float32")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)


def spread(out):
    scale = out.max() - out.min()
    return ((out - out.min()) / scale).mean()  # expect: div


for step in range(30):
    index = rng.integers(0, 200, 16)
    x = torch.from_numpy(data[index])
    if step == 17:
        x = x[:1].repeat(16, 1)
    loss = spread(net(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
