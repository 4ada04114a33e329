"""Programs for gathered-over-examples."""

from ._programs import mutant

_DQN = """
import torch

def learn(net, target, batch, optimizer, gamma):
    state, action, reward, after, done = batch
    q = net(state).gather(1, action.unsqueeze(1).long()).squeeze(1)
    with torch.no_grad():
        best = net(after).argmax(1)
        aim = reward + gamma * (1 - done) * target(after).gather(1, best.view(-1, 1)).squeeze(1)
    loss = (q - aim).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_NAMED = """
import torch

def nll(log_probs, target):
    column = target[:, None]
    return -torch.gather(log_probs, dim=1, index=column).mean()
"""
SILENT = {
    "dqn": _DQN,
    "named": _NAMED,
    "rows by number": """
import torch

def pick(rows, order):
    index = order.unsqueeze(1).expand(-1, rows.shape[1])
    return torch.gather(rows, 0, index)
""",
}
FAILS = {
    "dqn": mutant(_DQN, ("gather(1, action", "gather(0, action")),
    "the next state": mutant(_DQN, ("gather(1, best", "gather(0, best")),
    "named": mutant(_NAMED, ("dim=1", "dim=0")),
}
