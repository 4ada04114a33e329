"""Proximal policy optimisation on a small corridor: walk to the flag, then stay there."""

import argparse
import random

import numpy as np
import torch
from torch import nn
from torch.distributions.categorical import Categorical


class Corridor:
    """`count` corridors of nine cells. Observation: own place, the flag's place, time left."""

    cells, horizon = 9, 16

    def __init__(self, count):
        self.count = count

    def reset(self):
        self.place = np.random.randint(self.cells, size=self.count)
        self.flag = np.random.randint(self.cells, size=self.count)
        self.time = np.zeros(self.count, dtype=np.int64)
        return self.observe()

    def observe(self):
        columns = (self.place / self.cells, self.flag / self.cells, 1 - self.time / self.horizon)
        return np.stack(columns, axis=1).astype(np.float32)

    def step(self, action):
        self.place = np.clip(self.place + action - 1, 0, self.cells - 1)
        self.time += 1
        reward = np.where(self.place == self.flag, 1.0, -0.1).astype(np.float32)
        done = self.time >= self.horizon
        for i in np.flatnonzero(done):
            self.place[i], self.flag[i] = np.random.randint(self.cells, size=2)
            self.time[i] = 0
        return self.observe(), reward, done.astype(np.float32)


def orthogonal(layer, gain=2**0.5):
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(orthogonal(nn.Linear(3, 48)), nn.Tanh(), orthogonal(nn.Linear(48, 1), 1.0))
        self.actor = nn.Sequential(orthogonal(nn.Linear(3, 48)), nn.Tanh(), orthogonal(nn.Linear(48, 3), 0.01))

    def get_value(self, x):
        return self.critic(x).squeeze(-1)

    def get_action_and_value(self, x, action=None):
        choice = Categorical(logits=self.actor(x))
        if action is None:
            action = choice.sample()
        return action, choice.log_prob(action), choice.entropy(), self.get_value(x)


def advantages_of(rewards, values, dones, last_value, gamma, lam):
    advantages = torch.zeros_like(rewards)
    running = torch.zeros_like(last_value)
    for t in reversed(range(len(rewards))):
        following = last_value if t == len(rewards) - 1 else values[t + 1]
        delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
        running = delta + gamma * lam * (1 - dones[t]) * running
        advantages[t] = running
    return advantages


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--rollout", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--clip", type=float, default=0.2)
    return parser.parse_args()


def collect(agent, env, observation, steps):
    store = {name: [] for name in ("obs", "actions", "logprobs", "values", "rewards", "dones")}
    for _ in range(steps):
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(observation)
        following, reward, done = env.step(action.numpy())
        entry = (observation, action, logprob, value, torch.from_numpy(reward), torch.from_numpy(done))
        for name, part in zip(store, entry):
            store[name].append(part)
        observation = torch.from_numpy(following)
    return {name: torch.stack(parts) for name, parts in store.items()}, observation


def main():
    args = parse()
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    env, agent = Corridor(args.envs), Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.lr, eps=1e-5)
    observation = torch.from_numpy(env.reset())
    history = []
    for update in range(args.updates):
        optimizer.param_groups[0]["lr"] = args.lr * (1 - update / args.updates)
        batch, observation = collect(agent, env, observation, args.rollout)
        with torch.no_grad():
            last_value = agent.get_value(observation)
        advantages = advantages_of(batch["rewards"], batch["values"], batch["dones"], last_value, 0.95, 0.95)
        returns = (advantages + batch["values"]).flatten()
        advantages = advantages.flatten()
        obs, actions, old = batch["obs"].flatten(0, 1), batch["actions"].flatten(), batch["logprobs"].flatten()
        size = len(obs) // args.minibatches
        for _ in range(args.epochs):
            for chosen in torch.randperm(len(obs)).split(size):
                _, logprob, entropy, value = agent.get_action_and_value(obs[chosen], actions[chosen])
                ratio = (logprob - old[chosen]).exp()
                advantage = advantages[chosen]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
                value_loss = 0.5 * ((value - returns[chosen]) ** 2).mean()
                loss = policy_loss + 0.5 * value_loss - 0.01 * entropy.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        history.append(batch["rewards"].mean().item())
        print(f"update {update} reward per step {history[-1]:.3f} value loss {value_loss.item():.3f}")
    print(f"reward {history[0]:.4f} -> {history[-1]:.4f}")


if __name__ == "__main__":
    main()
