"""A physics-informed network for a damped oscillator, trained with LBFGS."""

import torch
import torch.nn as nn

torch.manual_seed(0)
DAMPING, STIFFNESS, END = 0.4, 4.0, 4.0


def exact(t):
    frequency = (STIFFNESS - DAMPING**2 / 4) ** 0.5
    decayed = torch.exp(-DAMPING * t / 2)
    return decayed * (torch.cos(frequency * t) + DAMPING / (2 * frequency) * torch.sin(frequency * t))


class Solution(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(1, width), nn.Linear(width, width), nn.Linear(width, width)])
        self.out = nn.Linear(width, 1)

    def forward(self, t):
        x = 2 * t / END - 1
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)


def slope(value, t):
    return torch.autograd.grad(value, t, torch.ones_like(value), create_graph=True)[0]


def losses(model, t):
    """Residual of the equation inside, and of value and speed at the start."""
    u = model(t)
    speed = slope(u, t)
    residual = slope(speed, t) + DAMPING * speed + STIFFNESS * u
    start = torch.zeros(1, 1, requires_grad=True)
    at_start = model(start)
    initial = (at_start - 1.0).pow(2).mean() + slope(at_start, start).pow(2).mean()
    return residual.pow(2).mean(), initial


def main():
    t = torch.linspace(0, END, 64)[:, None].requires_grad_()
    model = Solution()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=4, line_search_fn="strong_wolfe")
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)

    def closure():
        optimizer.zero_grad()
        inside, initial = losses(model, t)
        loss = inside + 10.0 * initial
        loss.backward()
        return loss

    for step in range(60):
        loss = optimizer.step(closure)
        schedule.step()
        if step % 10 == 9:
            with torch.no_grad():
                error = (model(t) - exact(t)).abs().max().item()
            print(f"step {step} loss {loss.item():.5f} error {error:.4f}")


if __name__ == "__main__":
    main()
