"""Cannot be compiled."""

import torch

model = torch.nn.Linear(3, 1
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    loss = model(torch.randn(16, 3)).pow(2).mean()
    loss.backward()
    optimizer.step()
