"""The target of a finished episode counts rewards that can never come.

reward + gamma * value(next state) is right while the episode goes on. After its last step the next state is
a reset or a dead end, and its value must not count: without the factor (1 - done) values leak from one
episode into another and grow without a limit that the rewards would set.

Multiplied with done itself in place of (1 - done), it counts after the end alone.

Fix: reward + gamma * value * (1 - done), with done for true ends only: a time limit is no end.

Cannot see: programs that never hold a flag of the end; tasks without ends are right without one. It speaks
only where such a flag is at hand and not used. Where no network is asked for the value of the next state, as in a sum
of rewards that may be one whole episode, it is a note.

Bad:
    import torch

    def learn(q, target, batch, optimizer, gamma=0.99):
        states, actions, rewards, next_states, dones = batch
        with torch.no_grad():
            best = rewards + gamma * target(next_states).max(1)[0]
        loss = (q(states).gather(1, actions).squeeze(1) - best).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (returns of several episodes in one buffer):
    class Buffer:
        def returns(self, gamma):
            out, running = [], 0.0
            for reward, done in zip(reversed(self.rewards), reversed(self.dones)):
                running = reward + gamma * running
                out.insert(0, running)
            return out

Good:
    import torch

    def learn(q, target, batch, optimizer, gamma=0.99):
        states, actions, rewards, next_states, dones = batch
        with torch.no_grad():
            best = rewards + gamma * target(next_states).max(1)[0] * (1 - dones)
        loss = (q(states).gather(1, actions).squeeze(1) - best).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (multiplied with the end itself):
    import torch

    def learn(q, target, batch, optimizer, gamma=0.99):
        states, actions, rewards, next_states, dones = batch
        with torch.no_grad():
            best = rewards + gamma * dones * target(next_states).max(1)[0]
        loss = (q(states).gather(1, actions).squeeze(1) - best).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good (the end is handled elsewhere in the function, or there is one episode only):
    def returns(rewards, gamma):
        out, running = [], 0.0
        for reward in reversed(rewards):
            running = reward + gamma * running
            out.insert(0, running)
        return out

    def values(target, reward, next_state, done, gamma):
        ahead = target(next_state)
        ahead[done] = 0.0
        return reward + gamma * ahead
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, bindings, written
from trainsleuth.finding import Finding, Link

from ._bootstrap import Bootstrap, bootstraps
from ._verdicts import Verdicts

SAY = Verdicts(
    "bootstrap-across-end",
    "rl",
    "error",
    "step_trace",
    suspects=("values-cross-episodes",),
    claims=("truncation-is-not-termination",),
    forms={"unused": "the end is not looked at", "turned": "multiplied with the end itself"},
)
_END = re.compile(
    r"(^|_)(dones?|terminals?|terminateds?|is_(done|end|terminal)|end_of_episode|non_?terminals?)(_|$)|^d$"
)
_IS_END = re.compile(r"^(?!non|not|no_)(?:\w+_)?(?:dones?|terminals?|terminated|is_done|is_terminal)$", re.IGNORECASE)
_TURNS = re.compile(  # somewhere a flag of the end is turned into one of going on, or what is stored is turned
    rb"1(?:\.0*)? *- *[\w.(\[\"']*(?:done|termin|end|over|finish|dead)|(?:not|~) *[\w.(\[]*(?:done|termin|end|over|finish|dead)"
    rb"|0(?:\.0*)? if [\w.]*(?:done|termin|end|over|finish|dead)|(?:done|termin|over|finish)\w* else 1|logical_not\([\w.]*(?:done|termin)"
    rb"|\.logical_not\(|where\([^\n]*(?:done|termin)|0(?:\.0*)? if \w+ else 1|1(?:\.0*)? *- *\w+\["
    rb"|(?:push|append|add|store|record|insert|remember|put)\w*\([^\n]*(?:1(?:\.0*)? *- *\w|\bnot \w|0(?:\.0*)? if |else 1)"
)
_STATE = re.compile(r"state|obs|^(s|ns|s2|s_|s_next|sp|s_?prime)$", re.IGNORECASE)
_LEARNING = ("torch", "tensorflow", "jax", "flax", "keras", "pytorch_lightning", "lightning")
_OTHER_END = re.compile(
    r"done|termin|mask|final|alive|continu|absorb|trunc|(^|_)(ends?|ended|is_last|not_?over|d)(_|$)", re.IGNORECASE
)


def check(index: Index) -> Iterator[Finding]:
    for found in bootstraps(index):
        yield _examined(index, found)


def _examined(index: Index, found: Bootstrap) -> Finding:
    path, line, function = found.function.path, found.expr.line, found.function
    if _is_table(index, found):
        return SAY.passed(path, line, "a table of values: that of a last state is never updated and stays zero")
    turned = next((factor for factor in found.ahead if factor.kind == "path" and _IS_END.match(factor.last)), None)
    if turned is not None and not any(True for _ in index.files_holding(_TURNS)):
        message = (
            f"{written(found.expr)} at {path}:{line} multiplies the value of the next state with {turned.text} itself: it counts where the episode has ended, and "
            f"nowhere else; expected a factor (1 - {turned.text}), unless {turned.text} is 1 while the episode goes on."
        )
        return SAY.fail(
            path,
            line,
            message,
            (Link(path, line, f"{turned.text} is a factor of what comes next"),),
            "medium",
            form="turned",
        )
    used = next((name for name in _read(function, found.expr) if _OTHER_END.search(name)), "")
    if used:
        return SAY.passed(path, line, f"{used} is used in {function.name}")
    if _is_told_by_none(function):
        return SAY.passed(path, line, f"{function.name} asks whether there is a next state")
    name, at = next(_flags(function), ("", 0))
    if not name:
        return SAY.open(path, line, f"no flag of the episode's end is at hand in {function.name}")
    chain = (
        Link(path, at, f"{name} is at hand and never used"),
        Link(path, line, f"{written(found.expr)} goes on past the end"),
    )
    message = (
        f"{written(found.expr)} at {path}:{line} counts the value of the next state also where the episode has "
        f"ended: {name} (line {at}) is never used in {function.name}; expected a factor (1 - {name})."
    )
    if not _calls_network(found):
        said = f"{message} If {function.name} is only given one whole episode, none is needed."
        return SAY.fail(path, line, said, chain, "low", "note")
    return SAY.fail(path, line, message, chain, form="unused")


def _is_table(index: Index, found: Bootstrap) -> bool:
    """V[next_state], max(q[state]) in a file that knows no networks."""
    if any(entry.module.partition(".")[0] in _LEARNING for entry in index.files[found.function.path].imports):
        return False
    parts = list(_ahead(found))
    keys = (key.last for part in parts if part.kind == "index" for inside in part.parts[1:] for key in inside.walk())
    return any(_STATE.search(key) for key in keys) or any(part.callee == "max" for part in parts)


def _ahead(found: Bootstrap) -> Iterator[Expr]:
    """What stands for the value of what comes next, and what its names were given in the function."""
    for factor in found.ahead:
        yield from factor.walk()
        for path in [part.text for part in factor.walk() if part.kind == "path"]:
            for binding in bindings(found.function).get(path, ()):
                yield from binding.value.walk() if binding.value is not None else ()


def _calls_network(found: Bootstrap) -> bool:
    """target(next_state): surely the value of one state, and not a return that is summed up."""
    return any(
        part.kind == "call" and any(_STATE.search(inner.last) for given in part.parts[1:] for inner in given.walk())
        for part in _ahead(found)
    )


def _is_told_by_none(function: Function) -> bool:
    """Past the end there is no next state: `next_state is not None` is the flag."""
    return any(
        part.kind == "compare" and any(one.text == "None" for one in part.parts) and _STATE.search(part.parts[0].last)
        for event in function.events
        if event.value is not None
        for part in event.value.walk()
    )


def _flags(function: Function) -> Iterator[tuple[str, int]]:
    """Names that hold the end of an episode: parameters, and what is bound."""
    for parameter in function.parameters:
        if _END.search(parameter.name):
            yield parameter.name, function.line
    for name, found in bindings(function).items():
        if _END.search(name) and "." not in name:
            yield name, function.events[found[0].position].line


def _read(function: Function, found: Expr) -> Iterator[str]:
    """Names that the function reads, except where one flag of the end is only made into another."""
    for event in function.events:
        parts = [*event.targets, *((event.value,) if event.value is not None else ())]
        names = (part for target in event.targets if target.kind != "index" for part in target.walk())
        bound = [part.text for part in names if part.kind == "path"]
        renames = event.kind in ("assign", "for") and any(_OTHER_END.search(name) for name in bound)
        if renames and not any(part is found for root in parts for part in root.walk()):
            continue
        for root in parts:
            for part in root.walk():
                if part.kind in ("path", "attr", "string") and (root is event.value or root.kind == "index"):
                    yield from part.text.split(".")
