"""The target of a value network moves with the gradient: the next state's value is not stopped.

In (reward + gamma * V(next) - V(state))^2 the first part is a target, a number to reach. When it is computed
by the network that is trained and is not stopped, half of the gradient pulls the target towards the
prediction: it still falls, and converges to something else, slowly or not at all.

Fix: compute the target under torch.no_grad(), or detach() it, or take it from a frozen target network.

It is a note: in public code the target was mostly stopped further on, or only the best action was taken from it.

Cannot see: networks called under other names, targets that are built elsewhere and not resolved. Residual
gradient methods do this on purpose.

Bad:
    import torch.nn.functional as F

    def learn(q, states, actions, rewards, next_states, done, optimizer, gamma=0.99):
        now = q(states).gather(1, actions)
        best = rewards + gamma * (1 - done) * q(next_states).max(1, keepdim=True)[0]
        loss = F.mse_loss(now, best)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (a critic in a class):
    class Agent:
        def update(self, s, r, s2, done):
            value = self.critic(s)
            delta = r + self.gamma * self.critic(s2) * (1 - done) - value
            self.optimizer.zero_grad()
            delta.pow(2).mean().backward()
            self.optimizer.step()

Good:
    import torch
    import torch.nn.functional as F

    def learn(q, states, actions, rewards, next_states, done, optimizer, gamma=0.99):
        now = q(states).gather(1, actions)
        with torch.no_grad():
            best = rewards + gamma * (1 - done) * q(next_states).max(1, keepdim=True)[0]
        loss = F.mse_loss(now, best)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good (a target network of its own, or stopped at the loss):
    import torch.nn.functional as F

    class Agent:
        def update(self, s, a, r, s2, done):
            best = r + self.gamma * self.target(s2).max(1)[0] * (1 - done)
            again = r + self.gamma * self.q(s2).max(1)[0] * (1 - done)
            now = self.q(s).gather(1, a)
            loss = F.mse_loss(now, best) + F.mse_loss(now, again.detach())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    MODULE_BODY,
    Expr,
    Function,
    Index,
    Instance,
    Spot,
    Unknown,
    bindings,
    ingredients,
    is_module,
    trained_losses,
    written,
)
from trainsleuth.facts.words import words
from trainsleuth.finding import Finding, Link

from ._bootstrap import Bootstrap, bootstraps, bootstraps_in
from ._verdicts import Verdicts

SAY = Verdicts(
    "live-bootstrap-target",
    "rl",
    "note",
    "",
    suspects=("target-not-stopped",),
    look="compute the target without gradients and compare the return after the same number of steps",
    claims=("rl-from-scratch",),
)


def check(index: Index) -> Iterator[Finding]:
    if not any(True for _ in bootstraps(index)):
        return
    seen: set[Expr] = set()
    for loss, start in trained_losses(index):
        parts = tuple(ingredients(index, loss, start, through_cuts=False))
        for expr, spot in parts:
            for found in bootstraps_in(spot.function, spot.position, expr):
                if found.expr is expr and expr not in seen:
                    seen.add(expr)
                    yield _examined(index, found, spot, parts, loss)


def _examined(index: Index, found: Bootstrap, spot: Spot, parts: tuple[tuple[Expr, Spot], ...], loss: Expr) -> Finding:
    """A call of the trained network on the way through the target, and another one beside it."""
    path, line = spot.function.path, found.expr.line
    inside = {call for factor in found.ahead for call, _ in ingredients(index, factor, spot, through_cuts=False)} | {
        found.expr
    }
    ahead = [(call, at) for call, at in parts if call in inside and _is_network(index, call, at)]
    beside = [(call, at) for call, at in parts if call not in inside and _is_network(index, call, at)]
    if any("volatile" in name for name in bindings(spot.function)) or _mentions_volatile(parts):
        return SAY.passed(path, line, "its inputs are volatile: torch before 0.4 kept no graph of them")
    for call, at in ahead:
        for other, place in beside:
            if call.callee == other.callee and at.function is place.function and not _same_input(call, other):
                return _failure(found, spot, call, at, other)
    return SAY.passed(path, line, f"no network that {written(loss)} trains gives {written(found.expr)}")


def _mentions_volatile(parts: tuple[tuple[Expr, Spot], ...]) -> bool:
    return any(part.kind == "keyword" and part.text == "volatile" for expr, _ in parts for part in expr.parts)


def _is_network(index: Index, call: Expr, spot: Spot) -> bool:
    """A call of a module, or of an attribute or variable that is not known to be anything else."""
    if call.kind != "call" or not call.callee or not call.arguments or call.last in _TENSOR_METHODS:
        return False
    things = index.objects.of(call.parts[0], spot)
    if any(not isinstance(thing, Unknown) for thing in things):
        return all(
            isinstance(thing, Unknown) or (isinstance(thing, Instance) and is_module(index, thing)) for thing in things
        )
    head = call.callee.partition(".")[0]
    return head == spot.function.self_name or head in _variables(index, spot.function)


def _variables(index: Index, function: Function) -> set[str]:
    """Parameters and variables of a function and of those that it is written in."""
    outer = index.files[function.path].functions.get(function.outer) if function.outer else None
    own = {name for name, found in bindings(function).items() if found[0].kind != "define"}
    own |= {parameter.name for parameter in function.parameters}
    return own | _variables(index, outer) if outer is not None and outer.name != MODULE_BODY else own


def _same_input(one: Expr, other: Expr) -> bool:
    return [written(part) for part in one.parts[1:]] == [written(part) for part in other.parts[1:]]


_TENSOR_METHODS = words(
    """
    gather max min mean sum squeeze unsqueeze view reshape pow clamp to detach float long int cuda cpu log_prob
    sample append get expand repeat size index_select masked_fill where type
    """
)


def _failure(found: Bootstrap, spot: Spot, call: Expr, at: Spot, other: Expr) -> Finding:
    path, line = spot.function.path, found.expr.line
    chain = (
        Link(at.function.path, other.line, f"{written(other)} is the prediction"),
        Link(at.function.path, call.line, f"{written(call)} is part of the target, and can receive a gradient"),
        Link(path, line, "the target is not stopped"),
    )
    message = (
        f"The target {written(found.expr)} at {path}:{line} comes from {call.callee}, the network that is trained, and "
        "is not stopped: the gradient also moves the target; expected detach() or torch.no_grad()."
    )
    return SAY.fail(path, line, message, chain)
