"""Programs for transition-of-one-state."""

from ._programs import mutant

_OFF_POLICY = """
import random
import gym
import torch

class Memory:
    def __init__(self):
        self.rows = []

    def push(self, *row):
        self.rows.append(row)

def train(agent, episodes):
    env = gym.make("CartPole-v1")
    memory = Memory()
    for episode in range(episodes):
        state, done = env.reset(), False
        while not done:
            action = agent.act(state)
            next_state, reward, done, _ = env.step(action)
            memory.push(state, action, reward, next_state, done)
            state = next_state
            agent.learn(random.sample(memory.rows, 32))
"""
_SELF = """
import numpy as np
import torch

class Worker:
    def __init__(self, env, buffer, policy):
        self.env, self.buffer, self.policy = env, buffer, policy
        self.obs = env.reset()

    def run(self, steps):
        for _ in range(steps):
            with torch.no_grad():
                act = self.policy(torch.as_tensor(self.obs)).numpy()
            obs_next, rew, done, info = self.env.step(act)
            self.buffer.store(self.obs, act, rew, obs_next, done)
            self.obs = obs_next
            if done:
                self.obs = self.env.reset()
"""
_TUPLES = """
import torch
from collections import deque

def play(env, net, steps):
    buffer = deque(maxlen=1000)
    s = env.reset()
    for t in range(steps):
        a = net(torch.tensor(s)).argmax().item()
        s_, r, done, _, _ = env.step(a)
        buffer.append((s, a, r, s_, done))
        s = s_.copy()
        if done:
            s = env.reset()
    return buffer
"""
_LISTS = """
import torch

def collect(env, policy, steps):
    observations, actions, rewards = [], [], []
    obs = env.reset()
    for _ in range(steps):
        dist = policy(torch.as_tensor(obs))
        action = dist.sample()
        observations.append(obs)
        actions.append(action)
        obs, reward, done, _ = env.step(action.numpy())
        rewards.append(reward)
    return observations, actions, rewards
"""
_SHIFTED = """
import torch

def collect(envs, actor_critic, rollouts, steps):
    obs = envs.reset()
    rollouts.obs[0].copy_(obs)
    for step in range(steps):
        value, action, log_prob = actor_critic.act(rollouts.obs[step])
        obs, reward, done, infos = envs.step(action)
        rollouts.insert(obs, action, log_prob, value, reward)
"""
SILENT = {
    "pushed": _OFF_POLICY,
    "attributes": _SELF,
    "rows": _TUPLES,
    "lists": _LISTS,
    "shifted by design": _SHIFTED,
    "begins with the first state": mutant(
        _LISTS,
        ("observations, actions, rewards = [], [], []\n    obs = env.reset()", "obs = env.reset()\n    observations, actions, rewards = [obs], [], []"),
        ("        observations.append(obs)\n", ""),
        ("        rewards.append(reward)\n", "        rewards.append(reward)\n        observations.append(obs)\n"),
    ),
    "a list of the next ones": mutant(
        _LISTS,
        ("observations, actions, rewards = [], [], []", "observations, actions, rewards, next_observations = [], [], [], []"),
        ("        rewards.append(reward)\n", "        rewards.append(reward)\n        next_observations.append(obs)\n"),
    ),
    "frames to show": mutant(
        _LISTS,
        ("observations, actions, rewards = [], [], []", "observations, actions, rewards, frames = [], [], [], []"),
        ("        rewards.append(reward)\n", "        rewards.append(reward)\n        frames.append(obs)\n"),
    ),
    "a residual": """
import torch
from torch import nn

class Block(nn.Module):
    def forward(self, x, new_x):
        x = new_x
        self.optimizer.step()
        return self.store(x, torch.relu(new_x))
""".replace("self.store", "self.mix"),
}  # fmt: skip
FAILS = {
    "pushed": mutant(
        _OFF_POLICY,
        ("            state = next_state\n", ""),
        ("            memory.push", "            state = next_state\n            memory.push"),
    ),
    "attributes": mutant(
        _SELF,
        ("            self.obs = obs_next\n", ""),
        ("            self.buffer.store", "            self.obs = obs_next\n            self.buffer.store"),
    ),
    "rows": mutant(_TUPLES, ("        s = s_.copy()\n", ""), ("        buffer.append", "        s = s_.copy()\n        buffer.append")),
    "lists": mutant(
        _LISTS,
        ("        observations.append(obs)\n", ""),
        ("        rewards.append(reward)\n", "        rewards.append(reward)\n        observations.append(obs)\n"),
    ),
    "one of two lists": mutant(
        _LISTS,
        ("        observations.append(obs)\n", "        of_episode.append(obs)\n"),
        ("observations, actions, rewards = [], [], []", "observations, of_episode, actions, rewards = [], [], [], []"),
        ("        rewards.append(reward)\n", "        rewards.append(reward)\n        observations.append(obs)\n"),
    ),
    "all lists": mutant(
        _LISTS,
        ("        observations.append(obs)\n        actions.append(action)\n", ""),
        ("        rewards.append(reward)\n", "        observations.append(obs)\n        actions.append(action)\n        rewards.append(reward)\n"),
    ),
}  # fmt: skip
