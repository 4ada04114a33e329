"""What is called the next is computed from what is now, though the next is there.

next_value = target(obs) in a function that is given obs and next_obs: the target of the critic, or of the actor, then bootstraps from the state that it judges. The
difference of the two says nothing about the action, and the program runs.

Fix: compute it from the next one.

Cannot see: names that do not say which is the next; models of the world, which compute the next from what is now and an action.

Bad:
    import torch

    def critic_loss(net, target, obs, action, reward, next_obs, done, gamma):
        with torch.no_grad():
            next_value = target(obs).max(1)[0]
            aim = reward + gamma * next_value * (1 - done)
        value = net(obs).gather(1, action).squeeze(1)
        print(next_obs.shape)
        return (value - aim).pow(2).mean()

Good:
    import torch

    def critic_loss(net, target, obs, action, reward, next_obs, done, gamma):
        with torch.no_grad():
            next_value = target(next_obs).max(1)[0]
            aim = reward + gamma * next_value * (1 - done)
        value = net(obs).gather(1, action).squeeze(1)
        return (value - aim).pow(2).mean()

Good (what is now was the next a moment ago):
    import torch

    def collect(env, policy, critic, obs, steps):
        for _ in range(steps):
            next_obs, reward, done, _ = env.step(policy(obs))
            obs = torch.as_tensor(next_obs)
        next_value = critic(obs)
        return next_value

Good (a model of the world):
    import torch

    def model_loss(dynamics, obs, action, next_obs):
        next_guess = dynamics(torch.cat([obs, action], dim=1))
        return (next_guess - next_obs).pow(2).mean()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Function, Index, bindings, is_test, mentions, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "next-made-of-now",
    "rl",
    "error",
    "",
    suspects=("another-loss-fault",),
    claims=("fails-silently",),
    look="print both states, and what is computed from each",
)
_HELD = re.compile(rb"next_\w+[ \t]*(?::[^=\n]*)?=[^=\n]")
_CALLED = re.compile(r"^(?:self\.)?next_\w+$")
_NEXT = re.compile(r"next|new_|_new|future|_prime$|_p1$|_$", re.IGNORECASE)
_GUESSED = re.compile(r"pred|guess|hat|est|model|sim|imag", re.IGNORECASE)
_ACTION = re.compile(r"act|(?:^|_)[au](?:_|$)|control|torque|goal|skill|option", re.IGNORECASE)
_COMPUTED = ("call", "index", "attr")
_STATES = frozenset(
    [
        "obs",
        "observation",
        "observations",
        "state",
        "states",
        "s",
        "x",
        "features",
        "feat",
        "images",
        "frames",
        "input",
        "inputs",
    ]
)


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_HELD):
        if not is_test(function.path):
            for event in function.events:
                yield from _examined(function, event)


def _examined(function: Function, event: Event) -> Iterator[Finding]:
    targets = [one.text for one in event.targets if one.kind == "path" and _CALLED.match(one.text)]
    if (
        event.kind != "assign"
        or len(event.targets) != 1
        or not targets
        or event.value is None
        or event.value.kind not in _COMPUTED
    ):
        return
    names = [part.text for part in event.value.walk() if part.kind == "path"]
    states = [
        name
        for name in names
        if name in _STATES and _is_there(function, f"next_{name}") and f"next_{name}" not in targets
    ]
    path, line = function.path, event.line
    if any(_NEXT.search(name) for name in names if _is_there(function, name)):
        if any(_is_there(function, name) and name.removeprefix("next_") in _STATES for name in names):
            yield SAY.passed(path, line, f"{targets[0]} is computed from the next")
        return
    if not states or _GUESSED.search(targets[0]) or any(map(_ACTION.search, names)):
        return
    if any(
        mentions(one.value, [f"next_{states[0]}"])
        for one in bindings(function).get(states[0], ())
        if one.value is not None
    ):
        yield SAY.passed(path, line, f"{states[0]} becomes the next before")
        return
    chain = (Link(path, line, f"{targets[0]} = {written(event.value)}"),)
    message = (
        f"{targets[0]} = {written(event.value)} at {path}:{line} is computed from {states[0]}, though next_{states[0]} is there: what follows from it knows nothing of the "
        f"step between; is next_{states[0]} meant?"
    )
    yield SAY.fail(path, line, message, chain, "medium")


def _is_there(function: Function, name: str) -> bool:
    return function.parameter(name) is not None or bool(bindings(function).get(name))
