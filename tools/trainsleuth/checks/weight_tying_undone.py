"""Two layers are tied to one weight, and the tie is broken afterwards.

`self.head.weight = self.embed.weight` makes both names hold the same parameter. When one of the two layers
(or its weight) is replaced later, the tie is gone without a word: the model has twice the parameters, loads
checkpoints that do not fit its meaning, and learns two tables where one was meant. Wrapping the weight in a
new nn.Parameter never ties at all.

Fix: tie last, after layers are replaced, resized or initialised by assignment.

Cannot see: ties that are made or broken by libraries.

Bad:
    from torch import nn

    class LM(nn.Module):
        def __init__(self, vocabulary, width, extra=0):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, width)
            self.head = nn.Linear(width, vocabulary, bias=False)
            self.head.weight = self.embed.weight
            if extra:
                self.embed = nn.Embedding(vocabulary + extra, width)

Bad (a new parameter around the weight):
    from torch import nn

    class LM(nn.Module):
        def __init__(self, vocabulary, width):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, width)
            self.head = nn.Linear(width, vocabulary, bias=False)
            self.head.weight = nn.Parameter(self.embed.weight)

Good:
    from torch import nn

    class LM(nn.Module):
        def __init__(self, vocabulary, width, extra=0):
            super().__init__()
            self.embed = nn.Embedding(vocabulary + extra, width)
            self.head = nn.Linear(width, vocabulary + extra, bias=False)
            self.head.weight = self.embed.weight
            nn.init.normal_(self.embed.weight, std=0.02)

Good (tied again; a copy that is meant as a start):
    from torch import nn

    class LM(nn.Module):
        def __init__(self, vocabulary, width):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, width)
            self.head = nn.Linear(width, vocabulary, bias=False)
            self.aux = nn.Linear(width, vocabulary, bias=False)
            self.aux.weight = nn.Parameter(self.embed.weight.clone())
            self.tie()

        def tie(self):
            self.head.weight = self.embed.weight

        def resize(self, vocabulary, width):
            self.embed = nn.Embedding(vocabulary, width)
            self.head = nn.Linear(width, vocabulary, bias=False)
            self.tie()
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index, Instance, Spot, Target, is_sibling, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "weight-tying-undone",
    "architecture",
    "error",
    "parameter_table",
    suspects=("tied-weights-apart",),
    claims=("frozen-layers",),
)
_WEIGHT = re.compile(rb"\.\s*weight\b")


class Tie(NamedTuple):
    """`one`.weight is set to `other`.weight; both are dotted paths in the words of the function of `spot`."""

    one: str
    other: str
    spot: Spot


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_WEIGHT):
        if is_test(function.path):
            continue
        for position, event in enumerate(function.events):
            for target in event.targets if event.kind == "assign" and event.value is not None else ():
                if target.kind == "path" and target.text.endswith(".weight") and "." in target.text[:-7]:
                    yield from _examined(index, Spot(function, position), target.text[:-7], event.value)


def _examined(index: Index, spot: Spot, one: str, value: Expr | None) -> Iterator[Finding]:
    if value is None:
        return
    path, line = spot.function.path, spot.line
    if value.kind == "path" and value.text.endswith(".weight") and value.text[:-7] != one:
        tie = Tie(one, value.text[:-7], spot)
        broken = next(_broken(index, tie), None)
        if broken is not None:
            yield _failure(tie, *broken)
        else:
            yield SAY.passed(path, line, f"{one} and {tie.other} stay tied, as far as can be seen")
    elif (other := _wrapped_weight(value)) and _are_table_and_head(index, one, other, spot):
        said = f"{written(value)} is a new parameter: {one} and {other} share numbers but not gradients"
        message = f"{said}, at {path}:{line}; expected {one}.weight = {other}.weight."
        yield SAY.fail(path, line, message, (Link(path, line, said),))


def _wrapped_weight(value: Expr) -> str:
    """Of nn.Parameter(embed.weight): "embed"."""
    given = value.argument(0, "data") if value.kind == "call" and value.last == "Parameter" else None
    return given.text[:-7] if given is not None and given.kind == "path" and given.text.endswith(".weight") else ""


def _are_table_and_head(index: Index, one: str, other: str, spot: Spot) -> bool:
    """An embedding and a linear layer: what is tied in language models."""
    kinds = {
        thing.name.rpartition(".")[2]
        for path in (one, other)
        for thing in index.objects.of(Expr("path", path, (), spot.line), spot)
        if isinstance(thing, Instance)
    }
    return kinds == {"Embedding", "Linear"}


def _broken(index: Index, tie: Tie) -> Iterator[tuple[Spot, str]]:
    """Later in the function, or in a method that it calls later, one side gets a weight of its own."""
    function = tie.spot.function
    here = function.events[tie.spot.position].block
    for position in range(tie.spot.position + 1, len(function.events)):
        event, spot = function.events[position], Spot(function, position)
        if is_sibling(event.block, here):
            continue
        if _ties(function, position, tie):
            return
        if path := _replaces(index, spot, tie):
            if not _is_tied_later(function, position, tie):
                yield spot, path
            return
        for call in event.calls:
            for target in index.calling.targets(call, spot):
                if isinstance(target, Target) and _is_own(index, target.function, function):
                    yield from _broken_inside(index, target.function, tie)


def _is_own(index: Index, called: Function, function: Function) -> bool:
    """Another method of the same object: self means the same there."""
    return bool(called.owner) and called.owner == function.owner and called.self_name == function.self_name


def _broken_inside(index: Index, function: Function, tie: Tie) -> Iterator[tuple[Spot, str]]:
    for position in range(len(function.events)):
        if path := _replaces(index, Spot(function, position), tie):
            if not _is_tied_later(function, position, tie):
                yield Spot(function, position), path


def _ties(function: Function, position: int, tie: Tie) -> bool:
    event = function.events[position]
    targets = {target.text for target in event.targets}
    ties = (f"{tie.one}.weight", f"{tie.other}.weight")
    return event.kind == "assign" and event.value is not None and event.value.text in ties and bool(targets & set(ties))


def _is_tied_later(function: Function, position: int, tie: Tie) -> bool:
    """Tied again, or a method called tie_... runs."""
    for place in range(position, len(function.events)):
        event = function.events[place]
        if _ties(function, place, tie) or any("tie" in call.last.lower() for call in event.calls):
            return True
    return False


def _replaces(index: Index, spot: Spot, tie: Tie) -> str:
    """One side is set to a fresh layer or a fresh parameter."""
    event = spot.function.events[spot.position]
    if event.kind != "assign" or event.value is None:
        return ""
    for target in event.targets:
        for side in (tie.one, tie.other):
            if target.text in (side, f"{side}.weight"):
                things = index.objects.of(event.value, spot)
                made = [t for t in things if isinstance(t, Instance) and t.call is event.value]
                if made and all(t.name.startswith("torch.nn.") for t in made):
                    return target.text
    return ""


def _failure(tie: Tie, spot: Spot, replaced: str) -> Finding:
    path, line = spot.function.path, spot.line
    chain = (
        Link(tie.spot.function.path, tie.spot.line, f"{tie.one}.weight is {tie.other}.weight"),
        Link(path, line, f"{replaced} is replaced"),
    )
    message = (
        f"{replaced} at {path}:{line} is replaced after {tie.one} and {tie.other} were tied at line {tie.spot.line}: "
        "they have separate weights from here on; expected the tie last."
    )
    return SAY.fail(path, line, message, chain)
