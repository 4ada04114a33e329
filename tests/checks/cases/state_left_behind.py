"""Programs for state-left-behind."""

from ._programs import mutant

_WHILE = """
import torch

def train(env, agent, buffer, episodes):
    for episode in range(episodes):
        obs, done = env.reset(), False
        while not done:
            action = agent.act(torch.as_tensor(obs))
            next_obs, reward, done, info = env.step(action)
            buffer.push(obs, action, reward, next_obs, done)
            agent.learn(buffer)
            obs = next_obs
"""
_SHORT = """
import torch

def run(env, net, optimizer, gamma):
    s = env.reset()
    for t in range(500):
        a = net(torch.tensor(s)).argmax().item()
        s_, r, done, _ = env.step(a)
        target = r + gamma * net(torch.tensor(s_)).max().detach() * (1 - done)
        loss = (net(torch.tensor(s))[a] - target).pow(2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        s = s_
"""
_FIVE = """
import torch

class Runner:
    def episode(self):
        state, _ = self.env.reset()
        total = 0.0
        for _ in range(200):
            action = self.policy(torch.as_tensor(state)).sample()
            new_state, reward, terminated, truncated, _ = self.env.step(action.item())
            total += reward
            state = new_state
            if terminated or truncated:
                break
        return total
"""
_TENSOR = """
import torch

def roll(env, policy, obs, steps):
    obs = obs.clone()
    for _ in range(steps):
        obs_next, reward, done = env.step(policy(obs))
        obs.copy_(obs_next)
    return obs
"""
SILENT = {
    "until it is done": _WHILE,
    "short names": _SHORT,
    "five values": _FIVE,
    "all actions of one state": """
import copy
import torch

def best(env, value, state, actions):
    scores = []
    for action in actions:
        trial = copy.deepcopy(env)
        next_state, reward, done, _ = trial.step(action)
        scores.append(reward + value(torch.as_tensor(next_state)) - value(torch.as_tensor(state)))
    return torch.stack(scores).argmax()
""",
    "a model that is told the state": """
import torch

def plan(model, state, actions):
    total = []
    for action in actions:
        next_state, reward, done = model.step(state, action)
        total.append(reward)
    return torch.stack(total)
""",
    "a cell for each candidate": """
import torch

def expand(decoder, state, tokens):
    found = []
    for token in tokens:
        next_state, logits = decoder.step(token, torch.as_tensor(0))
        found.append((next_state, logits, state))
    return found
""",
    "in place": _TENSOR,
    "into its rows": mutant(_TENSOR, ("obs.copy_(obs_next)", "obs[:] = obs_next")),
    "the loop does not read it": mutant(mutant(_TENSOR, ("policy(obs)", "policy()")), ("obs.copy_(obs_next)", "pass")),
    "set in an arm": mutant(
        _WHILE, ("            obs = next_obs\n", "            if not done:\n                obs = next_obs\n")
    ),
}
FAILS = {
    "until it is done": mutant(_WHILE, ("            obs = next_obs\n", "")),
    "short names": mutant(_SHORT, ("        s = s_\n", "")),
    "five values": mutant(_FIVE, ("            state = new_state\n", "")),
    "a tensor": mutant(_TENSOR, ("        obs.copy_(obs_next)\n", "")),
    "behind the loop": mutant(_FIVE, ("            state = new_state\n", "")).replace(
        "        return total", "        state = new_state\n        return total"
    ),
}
