"""Programs for unread-batch-part."""

from ._programs import mutant

_LOOP = """
import torch


def train(model, loader, criterion, optimizer, device):
    for timesteps, states, actions, mask in loader:
        timesteps = timesteps.to(device)
        states = states.to(device)
        actions = actions.to(device)
        mask = mask.to(device)
        predicted = model(timesteps, states)
        loss = criterion(predicted[mask > 0], actions[mask > 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_WHOLE = ("predicted[mask > 0], actions[mask > 0]", "predicted, actions")

SILENT = {
    "read": _LOOP,
    "read by a function inside": mutant(_LOOP, _WHOLE, ("        optimizer.zero_grad()\n", "        optimizer.zero_grad()\n        log = lambda: print(mask)\n")),
    "read in a string": mutant(_LOOP, _WHOLE, ("        optimizer.zero_grad()\n", '        optimizer.zero_grad()\n        print(f"{mask.sum()} of them")\n')),
    "handed on by a name of its own": mutant(_LOOP, _WHOLE, ("model(timesteps, states)", "model(timesteps, states, mask=mask)")),
    "labels that nothing is learnt from": mutant(_LOOP, _WHOLE, ("actions, mask in", "actions, labels in"), ("mask = mask.to", "labels = labels.to")),
    "an argument of the function": mutant(_LOOP, _WHOLE, ("actions, mask in", "actions in"), ("device):", "device, mask):")),
    "left where it is": mutant(_LOOP, _WHOLE, ("        mask = mask.to(device)\n", "")),
    "nothing is learnt there": mutant(_LOOP, _WHOLE, ("        loss.backward()\n", "")),
}  # fmt: skip
FAILS = {
    "in a line of its own": mutant(_LOOP, _WHOLE),
    "beside others, and cast": mutant(
        _LOOP,
        _WHOLE,
        ("        actions = actions.to(device)\n        mask = mask.to(device)\n", "        actions, mask = actions.cuda(), mask.float().cuda()\n"),
    ),
    "unpacked in a line of its own": mutant(
        _LOOP,
        _WHOLE,
        ("for timesteps, states, actions, mask in loader:\n", "for batch in loader:\n        timesteps, states, actions, mask = batch\n"),
    ),
}  # fmt: skip
