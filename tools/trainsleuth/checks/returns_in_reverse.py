"""Discounted returns are computed from the last reward to the first and stay in that order.

R = reward + gamma * R runs backwards through an episode. What is appended on the way begins with the last step, so the return
of the last action meets the first one, unless the list is turned round afterwards or filled from its front. The gradient
then rewards actions for what happened before them.

Filled from its front over several episodes, a list begins with the last of them, so that the episodes too have to be gone over
from the last.

Fix: returns.insert(0, R), or returns.reverse() behind the loop; for ep_rewards in reversed(batch_rewards).

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

Bad (the episodes in reverse):
    def rewards_to_go(batch_rewards, gamma):
        returns = []
        for ep_rewards in batch_rewards:
            R = 0
            for reward in reversed(ep_rewards):
                R = reward + gamma * R
                returns.insert(0, R)
        return returns

Good (the episodes from the last):
    def rewards_to_go(batch_rewards, gamma):
        returns = []
        for ep_rewards in reversed(batch_rewards):
            R = 0
            for reward in reversed(ep_rewards):
                R = reward + gamma * R
                returns.insert(0, R)
        return returns

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

from trainsleuth.facts import Expr, Function, Index, Loop, bindings, header_of, mentions, written
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
        elif loop is not None and (filled := _kept_in_front(found, loop)) is not None:
            yield _of_episodes(found, loop, *filled)


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


def _kept_in_front(found: Bootstrap, loop: Loop) -> tuple[Expr, Loop] | None:
    """(returns, the loop over episodes) of returns.insert(0, R) where the list is made in front of both loops."""
    function = found.function
    running = function.events[found.position].targets[0].text
    for event in function.events[found.position :]:
        for call in event.calls if loop.id in event.block.loops else ():
            given = call.arguments
            at_front = call.last == "insert" and len(given) == 2 and given[0].text == "0" and given[1].text == running
            kept = (
                call.receiver
                if at_front or (call.last == "appendleft" and [one.text for one in given] == [running])
                else None
            )
            made = bindings(function).get(kept.text, ()) if kept is not None else ()
            outer = event.block.loops[:-1]
            if kept is not None and any(_is_begun_anew(function, kept.text, one) for one in outer):
                return None
            if (
                kept is not None
                and outer
                and made
                and not set(outer) & set(function.events[made[0].position].block.loops)
            ):
                return kept, function.loops[outer[-1]]
    return None


def _is_begun_anew(function: Function, name: str, loop: int) -> bool:
    """The list is made, or emptied, in each round of the loop."""
    inside = [event for event in function.events if loop in event.block.loops]
    emptied = any(
        call.last == "clear" and call.receiver is not None and call.receiver.text == name
        for one in inside
        for call in one.calls
    )
    made = (function.events[one.position].block for one in bindings(function).get(name, ()) if one.kind == "assign")
    return emptied or any(loop in block.loops for block in made)


def _of_episodes(found: Bootstrap, loop: Loop, kept: Expr, outer: Loop) -> Finding:
    """What is put in front episode by episode ends with the first one, unless the episodes are gone over from the last."""
    path, line, source = found.function.path, found.expr.line, outer.source
    if outer.kind != "for" or source is None or not mentions(loop.source, _names(outer)):
        return SAY.open(path, line, "what the outer loop goes over is not resolved")
    if _turns(source) or _turned(found.function, loop, outer) is not None:
        return SAY.passed(path, line, f"{written(source)} begins with the last episode")
    chain = (
        Link(path, outer.line, f"{written(source)} begins with the first episode"),
        Link(path, line, f"{written(found.expr)} is put in front of all that {kept.text} holds"),
    )
    message = (
        f"{kept.text} at {path}:{line} is filled from its front over {written(source)}: the returns of the last episode come first, and meet the steps "
        f"of the first; expected reversed({written(source)}), or a list for each episode."
    )
    return SAY.fail(path, line, message, chain)


def _names(loop: Loop) -> list[str]:
    return [part.text for part in loop.target.walk() if part.kind == "path"] if loop.target is not None else []


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


def _turned(function: Function, *loops: Loop) -> Expr | None:
    """What else is turned round in the function, whatever it is."""
    headers = [header_of(function, loop) for loop in loops]
    for position, event in enumerate(function.events):
        for root in (*event.targets, event.value) if position not in headers else ():
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
