"""Of two arguments that are named alike, one is read twice and the other not at all.

h_1 = self.net(seq1) and h_2 = self.net(seq1): the second line was copied, and one digit stayed. What should be compared with
something else is compared with itself. A contrastive loss then stands at the value of a guess, or falls to 0 at once.

Question to answer: is the other argument left out on purpose?

Fix: self.net(seq2) in the second line.

Cannot see: arguments whose names have nothing in common, calls that differ otherwise.

Bad:
    from torch import nn

    class Infomax(nn.Module):
        def __init__(self, encoder, score):
            super().__init__()
            self.encoder, self.score = encoder, score

        def forward(self, seq1, seq2, adj):
            h_1 = self.encoder(seq1, adj)
            summary = h_1.mean(1).sigmoid()
            h_2 = self.encoder(seq1, adj)
            return self.score(summary, h_1), self.score(summary, h_2)

Good:
    from torch import nn

    class Infomax(nn.Module):
        def __init__(self, encoder, score):
            super().__init__()
            self.encoder, self.score = encoder, score

        def forward(self, seq1, seq2, adj):
            h_1 = self.encoder(seq1, adj)
            summary = h_1.mean(1).sigmoid()
            h_2 = self.encoder(seq2, adj)
            return self.score(summary, h_1), self.score(summary, h_2)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index, is_sibling, is_test, reaching, spelled, written
from trainsleuth.finding import Finding, Link

from ._uses import is_named, times_named
from ._verdicts import Verdicts

SAY = Verdicts(
    "twin-argument-unread",
    "architecture",
    "warning",
    "",
    suspects=("another-model-fault",),
    claims=("fails-silently",),
    look="change the argument alone and compare the outputs",
)
_COMPUTES = re.compile(r"forward|loss|step|__call__")
_SUFFIX = re.compile(r"^(.*?)(_?(?:\d+|[ijklqabp]|anchor|pos|neg|src|tgt|left|right|first|second|t|s))$")


class _Repeated(NamedTuple):
    """A call that stands twice, word by word, with the argument `name` in it."""

    name: str
    first: Expr
    second: Expr


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions():
        if len(function.parameters) > 1 and _COMPUTES.search(function.name) and not is_test(function.path):
            for read, unread in _twins(function):
                yield _examined(function, read, unread)


def _twins(function: Function) -> Iterator[tuple[str, str]]:
    """(seq1, seq2), where the second has no default and is not named in the body."""
    plain = [one.name for one in function.parameters if not one.kind and one.default is None]
    for unread in plain:
        found = _SUFFIX.match(unread)
        if found is None or not found[1] or _is_named(function, unread):
            continue
        for read in plain:
            other = _SUFFIX.match(read)
            if read != unread and other is not None and other[1] == found[1]:
                yield read, unread


def _is_named(function: Function, name: str) -> bool:
    """Wide: anywhere but in the list of parameters."""
    return times_named(function, name) > 1 or is_named(function, name)


def _examined(function: Function, read: str, unread: str) -> Finding:
    repeated = _repeated(function, read)
    if repeated is None:
        return SAY.passed(function.path, function.line, f"{unread} is not read, and no call takes {read} twice")
    return _failure(function, repeated, unread)


def _repeated(function: Function, name: str) -> _Repeated | None:
    """Two statements that call the same with the same, and give the results different names."""
    seen: dict[tuple[object, ...], tuple[int, Expr]] = {}
    for position, event in enumerate(function.events):
        if event.kind != "assign" or event.value is None:
            continue
        for call in event.calls:
            if not any(one.kind == "path" and one.text == name for one in call.arguments):
                continue
            text = spelled(call)
            if text in seen:
                place, first = seen[text]
                before = function.events[place]
                same = reaching(function, name, place)[0] == reaching(function, name, position)[0]
                names = {written(one) for one in before.targets} != {written(one) for one in event.targets}
                if same and names and not is_sibling(before.block, event.block):
                    return _Repeated(name, first, call)
            seen.setdefault(text, (position, call))
    return None


def _failure(function: Function, repeated: _Repeated, unread: str) -> Finding:
    path, line, shown = function.path, repeated.second.line, written(repeated.second)
    chain = (
        Link(path, function.line, f"{function.name} takes {repeated.name} and {unread}"),
        Link(path, repeated.first.line, shown),
        Link(path, line, f"{shown} once more; {unread} is not read"),
    )
    message = (
        f"{function.name} never reads {unread}, and {shown} stands twice, at {path}:{repeated.first.line} and {path}:{line}: is "
        f"{unread} meant in one of them?"
    )
    return SAY.fail(path, line, message, chain, "medium")
