"""Programs for rows-apart."""

from ._programs import mutant

_PPO = """
import numpy as np
import torch

def update(agent, optimizer, b_obs, b_actions, b_logprobs, b_advantages, b_returns, args):
    b_inds = np.arange(args.batch_size)
    for epoch in range(args.update_epochs):
        np.random.shuffle(b_inds)
        for start in range(0, args.batch_size, args.minibatch_size):
            end = start + args.minibatch_size
            mb_inds = b_inds[start:end]
            logprob, value = agent(b_obs[mb_inds], b_actions[mb_inds])
            ratio = (logprob - b_logprobs[mb_inds]).exp()
            mb_advantages = b_advantages[mb_inds]
            pg_loss = torch.max(-mb_advantages * ratio, -mb_advantages * ratio.clamp(0.8, 1.2)).mean()
            v_loss = ((value - b_returns[mb_inds]) ** 2).mean()
            optimizer.zero_grad()
            (pg_loss + v_loss).backward()
            optimizer.step()
"""
_PERMUTED = """
import torch

class Trainer:
    def epoch(self, x, y, weight):
        order = torch.randperm(len(x), device=x.device)
        total = 0.0
        for i in range(0, len(x), self.size):
            picked = order[i : i + self.size]
            loss = (self.criterion(self.model(x[picked]), y[picked]) * weight[picked]).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total
"""
SILENT = {
    "one index for all": _PPO,
    "a permutation": _PERMUTED,
    "what is written by slice is read by slice": mutant(
        _PERMUTED,
        ("total = 0.0", "total, out = 0.0, torch.zeros(len(x))"),
        (
            "loss = (self",
            "out[i : i + self.size] = self.model(x[picked])\\n            loss = out[i : i + self.size].mean() + (self",
        ),
    ).replace("\\n", "\n"),
    "two orders": mutant(
        _PERMUTED,
        ("total = 0.0", "total, other = 0.0, torch.randperm(len(x))"),
        ("* weight[picked]", "* weight[picked] * x[other[i : i + self.size]]"),
    ),
    "brought into the order before": mutant(
        _PERMUTED,
        ("total = 0.0", "total, weight = 0.0, weight[order]"),
        ("* weight[picked]", "* weight[i : i + self.size]"),
    ),
    "rows in their own order": mutant(
        _PPO, ("        np.random.shuffle(b_inds)\n", ""), ("b_advantages[mb_inds]", "b_advantages[start:end]")
    ),
    "other rows": mutant(_PPO, ("b_advantages[mb_inds]", "b_advantages[0:end]")),
}
FAILS = {
    "in one of two places": mutant(
        _PPO,
        (
            "v_loss = ((value - b_returns[mb_inds])",
            "print(b_returns[mb_inds].mean())\n            v_loss = ((value - b_returns[start:end])",
        ),
    ),
    "flattened before": mutant(
        _PPO,
        ("    b_inds = np.arange", "    b_advantages = b_advantages.reshape(-1)\n    b_inds = np.arange"),
        ("b_advantages[mb_inds]", "b_advantages[start:end]"),
    ),
    "advantages by slice": mutant(_PPO, ("b_advantages[mb_inds]", "b_advantages[start:end]")),
    "returns by slice": mutant(_PPO, ("b_returns[mb_inds]", "b_returns[start:end]")),
    "weights by slice": mutant(_PERMUTED, ("weight[picked]", "weight[i : i + self.size]")),
    "labels by slice": mutant(_PERMUTED, ("y[picked]", "y[i : i + self.size]")),
    "inputs by slice": mutant(_PERMUTED, ("self.model(x[picked])", "self.model(x[i : i + self.size])")),
}
