import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 3)

    def forward(self, x, labels):
        logits = self.lin(x)
        loss = nn.functional.cross_entropy(logits, labels, ignore_index=-1)  # expect: nll_loss_forward
        return {"loss": loss, "logits": logits}


torch.manual_seed(0)
net = Model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(9):
    labels = torch.randint(3, (5,)) if step != 5 else torch.full((5,), -1)
    out = net(torch.randn(5, 4), labels=labels)
    optimizer.zero_grad()
    out["loss"].backward()
    optimizer.step()
