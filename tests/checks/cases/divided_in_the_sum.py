"""Programs for divided-in-the-sum."""

from ._programs import mutant

_FEDERATED = """
import copy
import torch

def FedAvg(w):
    w_avg = copy.deepcopy(w[0])
    for k in w_avg.keys():
        for i in range(1, len(w)):
            w_avg[k] += w[i][k]
        w_avg[k] = torch.div(w_avg[k], len(w))
    return w_avg
"""
_LOSSES = """
def validate(model, loss_of, batches):
    total = 0.0
    for x, y in batches:
        total += loss_of(model(x), y).item()
    total /= len(batches)
    return total
"""
_RANGE = """
def mean(sample, n):
    found = 0.0
    for _ in range(n):
        found = found + sample()
    found = found / n
    return found
"""
SILENT = {
    "federated": _FEDERATED,
    "losses": _LOSSES,
    "range": _RANGE,
    "each part": """
def mean(parts):
    total = 0.0
    for part in parts:
        total += part / len(parts)
    return total
""",
    "one sum for each round": """
def means(rows, out, parts):
    for i in range(len(parts)):
        out[i] += parts[i].sum()
        out[i] /= len(parts)
    return out
""",
    "begins anew": """
def losses(loss_of, parts, step):
    for part in parts:
        loss = loss_of(part)
        loss += part.penalty()
        loss /= len(parts)
        loss.backward()
    step()
""",
    "by something else": """
def smooth(values, weight):
    found = 0.0
    for value in values:
        found += value
        found /= weight
    return found
""",
}
FAILS = {
    "federated": mutant(_FEDERATED, ("        w_avg[k] = torch", "            w_avg[k] = torch")),
    "losses": mutant(_LOSSES, ("    total /=", "        total /=")),
    "range": mutant(_RANGE, ("    found = found / n", "        found = found / n")),
}
