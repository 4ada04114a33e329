"""Programs for bootstrap-across-end: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "replay in a class": (
            """
import torch
import torch.nn.functional as F

class DQN:
    def learn(self):
        state, action, reward, next_state, done = self.memory.sample(64)
        q = self.net(state).gather(1, action)
        q_next = self.target(next_state).detach().max(1)[0].unsqueeze(1)
        expected = reward + self.gamma * q_next * (1 - done)
        loss = F.mse_loss(q, expected)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
""",
            " * (1 - done)",
            "",
        ),
        "two critics": (
            """
import torch

def critic_target(actor, q1, q2, batch, GAMMA):
    s, a, r, s2, d = batch["s"], batch["a"], batch["r"], batch["s2"], batch["done"]
    terminal = torch.as_tensor(d).float()
    with torch.no_grad():
        a2 = actor(s2)
        lowest = torch.min(q1(s2, a2), q2(s2, a2))
        return r.unsqueeze(1) + (1 - terminal) * GAMMA * lowest
""",
            "(1 - terminal) * GAMMA",
            "GAMMA",
        ),
        "tensors made of the flags": (
            """
import numpy as np
import torch

def update(agent, transitions, discount):
    states, actions, rewards, nexts, dones = map(np.array, zip(*transitions))
    rewards = torch.FloatTensor(rewards)
    dones = torch.FloatTensor(dones)
    target = rewards + discount * agent.value(torch.FloatTensor(nexts)).detach() * (1 - dones)
    return (agent.value(torch.FloatTensor(states)) - target).pow(2).mean()
""",
            " * (1 - dones)",
            "",
        ),
        "advantages backwards through a buffer": (
            """
class Rollout:
    def finish(self, last_value, gamma=0.99):
        ahead = last_value
        returns = []
        for reward, terminated in zip(self.rewards[::-1], self.ends[::-1]):
            ahead = reward + gamma * ahead * (1.0 - terminated)
            returns.append(ahead)
        return returns[::-1]
""",
            " * (1.0 - terminated)",
            "",
        ),
        "temporal difference in a function": (
            """
# file: td.py
def td_error(value, reward, next_value, done, discount_factor):
    target = reward + discount_factor * next_value * (1 - done)
    return target - value
# file: train.py
from td import td_error

def step(v, s, r, s2, done, opt):
    loss = td_error(v(s), r, v(s2).detach(), done, 0.99).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            " * (1 - done)",
            "",
        ),
    }
)
SILENT = ORIGINALS | {
    "mask under another name": """
def target(net, reward, s2, done, gamma):
    mask = 1 - done
    return reward + gamma * mask * net(s2)
""",
    "only the states that go on": """
import torch

def target(net, batch, gamma):
    non_final = torch.tensor([s is not None for s in batch.next_state])
    ahead = torch.zeros(len(batch.reward))
    ahead[non_final] = net(torch.cat([s for s in batch.next_state if s is not None]))
    return batch.reward + gamma * ahead
""",
    "if else": """
def target(net, reward, s2, done, gamma):
    if done:
        y = reward
    else:
        y = reward + gamma * net(s2).max()
    return y
""",
    "one episode": """
def returns(rewards, gamma):
    total = 0
    for r in rewards[::-1]:
        total = r + gamma * total
    return total
""",
    "where": """
import torch

def target(net, reward, s2, terminal, gamma):
    ahead = torch.where(terminal, torch.zeros_like(reward), net(s2))
    return reward + gamma * ahead
""",
    "task without an end": """
def target(net, reward, s2, gamma):
    return reward + gamma * net(s2)
""",
    "loop until done": """
def episode(env, q, gamma, lr):
    s, done = env.reset(), False
    while not done:
        a = q[s].argmax()
        s2, reward, done, _ = env.step(a)
        q[s][a] += lr * (reward + gamma * q[s2].max() - q[s][a])
        s = s2
""",
    "per-step discount": """
def target(net, reward, s2, done, discount):
    discount = discount * (1 - done)
    return reward + discount * net(s2)
""",
    "values in a table": """
import numpy as np

def evaluate(env, policy, gamma=1.0):
    V = np.zeros(env.nS)
    for s in range(env.nS):
        value = 0
        for a, p in enumerate(policy[s]):
            for prob, next_state, reward, done in env.P[s][a]:
                value += p * prob * (reward + gamma * V[next_state])
        V[s] = value
    return V
""",
    "no next state past the end": """
import torch

class Agent:
    def update(self, state, action, reward, next_state, _done):
        next_value = self.value(next_state) if next_state is not None else 0
        return reward + self.discount * next_value - self.q(state)[action]
""",
    "a table looked up by the cell of the next state": """
import numpy as np

class Sarsa:
    def __init__(self, n, m, gamma):
        self.qtable, self.gamma = np.zeros((n, m)), gamma

    def update(self, s, sprime, a, r, done):
        update_target = 0
        for ahead, prob in enumerate(self.policy(sprime[0])):
            update_target += prob * self.qtable[sprime[0], ahead]
        self.qtable[s[0], a] += 0.1 * (r[0] + self.gamma * update_target - self.qtable[s[0], a])
""",
}

SILENT["a flag of going on"] = """
import torch

def learn(q, target, batch, optimizer, gamma=0.99):
    states, actions, rewards, next_states, non_terminal = batch
    with torch.no_grad():
        best = rewards + gamma * non_terminal * target(next_states).max(1)[0]
    loss = (q(states).gather(1, actions).squeeze(1) - best).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
SILENT["turned where it is stored"] = """
import torch

def store(memory, s, a, r, s2, d):
    memory.push(s, a, r, s2, 1 - d)

def learn(q, target, memory, optimizer, gamma=0.99):
    states, actions, rewards, next_states, done = memory.sample()
    with torch.no_grad():
        best = rewards + gamma * done * target(next_states).max(1)[0]
    loss = (q(states).gather(1, actions).squeeze(1) - best).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
FAILS["the end as a factor"] = """
import torch
import torch.nn.functional as F

class Agent:
    def update(self, buffer, gamma):
        state, action, reward, next_state, done = buffer.sample()
        target_Q = torch.min(self.q1_target(next_state), self.q2_target(next_state))
        target_Q = reward + (done * gamma * target_Q).detach()
        loss = F.mse_loss(self.q1(state, action), target_Q)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
