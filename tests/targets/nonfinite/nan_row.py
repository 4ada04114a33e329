import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, features):
        return self.out(self.hidden(features).relu())


torch.manual_seed(0)
x, y = torch.randn(400, 6), torch.randint(3, (400,))
x[208 + 1, 4] = float("nan")
loader = DataLoader(TensorDataset(x, y), batch_size=8)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in loader:
        out = net(a)  # expect: input
        loss = nn.functional.cross_entropy(out, b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
