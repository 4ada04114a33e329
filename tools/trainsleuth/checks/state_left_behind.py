"""An agent acts on the first observation of the episode for ever.

next_obs, reward, done = env.step(action), and no obs = next_obs before the next round: every action is chosen for the observation that
env.reset() gave, and every transition that is stored begins with it. Nothing fails, and nothing about the way between is learned.

Fix: obs = next_obs at the end of each round.

Cannot see: states that are attributes, or that another function hands on; names that do not say which is the next.

Bad:
    import torch

    def collect(env, policy, memory, steps):
        obs = env.reset()
        for _ in range(steps):
            action = policy(torch.as_tensor(obs)).argmax().item()
            next_obs, reward, done, _ = env.step(action)
            memory.append((obs, action, reward, next_obs, done))
            if done:
                break

Good:
    import torch

    def collect(env, policy, memory, steps):
        obs = env.reset()
        for _ in range(steps):
            action = policy(torch.as_tensor(obs)).argmax().item()
            next_obs, reward, done, _ = env.step(action)
            memory.append((obs, action, reward, next_obs, done))
            obs = env.reset() if done else next_obs

Good (one action is repeated over several frames):
    import torch

    def skip(env, policy, memory, steps, frames):
        state = env.reset()
        for _ in range(steps):
            action = policy(torch.as_tensor(state)).argmax().item()
            total = 0.0
            for _ in range(frames):
                next_state, reward, done, _ = env.step(action)
                total += reward
            memory.append((state, action, total, next_state, done))
            state = next_state
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Function, Index, bindings, is_test, mentions, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "state-left-behind",
    "rl",
    "error",
    "",
    suspects=("another-loop-fault",),
    claims=("fails-silently",),
    look="print the observation that the action is chosen for, in two rounds",
)
_STEPS = re.compile(rb"\.step\(")
_TRIES = re.compile(r"^(?:deepcopy|restore\w*|set_state|load_state)$")  # several actions from one state
_NEXT = re.compile(r"^(?:next_?|new_|n_)(\w+)$|^(\w+?)_?(?:next|new|prime|_)$")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_STEPS):
        for event in function.events if not is_test(function.path) else ():
            if (pair := _next_of(event)) and event.block.loops:
                yield from _examined(function, event, *pair)


def _next_of(event: Event) -> tuple[str, str] | None:
    """("next_obs", "obs") of next_obs, reward, done = env.step(action)."""
    value = event.value
    if event.kind != "assign" or value is None or value.kind != "call" or value.last != "step" or not event.targets:
        return None
    given = event.targets[0].parts if event.targets[0].kind == "tuple" else ()
    first = given[0] if len(given) > 2 else None  # a cell gives back two: its output and its state
    found = _NEXT.match(first.text) if first is not None and first.kind == "path" else None
    return (found[0], found[1] or found[2]) if found is not None else None


def _examined(function: Function, step: Event, after: str, state: str) -> Iterator[Finding]:
    path, loop = function.path, step.block.loops[-1]
    rounds = [event for event in function.events if loop in event.block.loops]
    reads = [event for event in rounds if mentions(event.value, [state])]
    found = bindings(function).get(state, ())
    if not found or not reads:
        return
    is_given = step.value is not None and any(one.text == state for one in step.value.arguments)
    if is_given or any(_TRIES.search(call.last) for one in rounds for call in one.calls):
        yield SAY.passed(path, step.line, f"each round may begin with {state} on purpose")
        return
    if any(loop in function.events[one.position].block.loops for one in found) or any(
        _writes(one, state) for one in rounds
    ):
        yield SAY.passed(path, step.line, f"{state} gets another value in the loop")
        return
    first = function.events[found[0].position]
    chain = (
        Link(path, first.line, f"{state} is given its value"),
        Link(path, reads[0].line, f"{state} is read in each round"),
        Link(path, step.line, f"{after} is what comes next, and {state} stays"),
    )
    message = (
        f"{state} is read in each round of the loop at {path}:{function.loops[loop].line} and stays as it was at {path}:{first.line}: {written(step.value, 40) if step.value else ''} at "
        f"{path}:{step.line} gives {after}, which never becomes {state}; expected {state} = {after} at the end of the round."
    )
    yield SAY.fail(path, step.line, message, chain)


def _writes(event: Event, name: str) -> bool:
    """Into it: state[:] = next_state, state.copy_(next_state), state.update()."""
    places = [target for target in event.targets if target.kind in ("index", "attr") and mentions(target, [name])]
    called = [call for call in event.calls if call.receiver is not None and call.receiver.text == name]
    return bool(places) or any(
        call.last.endswith("_") or call.last in ("update", "append", "fill", "put") for call in called
    )
