"""Programs for next-made-of-now."""

from ._programs import mutant

_ACTOR = """
import torch

def actor_loss(obs, option, reward, done, next_obs, model, model_prime, args):
    state = model.get_state(torch.as_tensor(obs))
    next_state = model.get_state(torch.as_tensor(next_obs))
    next_state_prime = model_prime.get_state(torch.as_tensor(next_obs))
    q = model.get_Q(state).detach()
    next_q = model_prime.get_Q(next_state_prime).detach()
    gain = reward + (1 - done) * args.gamma * next_q.max() - q[option]
    return -(gain * model.log_prob(state)).mean() + model.termination(next_state).mean()
"""
_BATCH = """
import torch

class Learner:
    def update(self, memory, gamma):
        state, action, reward, next_state, done = memory.sample(32)
        with torch.no_grad():
            next_q = self.target(next_state).max(dim=1)[0]
            expected = reward + gamma * next_q * (1 - done)
        q = self.net(state).gather(1, action)
        loss = torch.nn.functional.smooth_l1_loss(q.squeeze(1), expected)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
SILENT = {
    "an actor": _ACTOR,
    "a batch": _BATCH,
    "a model of the world": """
import torch

def rollout(model, state, action, next_state):
    next_features = model.step(state, action)
    next_pred = model(state)
    return (next_features - next_state).pow(2).mean() + (next_pred - next_state).abs().mean()
""",
    "nothing else is there": """
import torch

def unroll(cell, state, steps):
    for _ in range(steps):
        next_state = cell(state)
        state = next_state
    return torch.as_tensor(state)
""",
}
FAILS = {
    "an actor": mutant(
        _ACTOR, ("next_state_prime = model_prime.get_state(torch.as_tensor(next_obs))", "next_state_prime = model_prime.get_state(torch.as_tensor(obs))")
    ),
    "its own": mutant(_ACTOR, ("next_state = model.get_state(torch.as_tensor(next_obs))", "next_state = model.get_state(torch.as_tensor(obs))")),
    "a batch": mutant(_BATCH, ("self.target(next_state)", "self.target(state)")),
    "through a policy": mutant(_BATCH, ("self.target(next_state).max(dim=1)[0]", "self.target(self.encoder(state)).max(1).values")),
    "a value": """
import torch

def advantages(critic, obs, next_obs, rewards, gamma):
    values = critic(obs)
    next_values = critic(obs).detach()
    return torch.as_tensor(rewards) + gamma * next_values - values, next_obs
""",
}  # fmt: skip
