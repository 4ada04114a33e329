"""A window of a series is cut out twice, as the input and as what is to be predicted from it.

data = source[i : i + n] and target = source[i : i + n]: the target was to be one step later, source[i + 1 : i + 1 + n]. A network that gives its input back has
a loss near zero, the printed error looks better than before, and it forecasts nothing.

Question to answer: is it an autoencoder, or a model that shifts its labels by itself?

Fix: target = source[i + 1 : i + 1 + n].

Cannot see: windows that are cut by a function, targets that do not say so.

Bad:
    import torch

    def get_batch(source, i, bptt):
        seq_len = min(bptt, len(source) - 1 - i)
        data = source[i : i + seq_len]
        target = source[i : i + seq_len].view(-1)
        return data, target

Good:
    import torch

    def get_batch(source, i, bptt):
        seq_len = min(bptt, len(source) - 1 - i)
        data = source[i : i + seq_len]
        target = source[i + 1 : i + 1 + seq_len].view(-1)
        return data, target
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, is_test, spelled, written
from trainsleuth.facts.words import words
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "window-is-its-own-target",
    "data",
    "error",
    "",
    suspects=("another-data-fault",),
    claims=("fails-silently",),
    look="print the first row of input and target: they must be one step apart",
)
_CUTS = re.compile(rb"(?:target|label|tgt|\by)\w*[ \t]*=[^\n=][^\n]*\[[^\]\n]*:[^\]\n]*\]")
_TARGET = re.compile(r"^(?:targets?|labels?|y|tgts?|y_\w+|\w+_(?:targets?|labels?))$", re.IGNORECASE)
_SAME = words("view reshape contiguous clone copy to float long flatten squeeze unsqueeze permute transpose t astype")
_NEAR = 3  # statements between the two
_BUILDS = ("tensor", "as_tensor", "from_numpy", "array", "asarray", "LongTensor", "FloatTensor", "stack")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_CUTS):
        if not is_test(function.path):
            yield from _examined(function)


def _examined(function: Function) -> Iterator[Finding]:
    windows: dict[object, tuple[str, int]] = {}  # that are no targets, and where
    for position, event in enumerate(function.events):
        name = event.targets[0].text if event.kind == "assign" and len(event.targets) == 1 else ""
        window = _window(event.value) if name.isidentifier() and event.value is not None else None
        if window is None:
            continue
        if not _TARGET.match(name):
            windows[spelled(window), event.block.loops] = name, position
            continue
        path, line = function.path, event.line
        known = windows.get((spelled(window), event.block.loops))
        if known is None or position - known[1] > _NEAR:
            yield SAY.passed(path, line, f"{name} is a window of its own")
            continue
        earlier = function.events[known[1]].line
        chain = (
            Link(path, earlier, f"{known[0]} = {written(window)}"),
            Link(path, line, f"{name} = {written(window)}"),
        )
        message = (
            f"{name} at {path}:{line} is {written(window)}, which {known[0]} at line {earlier} is as well: what is to be predicted is what is put in; is it meant to be "
            "a step later?"
        )
        yield SAY.fail(path, line, message, chain, "medium")


def _window(expr: Expr) -> Expr | None:
    """source[i : i + n], whatever is made of it: both its ends are written, and computed."""
    while expr.kind == "call":
        inner = expr.receiver if expr.last in _SAME else expr.argument(0) if expr.last in _BUILDS else None
        if inner is None:
            return None
        expr = inner
    cuts = [one for one in expr.parts[1:] if one.kind == "slice" and one.parts] if expr.kind == "index" else []
    ends = cuts[0].parts if len(cuts) == 1 else ()
    return expr if len(ends) == 2 and any(one.kind == "binary" for one in ends) else None
