"""Episode ends, reward offsets and stored probabilities: small mistakes in bookkeeping change what is learned."""

import torch
from torch import nn
from torch.nn import functional as F

GAMMA = 0.9
CLAIMS = {
    "truncation-is-not-termination": "reward 1 in each step without an end, discount 0.9, stopped every 5 steps: value {truncated:.1f} when "
    "the stop counts as an end, {bootstrapped:.1f} when the value is carried on (true: 10)",
    "reward-shift": "a chain with a goal worth 1, five steps away: the goal is sought for a step reward of 0, and left alone once "
    "{flips:.2f} is added to every step",
    "unit-test-resets": "advantages of two episodes in one buffer, done flag ignored: error {leaked:.2f}, all of it in the first episode "
    "({first_share:.0%})",
    "ppo-ratio-one": "first minibatch: greatest distance of the ratio from 1 is {right:.0e}, with dropout left on {dropout:.2f}, with "
    "log-probabilities stored before the observations were normalised {normalised:.2f}",
    "small-final-layer-policy": "first policy over 6 actions, observations of std 5: entropy {default:.2f} with a default head, {small:.2f} "
    "with one of 0.01 times its weights (uniform: 1.79)",
    "reward-scale": "a value network fits targets of size 1, 100 and 10,000 in 400 Adam steps: {fit_1:.0%}, {fit_100:.0%} and "
    "{fit_10000:.0%} of the variance are left",
}
EXPECT = {
    "counted as an end, the value is less than half of the truth": lambda m: m["truncated"] < 5,
    "carried on, it is right": lambda m: abs(m["bootstrapped"] - 10) < 0.1,
    "an added reward flips the policy": lambda m: 0 < m["flips"] < 1,
    "a leak over the done flag reaches only the episode before it": lambda m: (
        m["leaked"] > 0.1 and m["first_share"] > 0.99
    ),
    "the ratio is 1 when all is right": lambda m: m["right"] < 1e-5,
    "and visibly not when something is wrong": lambda m: min(m["dropout"], m["normalised"]) > 0.05,
    "a small head starts nearly uniform": lambda m: m["small"] > 1.78 > m["default"],
    "large targets are fitted worse": lambda m: m["fit_1"] < m["fit_100"] < m["fit_10000"],
}


def endless_value(carry_on):
    """The value of an endless task that is stopped every five steps, learned from the time within the stretch unseen."""
    value = 0.0
    for _ in range(3000):
        targets = [1 + GAMMA * value for _ in range(4)] + [1 + (GAMMA * value if carry_on else 0.0)]
        value += 0.05 * (sum(targets) / 5 - value)
    return value


def seeks_goal(offset, length=5):
    """Best plan by value iteration: walk to the goal, which ends the episode, or stay for ever."""
    stay = offset / (1 - GAMMA)
    walk = sum(offset * GAMMA**k for k in range(length)) + GAMMA ** (length - 1)
    return walk > stay


def advantages(rewards, values, done, use_done=True, lam=0.95):
    told, running = torch.zeros_like(rewards), 0.0
    for at in reversed(range(len(rewards))):
        alive = 0.0 if use_done and done[at] else 1.0
        following = values[at + 1] if at + 1 < len(values) else 0.0
        running = rewards[at] + GAMMA * following * alive - values[at] + GAMMA * lam * alive * running
        told[at] = running
    return told


def ratios(seed):
    torch.manual_seed(seed)
    policy = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Dropout(0.1), nn.Linear(64, 4)).eval()
    seen, actions = 2 * torch.randn(256, 8) + 1, torch.randint(4, (256, 1))

    def chosen(observations):
        return policy(observations).log_softmax(1).gather(1, actions).detach()

    stored, normal = chosen(seen), (seen - seen.mean(0)) / seen.std(0)
    told = {
        "right": chosen(seen) - stored,
        "normalised": chosen(normal) - stored,
        "dropout": policy.train() and chosen(seen) - stored,
    }
    return {name: (ratio.exp() - 1).abs().max().item() for name, ratio in told.items()}


def entropy(seed, scale):
    torch.manual_seed(seed)
    head = nn.Linear(64, 6)
    body = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
    logits = scale * head(body(5 * torch.randn(512, 8)))
    return torch.distributions.Categorical(logits=logits).entropy().mean().item()


def left_over(seed, size):
    torch.manual_seed(seed)
    x = torch.randn(256, 8)
    y = size * (1 + x.sum(1, keepdim=True) / 8**0.5)
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
    step = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(400):
        step.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        step.step()
    return loss.item() / y.var().item()


def measure(seed):
    draw = torch.Generator().manual_seed(seed)
    rewards, values = torch.rand(8, generator=draw), torch.rand(8, generator=draw)
    done = [False, False, False, True, False, False, False, True]
    error = (advantages(rewards, values, done) - advantages(rewards, values, done, use_done=False)).abs()
    return {
        "truncated": endless_value(carry_on=False),
        "bootstrapped": endless_value(carry_on=True),
        "flips": next(k / 100 for k in range(101) if not seeks_goal(k / 100)),
        "leaked": error.max().item(),
        "first_share": (error[:4].sum() / error.sum()).item(),
        **ratios(seed),
        "default": entropy(seed, 1.0),
        "small": entropy(seed, 0.01),
        **{f"fit_{size}": left_over(seed, size) for size in (1, 100, 10000)},
    }
