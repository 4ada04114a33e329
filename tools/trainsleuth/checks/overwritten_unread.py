"""What a line computes is overwritten by a later one before anybody reads it.

target_q = torch.min(q1, q2), and then target_q = reward + (1 - done) * gamma: the second line was to read the first, and what the target
networks say is lost. Or two lines that were to go by two names go by one. Nothing complains; what is trained on is a part of
what was meant.

Question to answer: was the second line to read the first value, or the first line to have another name?

Fix: read it in the second line, give it a name of its own, or leave it out.

Cannot see: values that are overwritten in one arm of several, or in a later round of a loop; attributes.

Bad:
    import torch

    def update(batch, actor, critic_1, critic_2, gamma, optimizer, q):
        state, action, reward, after, done = batch
        target_q = torch.min(critic_1(after, actor(after)), critic_2(after, actor(after)))
        target_q = reward + ((1 - done) * gamma).detach()
        loss = (q(state, action) - target_q).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good:
    import torch

    def update(batch, actor, critic_1, critic_2, gamma, optimizer, q):
        state, action, reward, after, done = batch
        target_q = torch.min(critic_1(after, actor(after)), critic_2(after, actor(after)))
        target_q = reward + ((1 - done) * gamma * target_q).detach()
        loss = (q(state, action) - target_q).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, Event, Expr, Function, Index, is_test, spelled, written
from trainsleuth.finding import Finding, Link
from trainsleuth.repository import is_notebook

from ._uses import is_named, mentions
from ._verdicts import Verdicts

SAY = Verdicts(
    "overwritten-unread",
    "training-procedure",
    "warning",
    "",
    suspects=("another-loop-fault",),
    claims=("fails-silently",),
    look="leave the first line out: if nothing changes, it was to be read",
)
_TRAINS = re.compile(rb"\.backward\(")
_COMPUTES = re.compile(rb"def (?:forward|training_step|\w*loss\w*|loss)\(")
_IS_COMPUTED = re.compile(r"^forward|^training_step|loss")
_PLAIN = frozenset([
    "DataLoader", "Tensor", "Variable", "array", "bar", "copy", "cuda", "deepcopy", "dict", "empty", "enumerate", "figure", "float", "format", "full",
    "get", "getattr", "import_module", "imshow", "int", "item", "iter", "join", "len", "list", "next", "ones", "ones_like", "open", "perf_counter",
    "plot", "print", "range", "scatter", "set", "shape", "size", "str", "subplots", "tensor", "time", "to", "tqdm", "zeros", "zeros_like",
])  # fmt: skip
_ASIDE = re.compile(
    r"^_|time|start|msg|path|name|device|timer|loader|dataset|optimi[sz]er|sched|^(?:model|net|fig|ax|pbar|bar|out|output|outputs)$"
)


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_TRAINS, _COMPUTES):
        is_shown = is_notebook(function.path) and function.name == MODULE_BODY  # cells may be run in any order
        is_asked = function.source.holds(_TRAINS) or _IS_COMPUTED.search(function.name)
        if is_asked and not is_shown and not is_test(function.path):
            yield from _of(index, function)


def _of(index: Index, function: Function) -> Iterator[Finding]:
    within = [one for one in index.files[function.path].functions.values() if one.outer == function.qualname]
    held: dict[str, Event] = {}  # by name, what was last computed and not read yet
    for event in function.events:
        for name in [name for name in held if mentions(event, name, reading=True)]:
            del held[name]
        name = _target(event)
        if not name:
            continue
        first = held.pop(name, None)
        if first is not None and first.block == event.block and not any(is_named(one, name) for one in within):
            assert first.value is not None and event.value is not None
            if _is_formula(event.value) and spelled(first.value) != spelled(event.value):
                yield _failure(function, name, first, event)
        if event.value is not None and _is_computed(event.value) and not _ASIDE.search(name):
            held[name] = event


def _target(event: Event) -> str:
    if event.kind != "assign" or len(event.targets) != 1:
        return ""
    target = event.targets[0]
    return target.text if target.kind == "path" and "." not in target.text else ""


def _is_computed(value: Expr) -> bool:
    """Of calls that compute, not of a beginning or a conversion."""
    return _is_formula(value) and any(part.kind == "call" for part in value.walk())


def _is_formula(value: Expr) -> bool:
    is_plain = any(part.kind == "call" and part.last in _PLAIN for part in value.walk())
    return value.kind in ("call", "binary", "unary") and not is_plain


def _failure(function: Function, name: str, first: Event, second: Event) -> Finding:
    assert first.value is not None and second.value is not None
    path = function.path
    chain = (
        Link(path, first.line, f"{name} = {written(first.value)}"),
        Link(path, second.line, f"{name} = {written(second.value)}, and nothing has read it"),
    )
    message = (
        f"{name} at {path}:{first.line}, {written(first.value)}, is overwritten at line {second.line} before anything reads it: was {name} to be read in "
        f"{written(second.value)}, or to have another name?"
    )
    return SAY.fail(path, second.line, message, chain, "medium")
