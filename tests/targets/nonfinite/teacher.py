import torch
from torch import nn


class Teacher(nn.Module):
    def forward(self, x):
        return (x / x.sum(1, keepdim=True)).log_softmax(1)  # expect: div


torch.manual_seed(0)
teacher, student = Teacher(), nn.Linear(4, 4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.01)
for step in range(10):
    x = torch.rand(5, 4)
    if step == 6:
        x[1] = 0.0
    with torch.no_grad():
        target = teacher(x)
    loss = ((student(x).log_softmax(1) - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
