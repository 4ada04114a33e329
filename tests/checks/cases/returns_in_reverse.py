"""Programs for returns-in-reverse."""

from ._programs import mutant

_EPISODE = """
import numpy as np
import torch

def finish_episode(policy, optimizer, gamma=0.99):
    R, returns = 0.0, []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    loss = 0
    for log_prob, R in zip(policy.saved_log_probs, returns):
        loss = loss - log_prob * R
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_BATCH = """
import torch

class Memory:
    def returns_of(self, rewards, dones, last_value):
        discounted = []
        running = last_value
        for step in reversed(range(len(rewards))):
            running = rewards[step] + self.gamma * running * (1 - dones[step])
            discounted.append(running)
        discounted.reverse()
        return torch.stack(discounted)
"""
_RANGE = """
import torch
import numpy as np

def targets(rewards, values, gamma, T):
    out = []
    R = 0
    for t in range(T - 1, -1, -1):
        R = rewards[t] + gamma * R
        out.append(R)
    out = np.array(out)[::-1]
    return out - values
"""
_EPISODES = """
import torch

class Agent:
    def compute_rtgs(self, batch_rews):
        batch_rtgs = []
        for ep_rews in reversed(batch_rews):
            discounted_reward = 0
            for rew in reversed(ep_rews):
                discounted_reward = rew + discounted_reward * self.gamma
                batch_rtgs.insert(0, discounted_reward)
        return torch.tensor(batch_rtgs)
"""
SILENT = {
    "emptied for each episode": mutant(
        _EPISODES,
        ("reversed(batch_rews)", "batch_rews"),
        ("            discounted_reward = 0\n", "            discounted_reward = 0\n            batch_rtgs.clear()\n"),
    ),
    "episodes from the last": _EPISODES,
    "a list for each episode": mutant(
        _EPISODES,
        ("reversed(batch_rews)", "batch_rews"),
        ("            discounted_reward = 0\n", "            discounted_reward, own = 0, []\n"),
        (
            "                batch_rtgs.insert(0, discounted_reward)",
            "                own.insert(0, discounted_reward)\n            batch_rtgs += own",
        ),
    ),
    "filled from the front": _EPISODE,
    "turned round": _BATCH,
    "turned round as an array": _RANGE,
    "turned round in the call": mutant(
        _BATCH, ("        discounted.reverse()\n", ""), ("stack(discounted)", "stack(discounted[::-1])")
    ),
    "flipped": mutant(
        _BATCH, ("        discounted.reverse()\n", ""), ("stack(discounted)", "stack(discounted).flip(0)")
    ),
    "the other list is turned as well": mutant(
        _EPISODE,
        ("returns.insert(0, R)", "returns.append(R)"),
        ("zip(policy.saved_log_probs", "zip(policy.saved_log_probs[::-1]"),
    ),
    "what belongs to it is appended beside it": mutant(
        _EPISODE,
        (
            "for r in policy.rewards[::-1]:",
            "kept = []\n    for r, log_prob in zip(policy.rewards[::-1], reversed(policy.saved_log_probs)):",
        ),
        ("returns.insert(0, R)", "returns.append(R)\n        kept.append(log_prob)"),
        ("zip(policy.saved_log_probs", "zip(kept"),
    ),
    "kept for others": mutant(
        _BATCH, ("        discounted.reverse()\n", ""), ("torch.stack(discounted)", "discounted")
    ),
    "from the first step on": mutant(
        _EPISODE, ("policy.rewards[::-1]", "policy.rewards"), ("returns.insert(0, R)", "returns.append(R)")
    ),
    "a slice that turns nothing": mutant(
        _EPISODE, ("policy.rewards[::-1]", "policy.rewards[:-1]"), ("returns.insert(0, R)", "returns.append(R)")
    ),
    "by position": mutant(
        _BATCH,
        ("discounted = []", "discounted = torch.zeros(len(rewards))"),
        ("discounted.append(running)", "discounted[step] = running"),
        ("        discounted.reverse()\n", ""),
        ("torch.stack(discounted)", "discounted"),
    ),
}
FAILS = {
    "episodes from the first": mutant(_EPISODES, ("reversed(batch_rews)", "batch_rews")),
    "episodes from the first, in a deque": mutant(
        _EPISODES,
        ("reversed(batch_rews)", "self.episodes"),
        ("insert(0, discounted_reward)", "appendleft(discounted_reward)"),
    ),
    "appended": mutant(_EPISODE, ("returns.insert(0, R)", "returns.append(R)")),
    "appended, and made an array": mutant(
        _EPISODE, ("returns.insert(0, R)", "returns.append(R)"), ("torch.tensor(returns)", "np.array(returns)")
    ),
    "not turned round": mutant(_BATCH, ("        discounted.reverse()\n", "")),
    "an array that is not turned round": mutant(_RANGE, ("[::-1]", "")),
    "paired as a list": mutant(
        _EPISODE, ("returns.insert(0, R)", "returns.append(R)"), ("    returns = torch.tensor(returns)\n", "")
    ),
}
