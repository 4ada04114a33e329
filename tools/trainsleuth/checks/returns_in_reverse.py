"""Discounted returns are computed from the last reward to the first and stay in that order.

R = reward + gamma * R runs backwards through an episode. What is appended on the way begins with the last step, so the return
of the last action meets the first one, unless the list is turned round afterwards or filled from its front. The gradient
then rewards actions for what happened before them.

Fix: returns.insert(0, R), or returns.reverse() behind the loop.

Cannot see: returns that are kept for another function, which may turn them.

Bad:
    import torch

    def finish_episode(rewards, log_probs, optimizer, gamma=0.99):
        R, returns = 0.0, []
        for r in rewards[::-1]:
            R = r + gamma * R
            returns.append(R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        loss = torch.stack([-log_prob * R for log_prob, R in zip(log_probs, returns)]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (by position, over several episodes):
    def advantages(rewards, dones, values, gamma):
        returns, R = [], 0
        for t in range(len(rewards) - 1, -1, -1):
            R = rewards[t] + gamma * R * (1 - dones[t])
            returns.append(R)
        return [one - value for one, value in zip(returns, values)]

Good:
    import torch

    def finish_episode(rewards, log_probs, optimizer, gamma=0.99):
        R, returns = 0.0, []
        for r in rewards[::-1]:
            R = r + gamma * R
            returns.insert(0, R)
        loss = torch.stack([-log_prob * R for log_prob, R in zip(log_probs, returns)]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good (turned round afterwards):
    def advantages(rewards, dones, values, gamma):
        returns, R = [], 0
        for reward, done in zip(reversed(rewards), reversed(dones)):
            R = reward + gamma * R * (1 - done)
            returns.append(R)
        returns = returns[::-1]
        return [one - value for one, value in zip(returns, values)]
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, Loop, header_of, mentions, written
from trainsleuth.finding import Finding, Link

from ._bootstrap import Bootstrap, bootstraps
from ._verdicts import Verdicts

SAY = Verdicts(
    "returns-in-reverse",
    "rl",
    "error",
    "",
    suspects=("targets-misaligned-with-inputs",),
    claims=("unit-test-resets",),
    look="print the rewards of one episode beside its returns: where gamma is 1 the first return is the sum of all rewards",
    sure=("",),
)
_TURNING = ("reversed", "reverse", "flip", "flipud", "fliplr")
_PAIRING = ("zip", "tensor", "Tensor", "FloatTensor", "as_tensor", "array", "stack", "cat", "enumerate")


def check(index: Index) -> Iterator[Finding]:
    for found in bootstraps(index):
        loop = _backwards(found)
        if loop is not None and (kept := _kept(found, loop)):
            yield _examined(found, loop, kept)


def _backwards(found: Bootstrap) -> Loop | None:
    """The loop from the last step to the first in which R is made of R."""
    function, event = found.function, found.function.events[found.position]
    running = event.targets[0].text if event.kind == "assign" and len(event.targets) == 1 else ""
    if not running or not event.block.loops or not any(mentions(factor, (running,)) for factor in found.ahead):
        return None
    loop = function.loops[event.block.loops[-1]]
    return loop if loop.kind == "for" and loop.source is not None and _turns(loop.source) else None


def _turns(expr: Expr) -> bool:
    """rewards[::-1], reversed(rewards), range(n - 1, -1, -1)"""
    for part in expr.walk():
        if part.kind == "call" and (
            part.last in _TURNING or (part.last == "range" and _is_minus_one(part.argument(2)))
        ):
            return True
        if (
            part.kind == "slice"
            and part.text.endswith(":_")
            and part.text.count(":") == 2
            and _is_minus_one(part.parts[-1])
        ):
            return True
    return False


def _is_minus_one(expr: Expr | None) -> bool:
    return expr is not None and written(expr) == "-1"


def _kept(found: Bootstrap, loop: Loop) -> Expr | None:
    """returns of returns.append(R), where nothing else is appended to another list in the loop."""
    running = found.function.events[found.position].targets[0].text
    inside = [event for event in found.function.events[found.position :] if loop.id in event.block.loops]
    appended = [call for event in inside for call in event.calls if call.last == "append" and len(call.arguments) == 1]
    if len(appended) != 1 or appended[0].arguments[0].text != running:
        return None
    return appended[0].receiver


def _examined(found: Bootstrap, loop: Loop, kept: Expr) -> Finding:
    function, name = found.function, kept.text
    path, line = function.path, found.expr.line
    if kept.kind != "path" or "." in name:
        return SAY.open(path, line, f"who reads {written(kept)} is not followed")
    if (turned := _turned(function, loop)) is not None:
        return SAY.passed(path, line, f"{written(turned)} turns something round at line {turned.line}")
    if (met := _met(function, loop, name)) is None:
        return SAY.open(path, line, f"nothing in {function.name} is seen to pair {name} with the steps")
    chain = (
        Link(path, loop.line, f"{written(loop.source)} begins at the last step" if loop.source is not None else ""),
        Link(path, line, f"{written(found.expr)} is appended to {name}"),
        Link(path, met.line, f"{written(met)} takes them in this order"),
    )
    message = (
        f"{name} at {path}:{line} holds the return of the last step first, and nothing turns it round before {written(met)} (line "
        f"{met.line}): the return of the last action meets the first; expected {name}.insert(0, ...) or {name}.reverse()."
    )
    return SAY.fail(path, line, message, chain)


def _turned(function: Function, loop: Loop) -> Expr | None:
    """What else is turned round in the function, whatever it is."""
    header = function.events[header_of(function, loop)]
    for event in function.events:
        for root in (*event.targets, event.value) if event is not header else ():
            for part in root.walk() if root is not None else ():
                if part.kind in ("call", "index") and _turns(part):
                    return part
    return None


def _met(function: Function, loop: Loop, name: str) -> Expr | None:
    """The first call behind the loop that takes the list as it is: zip(log_probs, returns), torch.tensor(returns)."""
    for event in function.events:
        for call in event.calls if event.line > loop.end_line else ():
            if call.last in _PAIRING and any(part.kind == "path" and part.text == name for part in call.arguments):
                return call
    return None
