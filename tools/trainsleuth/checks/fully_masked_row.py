"""A row of attention that is masked as a whole becomes NaN.

softmax over scores that are all -inf is 0/0. A causal mask always leaves a position its own past; a padding
mask does not: an empty sequence, a padded query or a window without a valid key gives one NaN row, and the
next step makes NaN of every weight. Whether such a row exists depends on the data, so it is a question.

Fix: keep one position open, replace the NaN after softmax, or mask with a large finite number.

Cannot see: masks that are built by the caller in ways that are not resolved, attention of libraries.

Bad:
    import torch

    def attend(q, k, v, key_padding_mask):
        scores = q @ k.transpose(-2, -1)
        scores = scores.masked_fill(key_padding_mask[:, None, :], float("-inf"))
        return torch.softmax(scores, dim=-1) @ v

Bad (a mask from lengths, filled in place):
    import math
    import torch
    import torch.nn.functional as F

    class Pool(torch.nn.Module):
        def forward(self, x, lengths):
            scores = self.score(x).squeeze(-1)
            positions = torch.arange(x.size(1), device=x.device)
            valid = positions[None, :] < lengths[:, None]
            scores.masked_fill_(~valid, -math.inf)
            return (F.softmax(scores, dim=1)[..., None] * x).sum(1)

Good:
    import torch

    def attend(q, k, v, key_padding_mask):
        scores = q @ k.transpose(-2, -1)
        scores = scores.masked_fill(key_padding_mask[:, None, :], torch.finfo(scores.dtype).min)
        return torch.softmax(scores, dim=-1) @ v

Good (causal; padded, and repaired afterwards):
    import torch

    def attend(q, k, v, pad):
        scores = q @ k.transpose(-2, -1)
        future = torch.triu(torch.ones(scores.shape[-2:], dtype=torch.bool), diagonal=1)
        causal = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        padded = torch.softmax(scores.masked_fill(pad, float("-inf")), dim=-1)
        return causal @ v + torch.nan_to_num(padded) @ v
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from trainsleuth.facts import Expr, Function, Index, Site, Spot, ingredients, is_test, makers, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "fully-masked-row",
    "numerical",
    "note",
    "first_nonfinite",
    suspects=("nonfinite-in-forward",),
    claims=("nan-loss-or-grad-first", "all-labels-masked"),
)
_PADDING = re.compile(r"pad|len(gth)?s?(_|$)|valid|attention_mask|attn_mask|src_mask|mask", re.IGNORECASE)
_CAUSAL = re.compile(r"causal|future|subsequent|triu|tril|look_?ahead|(^|\.)bias$", re.IGNORECASE)
_TRIANGLE, _LENGTHS = re.compile(rb"\btri[ul]_?\("), re.compile(rb"pad|length|valid", re.IGNORECASE)
_TESTS, _COUNTS = ("all", "any"), ("sum", "count_nonzero", "max", "min", "amax", "amin")
_REPAIRS = ("nan_to_num", "isnan", "isinf", "nan_to_num_")


def check(index: Index) -> Iterator[Finding]:
    seen: set[Expr] = set()
    for site in index.calls("masked_fill", "masked_fill_"):
        fill = site.call.argument(1, "value")
        if fill is not None and _is_infinite(fill) and not is_test(site.function.path):
            yield _examined(index, site, seen)


def _is_infinite(fill: Expr) -> bool:
    text = written(fill).replace(" ", "")
    return text in ("float('-inf')", "-float('inf')", "-torch.inf", "-math.inf", "-np.inf", "-inf", "-numpy.inf")


def _examined(index: Index, site: Site, seen: set[Expr]) -> Finding:
    """`seen`: each softmax that a question was asked of already; another arm before it is not another question."""
    function, path, line = site.function, site.function.path, site.call.line
    mask = site.call.argument(0, "mask")
    calls = [call for event in function.events for call in event.calls]
    softmax = next((call for call in calls if "softmax" in call.last.lower() and call.line >= line), None)
    if softmax is None or mask is None:
        return SAY.open(path, line, f"no softmax was found after {written(site.call)}")
    if any(call.last in _REPAIRS for call in calls):
        return SAY.passed(path, line, "NaN is looked for or replaced in the same function")
    if _opens_one(function.events, mask):
        return SAY.passed(path, line, "the mask is changed by place before, so a position may be kept open")
    names = {expr.text for expr, _ in ingredients(index, mask, Spot(function, site.position)) if expr.kind == "path"}
    names |= {expr.last for expr, _ in ingredients(index, mask, Spot(function, site.position)) if expr.kind == "call"}
    if _looks_for_whole_rows(function, {*names, *(part.text for part in mask.walk() if part.kind == "path")}):
        return SAY.passed(path, line, "rows that the mask hides altogether are looked for in the same function")
    if any(_CAUSAL.search(name) for name in names) and not any(re.search(r"pad|len", name) for name in names):
        return SAY.passed(path, line, f"{written(mask)} is causal: each position keeps its own past")
    if _leaves_the_best(site, mask):
        return SAY.passed(path, line, f"{written(mask)} never hides the highest, or only a part of a row is filled")
    if _is_made_causal(index, mask, Spot(function, site.position)):
        return SAY.passed(path, line, f"{written(mask)} comes from a class of causal masks")
    if _is_square(mask):
        return SAY.passed(
            path, line, f"{written(mask)} has as many rows as columns: it hides positions from each other"
        )
    if not any(_PADDING.search(name) and name != "attn_mask" for name in names):
        return SAY.open(path, line, f"what {written(mask)} hides is not resolved")
    if softmax in seen:
        return SAY.passed(path, line, f"{written(softmax)} was asked about already")
    seen.add(softmax)
    chain = (
        Link(path, line, f"{written(site.call)} puts -inf where the mask says so"),
        Link(path, softmax.line, f"{written(softmax)} gives NaN for a row of -inf only"),
    )
    message = (
        f"{written(site.call)} at {path}:{line} masks with -inf before a softmax: can the data hold a row in which "
        f"{written(mask)} hides everything? It becomes NaN; a large finite number or nan_to_num would not."
    )
    return SAY.fail(path, line, message, chain, "low")


def _looks_for_whole_rows(function: Function, masks: Set[str]) -> bool:
    """mask.all(-1), or (mask.sum(-1) == 0) with or without a name in between; a sum alone may count what is averaged."""
    counts: set[str] = set()
    for event in function.events:
        for part in event.value.walk() if event.value is not None else ():
            if _is_of_rows(part, _TESTS, masks):
                return True
            if part.kind == "compare" and any(one.text in ("0", "0.0") for one in part.parts):
                if any(_is_of_rows(one, _COUNTS, masks) or one.text in counts for one in part.parts):
                    return True
        if event.value is not None and _is_of_rows(event.value, _COUNTS, masks):
            counts.update(target.text for target in event.targets if target.kind == "path")
    return False


def _is_of_rows(expr: Expr, names: Sequence[str], masks: Set[str]) -> bool:
    """A reduction of the mask along one of its dimensions."""
    if expr.kind != "call" or expr.last not in names:
        return False
    is_function = expr.receiver is not None and expr.receiver.text == "torch"
    given = expr.argument(0, "input") if is_function else expr.receiver
    dim = expr.argument(int(is_function), "dim", "axis")
    return dim is not None and given is not None and any(part.text in masks for part in given.walk() if part.text)


def _leaves_the_best(site: Site, mask: Expr) -> bool:
    """logits.masked_fill(logits < threshold, ...): the threshold is one of them. scores[:, 3:4].masked_fill(...)"""
    filled = site.call.receiver
    if filled is None:
        return False
    is_compared = (
        mask.kind == "compare" and mask.text in ("<", ">") and any(written(p) == written(filled) for p in mask.parts)
    )
    return is_compared or filled.kind in ("index", "slice")


def _is_made_causal(index: Index, mask: Expr, spot: Spot) -> bool:
    """attn_mask.mask of an object whose class makes its masks by triu() or tril(), and knows of no lengths."""
    head = (
        Expr("path", mask.text.rpartition(".")[0], (), mask.line) if mask.kind == "path" and "." in mask.text else None
    )
    made = (one for one, at in makers(index, head, spot) if one.kind == "call") if head is not None else ()
    classes = [cls for one in made for cls in index.classes() if cls.name == one.last]
    methods = [method for cls in classes for method in cls.methods.values()]
    return any(method.source.holds(_TRIANGLE) for method in methods) and not any(
        method.source.holds(_LENGTHS) for method in methods
    )


def _is_square(mask: Expr) -> bool:
    """mask[:, :, :T, :T]: queries and keys are the same positions."""
    cuts = [part.parts[-2:] for part in mask.walk() if part.kind == "index" and len(part.parts) > 2]
    return any(all(one.kind == "slice" and one.parts for one in last) and _same(*last) for last in cuts)


def _same(one: Expr, other: Expr) -> bool:
    return [part.text for part in one.walk()] == [part.text for part in other.walk()]


def _opens_one(events: tuple[object, ...], mask: Expr) -> bool:
    """mask[:, 0] = False and the like."""
    return any(
        target.kind == "index" and target.parts[0].text == mask.text
        for event in events
        for target in getattr(event, "targets", ())
    )
