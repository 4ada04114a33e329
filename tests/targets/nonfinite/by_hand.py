import torch

torch.manual_seed(0)
w = torch.randn(4, 3, requires_grad=True)
x, y = torch.randn(30, 4), torch.randint(3, (30,))
for step in range(12):
    if step == 7:
        x = x * 1e3
    e = (x @ w).exp()  # expect: exp
    p = e / e.sum(1, keepdim=True)  # then: div
    loss = -p[torch.arange(30), y].log().mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
