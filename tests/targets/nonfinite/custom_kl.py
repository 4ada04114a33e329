import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Targets(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(440, 5, generator=generator)
        self.p = torch.rand(440, 3, generator=generator) + 0.1
        self.p /= self.p.sum(1, keepdim=True)
        self.order = []

    def __len__(self):
        return 440

    def __getitem__(self, i):
        return self.x[i], self.p[i]


def kl(q_logits, p):
    q = q_logits.log_softmax(1)
    terms = p * (p.log() - q)  # expect: log
    return terms.sum(1).mean()


torch.manual_seed(0)
data = Targets()
order = torch.randperm(440, generator=torch.Generator().manual_seed(7))


class Shuffled(torch.utils.data.Sampler):
    def __iter__(self):
        yield from order.tolist()

    def __len__(self):
        return 440


data.p[order[103 * 4 + 2]] = torch.tensor([1.0, 0.0, 0.0])
loader = DataLoader(data, batch_size=4, sampler=Shuffled(), num_workers=1)
net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(2):
    for x, p in loader:
        loss = kl(net(x), p)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
