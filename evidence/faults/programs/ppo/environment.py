"""A cart that is to be held near the middle of a track: many of them at once."""

import torch


class Carts:
    """State (position, speed), actions 0 left, 1 stay, 2 right; an episode ends off the track or after 50 steps."""

    def __init__(self, count, seed):
        self.draw = torch.Generator().manual_seed(seed)
        self.state = self.start(count)
        self.age = torch.zeros(count)

    def start(self, count):
        return 1.6 * torch.rand(count, 2, generator=self.draw) - 0.8

    def step(self, action):
        push = 0.1 * (action - 1.0) + 0.02 * torch.randn(len(action), generator=self.draw)
        speed = 0.98 * self.state[:, 1] + push
        position = self.state[:, 0] + 0.2 * speed
        self.state = torch.stack([position, speed], 1)
        self.age += 1
        reward = 1.0 - position.abs() - 0.1 * speed.abs()
        fell = position.abs() > 1.5
        done = fell | (self.age >= 50)
        reward = reward - 5.0 * fell
        self.state = torch.where(done[:, None], self.start(len(action)), self.state)
        self.age = torch.where(done, torch.zeros_like(self.age), self.age)
        return self.state, reward, done.float()
