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

from trainsleuth.facts import Expr, Function, Index, bindings, is_test, mentions, written
from trainsleuth.facts.words import words
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
_STATES = words("obs observation observations state states s x features feat images frames input inputs")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_HELD):
        if not is_test(function.path):
            for event in function.events:
                if event.kind == "assign" and len(event.targets) == 1 and event.value is not None:
                    yield from _examined(function, event.line, event.targets[0], event.value)


def _examined(function: Function, line: int, target: Expr, value: Expr) -> Iterator[Finding]:
    name, path = target.text, function.path
    if target.kind != "path" or not _CALLED.match(name) or value.kind not in _COMPUTED:
        return
    read = [part.text for part in value.walk() if part.kind == "path"]
    there = [one for one in read if _is_there(function, one)]
    if any(map(_NEXT.search, there)):
        if any(one.removeprefix("next_") in _STATES for one in there):
            yield SAY.passed(path, line, f"{name} is computed from the next")
        return
    pairs = ((one, f"next_{one}") for one in read if one in _STATES)
    now, after = next((pair for pair in pairs if pair[1] != name and _is_there(function, pair[1])), ("", ""))
    if not now or _GUESSED.search(name) or any(map(_ACTION.search, read)):
        return
    if any(mentions(one.value, [after]) for one in bindings(function).get(now, ())):
        yield SAY.passed(path, line, f"{now} becomes the next before")
        return
    message = (
        f"{name} = {written(value)} at {path}:{line} is computed from {now}, though {after} is there: what follows from it knows nothing of the "
        f"step between; is {after} meant?"
    )
    yield SAY.fail(path, line, message, (Link(path, line, f"{name} = {written(value)}"),), "medium")


def _is_there(function: Function, name: str) -> bool:
    return function.parameter(name) is not None or bool(bindings(function).get(name))
