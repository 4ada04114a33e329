"""The advantage that weighs the log-probability of an action lets the gradient through to the value network.

advantage = returns - values is a number that says how good an action was. In log_prob * advantage it has to be one: where it
still hangs on the network that gave the values, the loss of the policy also trains that network, to call likely actions bad and
unlikely ones good, against its own loss.

Fix: advantage.detach() in the loss of the policy, or values computed under torch.no_grad().

Cannot see: values and log-probabilities that were kept in lists, advantages that are made elsewhere and not resolved.

Bad:
    import torch

    def train(rollouts):
        actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
        for states, actions, returns in rollouts:
            advantage = returns - critic(states).squeeze(-1)
            log_prob = torch.distributions.Categorical(logits=actor(states)).log_prob(actions)
            loss = -(log_prob * advantage).mean() + advantage.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Good:
    import torch

    def train(rollouts):
        actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
        for states, actions, returns in rollouts:
            advantage = returns - critic(states).squeeze(-1)
            log_prob = torch.distributions.Categorical(logits=actor(states)).log_prob(actions)
            loss = -(log_prob * advantage.detach()).mean() + advantage.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Spot, Term, factors, terms, trained_losses, written
from trainsleuth.finding import Finding, Link

from ._policy import is_gain, log_prob_sign
from ._verdicts import Verdicts

SAY = Verdicts(
    "live-advantage",
    "rl",
    "warning",
    "",
    suspects=("target-not-stopped",),
    look="compute the loss of the policy with advantage.detach() and compare the gradients of the value network",
    claims=("rl-from-scratch",),
)


def check(index: Index) -> Iterator[Finding]:
    seen: set[Expr] = set()
    for loss, start in trained_losses(index):
        for term in terms(index, loss, start):
            for gain in _gains(index, term):
                if gain not in seen:
                    seen.add(gain)
                    yield _examined(index, term, gain, loss, start)


def _gains(index: Index, term: Term) -> Iterator[Expr]:
    """What is multiplied with a log-probability: advantage, (returns - values)."""
    multiplied = list(factors(term.expr))
    gains = [one for one in multiplied if _is_advantage(one)]
    if gains and any(log_prob_sign(index, one, term.spot) for one in multiplied if one not in gains):
        yield from gains


def _is_advantage(expr: Expr) -> bool:
    if expr.kind == "unary" and expr.text == "-":
        return _is_advantage(expr.parts[0])
    return is_gain(expr.parts[0] if expr.kind == "binary" and expr.text == "-" else expr)


def _examined(index: Index, term: Term, gain: Expr, loss: Expr, start: Spot) -> Finding:
    path, line = term.spot.function.path, gain.line
    values = index.values.of(gain, term.spot)
    grads = {value.grad for value in values}
    if grads != {"live"}:
        unknown = next((value.why for value in values if value.grad == "unknown"), "")
        if unknown or not values:
            return SAY.open(path, line, f"whether a gradient passes through {written(gain)} is not resolved: {unknown}")
        return SAY.passed(path, line, f"no gradient passes through {written(gain)}")
    chain = (
        Link(path, line, f"{written(gain)} can receive a gradient"),
        Link(path, term.expr.line, f"{written(term.expr)} multiplies it with a log-probability"),
        Link(start.function.path, start.line, f"{written(loss)} is minimised"),
    )
    message = (
        f"{written(gain)} at {path}:{line} weighs a log-probability and still hangs on the network that gave the values, so the loss of "
        f"the policy trains that network too, against its own; expected {_stopped(gain)}."
    )
    return SAY.fail(path, line, message, chain)


def _stopped(gain: Expr) -> str:
    shown = written(gain)
    return f"{shown}.detach()" if gain.kind == "path" else f"({shown}).detach()"
