"""Programs for clipped-one-by-one."""

from ._programs import mutant

_LOOP = """
import torch
from torch.nn.utils import clip_grad_norm_

def train(model, loader, optimizer, limit=5.0):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        clip_grad_norm_(model.parameters(), limit)
        optimizer.step()
"""
_WHOLE = "        clip_grad_norm_(model.parameters(), limit)\n"
_PLAYERS = """
import torch

def step(players, optimizers, losses):
    for player, optimizer, loss in zip(players, optimizers, losses):
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(player.parameters(), 1.0)
        optimizer.step()
"""


def _clipping(*lines: str) -> str:
    return mutant(_LOOP, (_WHOLE, "".join(f"        {line}\n" for line in lines)))


FAILS = {
    "a loop": _clipping("for p in model.parameters():", "    clip_grad_norm_(p, limit)"),
    "by name": _clipping(
        "for name, p in model.named_parameters():", "    if p.grad is not None:", "        clip_grad_norm_([p], limit)"
    ),
    "the groups of the optimizer": _clipping(
        "for group in optimizer.param_groups:",
        '    for param in group["params"]:',
        "        torch.nn.utils.clip_grad.clip_grad_norm_(param, 5)",
    ),
    "a comprehension": _clipping("norms = [clip_grad_norm_(p, limit) for p in model.parameters()]"),
    "a list of those that train": _clipping(
        "trained = [p for p in model.parameters() if p.requires_grad]",
        "for p in trained:",
        "    clip_grad_norm_(parameters=p, max_norm=limit)",
    ),
}

SILENT = {
    "the whole": _LOOP,
    "each player": _PLAYERS,
    "each group": _clipping(
        "for group in optimizer.param_groups:", '    clip_grad_norm_(group["params"], group["limit"])'
    ),
    "what is handed in may be groups": mutant(_LOOP, (_WHOLE, "        clip_all(model.parameters(), limit)\n"))
    + """
def clip_all(parts, limit):
    for part in parts:
        clip_grad_norm_(part, limit)
""",
    "each number": _clipping("for p in model.parameters():", "    torch.nn.utils.clip_grad_value_(p, limit)"),
    "the norm is looked at": _clipping("for p in model.parameters():", '    print(clip_grad_norm_(p, float("inf")))'),
    "a hook": _clipping(
        "for p in model.parameters():",
        "    p.register_post_accumulate_grad_hook(lambda one: clip_grad_norm_(one, limit))",
    ),
}
