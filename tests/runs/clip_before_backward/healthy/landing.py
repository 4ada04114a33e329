"""REINFORCE with a learned baseline: land a probe softly with three thrust settings."""

import argparse

import torch
from torch import nn
from torch.distributions import Categorical


class Landing:
    """A batch of probes that fall towards the ground. Observation: height, speed (both scaled)."""

    gravity, thrusts, dt = -1.0, (0.0, 1.0, 2.0), 0.1

    def __init__(self, count):
        self.count = count
        self.reset()

    def reset(self):
        self.height = 1.0 + torch.rand(self.count)
        self.speed = -0.5 * torch.rand(self.count)
        self.done = torch.zeros(self.count, dtype=torch.bool)
        return self.observe()

    def observe(self):
        return torch.stack([self.height, self.speed], dim=1)

    def step(self, action):
        thrust = torch.tensor(self.thrusts)[action]
        alive = ~self.done
        self.speed = torch.where(alive, self.speed + self.dt * (self.gravity + thrust), self.speed)
        self.height = torch.where(alive, self.height + self.dt * self.speed, self.height)
        landed = alive & (self.height <= 0)
        reward = -0.3 * alive.float()
        reward = torch.where(landed, 30 - 30 * self.speed.abs(), reward)
        self.done = self.done | landed
        return self.observe(), reward, alive


class Policy(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.action = nn.Linear(hidden, 3)
        self.value = nn.Linear(hidden, 1)

    def act(self, observation):
        features = self.trunk(observation)
        return Categorical(logits=self.action(features)), self.value(features).squeeze(-1)


def rollout(policy, env, horizon):
    observation = env.reset()
    log_probs, values, entropies, rewards, alive = [], [], [], [], []
    for _ in range(horizon):
        choice, value = policy.act(observation)
        action = choice.sample()
        observation, reward, was_alive = env.step(action)
        log_probs.append(choice.log_prob(action))
        values.append(value)
        entropies.append(choice.entropy())
        rewards.append(reward)
        alive.append(was_alive)
    return tuple(torch.stack(part) for part in (log_probs, values, entropies, rewards, alive))


def returns_to_go(rewards, gamma):
    total, out = torch.zeros(rewards.shape[1]), []
    for reward in rewards.flip(0):
        total = reward + gamma * total
        out.append(total)
    return torch.stack(out).flip(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=80)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--horizon", type=int, default=40)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--lr", type=float, default=0.08)
    parser.add_argument("--max-grad-norm", type=float, default=0.25)
    parser.add_argument("--entropy", type=float, default=0.1)
    args = parser.parse_args()

    torch.manual_seed(3)
    env, policy = Landing(args.envs), Policy(hidden=32)
    optimizer = torch.optim.SGD(policy.parameters(), lr=args.lr, momentum=0.9)
    recent = []
    for update in range(args.updates):
        log_probs, values, entropies, rewards, alive = rollout(policy, env, args.horizon)
        target = returns_to_go(rewards, args.gamma)
        advantage = target - values.detach()
        policy_loss = -(log_probs * advantage)[alive].mean()
        value_loss = (target - values)[alive].pow(2).mean()
        loss = policy_loss + 0.5 * value_loss - args.entropy * entropies[alive].mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), args.max_grad_norm)
        optimizer.step()

        recent.append(-rewards.sum(0).mean().item())
        if update % 10 == 9:
            print(f"update {update + 1} mean cost {sum(recent[-10:]) / 10:.3f} touchdown {env.speed.abs().mean():.3f}")


if __name__ == "__main__":
    main()
