"""A step of an agent is stored with a state from another moment: the one that comes next as both, or the one after the action.

state = next_state above the line that stores both makes the two of them one: what the value of the next state is compared with is the
value of itself. And where env.step() has already given the observation its next value, a list of observations gets what came of the action, and
the action is learned from what it led to. The program runs, and the agent learns next to nothing, or a copy of what it sees.

Question to answer: which state did the action start from, and is it the one that is stored?

Fix: store first, and move on behind it.

Cannot see: states that are moved on in another function; buffers that shift their rows by design (insert(obs, action)).

Bad:
    import torch

    def rollout(env, agent, memory, steps):
        state = env.reset()
        for _ in range(steps):
            action = agent.act(state)
            next_state, reward, done, _ = env.step(action)
            state = next_state
            memory.push(state, action, reward, next_state, done)

Bad (what the action led to):
    import torch

    def collect(env, policy, steps):
        observations, actions = [], []
        obs = env.reset()
        for _ in range(steps):
            action = policy(torch.as_tensor(obs))
            obs, reward, done, _ = env.step(action)
            observations.append(obs)
            actions.append(action)
        return observations, actions

Good:
    import torch

    def rollout(env, agent, memory, steps):
        state = env.reset()
        for _ in range(steps):
            action = agent.act(state)
            next_state, reward, done, _ = env.step(action)
            memory.push(state, action, reward, next_state, done)
            state = next_state

Good (what the action was chosen from):
    import torch

    def collect(env, policy, steps):
        observations, actions = [], []
        obs = env.reset()
        for _ in range(steps):
            observations.append(obs)
            action = policy(torch.as_tensor(obs))
            actions.append(action)
            obs, reward, done, _ = env.step(action)
        return observations, actions
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, bindings, is_test
from trainsleuth.facts.records import Block
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "transition-of-one-state",
    "rl",
    "error",
    "",
    suspects=("targets-misaligned-with-inputs",),
    claims=("fails-silently",),
    look="print the state that is stored beside the one that the action was chosen from: they are to be equal",
    forms={"same": "the next state as both", "late": "what the action led to"},
)
_STEPS = re.compile(rb"\.step\(")
_NEXT = (
    re.compile(r"^(?:next|new|nxt|n)_(.+)$"),
    re.compile(r"^(.+?)_?(?:next|new|prime|_|2)$"),
    re.compile(r"^(.+)_$"),
)
_KEEPS = re.compile(
    r"^(?:push|append|add|store|remember|memori[sz]e|save|record|put|observe)(?:_|$)|(?:transition|experience|memory)$",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"target|goal|label|angle|posit|next|new|after|post|frame|image|img|video|render|screen|hist|traj|path|log|stat|record|plot",
    re.IGNORECASE,
)
_IS_STATE = re.compile(r"state|obs|feature|frame|^(?:s|o|ob|x)$", re.IGNORECASE)
_COPIES = ("copy", "clone", "deepcopy")
_OF_ENVIRONMENT = re.compile(r"env|game|simulator|task", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_STEPS):
        if not is_test(function.path) and "step" in function.called:
            yield from _moved_on(function)
            yield from _stored_late(function)


def _moved_on(function: Function) -> Iterator[Finding]:
    """state = next_state, and the two of them stored further on."""
    for position, event in enumerate(function.events):
        names = _moves(event)
        if names is None:
            continue
        stored = _stored_both(function, position, *names)
        if stored is None:
            yield SAY.passed(function.path, event.line, f"{names[0]} moves on behind what is stored")
            continue
        (state, following), path = names, function.path
        chain = (
            Link(path, event.line, f"{state} becomes {following}"),
            Link(path, stored.line, "both are stored, and are one"),
        )
        message = (
            f"{state} is {following} from {path}:{event.line} on, and {path}:{stored.line} stores the two as the state before and after the step: they are "
            "the same in every row; expected the state that the action was chosen from."
        )
        yield SAY.fail(path, stored.line, message, chain, form="same")


def _moves(event: Event) -> tuple[str, str] | None:
    """(state, next state) of `state = next_state`."""
    if event.kind != "assign" or event.value is None or len(event.targets) != 1 or event.targets[0].kind != "path":
        return None
    value = event.value
    if value.kind == "call" and value.last in _COPIES:
        value = value.arguments[0] if value.arguments else value.receiver or value
    state, following = event.targets[0].text, value.text
    return (state, following) if value.kind == "path" and _is_next(following, state) else None


def _is_next(following: str, state: str) -> bool:
    after, before = following.rpartition(".")[2], state.rpartition(".")[2]
    is_state = bool(_IS_STATE.search(before))
    return is_state and after != before and any((met := form.match(after)) and met[1] == before for form in _NEXT)


def _stored_both(function: Function, position: int, state: str, following: str) -> Event | None:
    """The statement that stores both behind this one, before either of them is given another value."""
    block = function.events[position].block
    for event in function.events[position + 1 :]:
        if not _is_within(event.block, block):
            return None
        if event.targets and {state, following} & {part.text for target in event.targets for part in target.walk()}:
            return None
        if "." in following and any(
            call.callee.startswith(f"{function.self_name}.") and call.callee.count(".") == 1 for call in event.calls
        ):
            return None  # a method may step
        if any(_KEEPS.search(call.last) and {state, following} <= _given(call) for call in event.calls):
            return event
    return None


def _is_within(inner: Block, outer: Block) -> bool:
    loops, arms = outer.loops, outer.branches
    return inner.loops[: len(loops)] == loops and inner.branches[: len(arms)] == arms


def _given(call: Expr) -> set[str]:
    """The names that are given as they are, or as an array: (state, action), torch.tensor(state), [state]."""
    return {part.text for argument in call.parts[1:] for part in argument.walk() if part.kind == "path"}


def _stored_late(function: Function) -> Iterator[Finding]:
    """obs, ... = env.step(action), and behind it obs and action into lists of the same step."""
    for position, event in enumerate(function.events):
        stepped = _stepped(event)
        if stepped is None or not event.block.loops:
            continue
        state, action = stepped
        if not _chosen_from(function, position, state, action):
            continue
        states, actions = (_appended(function, position, name) for name in (state, action))
        early = {kept for one, kept in states if function.events.index(one) < position} | _shifted(function, event)
        late = [(one, kept) for one, kept in states if kept not in early and not _is_of_next(function, kept)]
        if not late or not actions:
            yield SAY.passed(function.path, event.line, f"{state} is kept before the step, or not at all")
            continue
        (kept_at, kept), path = late[0], function.path
        (action_at, action_list), *_ = actions
        chain = (
            Link(path, event.line, f"{state} becomes what the step gives"),
            Link(path, kept_at.line, f"{kept} gets it"),
            Link(path, action_at.line, f"{action_list} gets the action that led to it"),
        )
        message = (
            f"{kept} at {path}:{kept_at.line} gets {state} behind {path}:{event.line}, where the step has already replaced it, and {action_list} gets "
            f"{action}, which was chosen from the {state} before: the rows of the two are one step apart. Is the state that the action led to meant?"
        )
        yield SAY.fail(path, kept_at.line, message, chain, "medium", form="late")


def _stepped(event: Event) -> tuple[str, str] | None:
    """(state, action) of `state, reward, ... = env.step(action)`."""
    call = event.value
    if event.kind != "assign" or call is None or call.kind != "call" or call.last != "step" or len(event.targets) != 1:
        return None
    target = event.targets[0]
    state = target.parts[0] if target.kind in ("tuple", "list") and len(target.parts) > 3 else None
    if state is None or state.kind != "path" or not call.arguments or not _OF_ENVIRONMENT.search(call.callee):
        return None
    action = next((part for part in call.arguments[0].walk() if part.kind == "path"), None)
    return (state.text, action.text.partition(".")[0]) if action is not None else None


def _chosen_from(function: Function, position: int, state: str, action: str) -> bool:
    """The action is computed from the state in the same round, before the step."""
    loops = function.events[position].block.loops
    made = {state}
    for event in function.events[:position]:
        if event.kind == "assign" and event.block.loops[: len(loops)] == loops and event.value is not None:
            if made & {
                part.text.partition(".")[0] if part.text not in made else part.text
                for part in event.value.walk()
                if part.kind == "path"
            }:
                made.update(part.text for target in event.targets for part in target.walk() if part.kind == "path")
    return action in made - {state}


def _appended(function: Function, position: int, name: str) -> list[tuple[Event, str]]:
    """(statement, list) for each list that gets this thing alone in the round."""
    loops = function.events[position].block.loops
    found = []
    for event in function.events:
        if event.block.loops[: len(loops)] == loops and event.kind == "expression":
            for call in event.calls:
                if (
                    call.last == "append"
                    and len(call.arguments) == 1
                    and call.arguments[0].kind != "index"
                    and _given(call) == {name}
                ):
                    found.append((event, call.callee.rpartition(".")[0]))
    return found


def _shifted(function: Function, stepped: Event) -> set[str]:
    """Lists that get something outside the round as well, as the first state, or of which one end is left off later on."""
    loops = stepped.block.loops
    found: set[str] = set()
    for event in function.events:
        if event.block.loops[: len(loops)] != loops:
            found.update(
                call.callee.rpartition(".")[0] for call in event.calls if call.last in ("append", "extend", "insert")
            )
        for part in event.value.walk() if event.value is not None else ():
            if (
                part.kind == "index"
                and part.parts[0].kind == "path"
                and any(one.kind == "slice" for one in part.parts[1:])
            ):
                found.add(part.parts[0].text)
    return found


def _is_of_next(function: Function, kept: str) -> bool:
    """By its name; or observations = [env.reset()]: then each state stands before its action after all."""
    if _SHOWN.search(kept):
        return True
    made = [one.value for one in bindings(function).get(kept, ()) if one.kind == "assign"]
    return not made or any(
        value is None or value.kind not in ("list", "call") or bool(value.kind == "list" and value.parts)
        for value in made
    )
