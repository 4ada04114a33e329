"""Proximal policy optimisation on carts, with generalised advantages."""

import torch
from agent import Agent
from environment import Carts
from torch import nn

CARTS, HORIZON, EPOCHS, PARTS, UPDATES = 32, 24, 3, 4, 12
GAMMA, LAMBDA, CLIP = 0.97, 0.95, 0.2


def rollout(agent, carts):
    kept = {name: [] for name in ("observation", "action", "log_prob", "value", "reward", "done")}
    observation = carts.state
    for _ in range(HORIZON):
        with torch.no_grad():
            action, log_prob, value = agent.act(observation)
        following, reward, done = carts.step(action)
        for name, item in zip(kept, (observation, action, log_prob, value, reward, done)):
            kept[name].append(item)
        observation = following
    with torch.no_grad():
        _, last = agent(observation)
    return {name: torch.stack(items) for name, items in kept.items()}, last


def advantages(kept, last):
    """Generalised advantage estimates. Shape (HORIZON, CARTS)."""
    found, running, following = torch.zeros_like(kept["reward"]), 0.0, last
    for t in reversed(range(HORIZON)):
        going_on = 1.0 - kept["done"][t]
        error = kept["reward"][t] + GAMMA * following * going_on - kept["value"][t]
        running = error + GAMMA * LAMBDA * going_on * running
        found[t], following = running, kept["value"][t]
    return found


def loss_of(agent, part):
    log_prob, entropy, value = agent.judge(part["observation"], part["action"])
    ratio = (log_prob - part["log_prob"]).exp()
    advantage = (part["advantage"] - part["advantage"].mean()) / (part["advantage"].std() + 1e-8)
    policy = -torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
    regression = 0.5 * (value - part["return"]).pow(2).mean()
    return policy + 0.5 * regression - 0.01 * entropy.mean()


def main():
    torch.manual_seed(0)
    agent, carts = Agent(), Carts(CARTS, seed=1)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.2, total_iters=UPDATES)
    for update in range(UPDATES):
        kept, last = rollout(agent, carts)
        advantage = advantages(kept, last)
        kept["advantage"], kept["return"] = advantage, advantage + kept["value"]
        flat = {name: items.flatten(0, 1) for name, items in kept.items()}
        for _ in range(EPOCHS):
            for chosen in torch.randperm(CARTS * HORIZON).chunk(PARTS):
                loss = loss_of(agent, {name: items[chosen] for name, items in flat.items()})
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        schedule.step()
        print(f"update {update} reward {kept['reward'].mean().item():.3f} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
