"""A known formula is written with one slip: a sign, a root, a power, an order.

The KL divergence of an autoencoder, the clipped objective of a policy, a step of diffusion, Dice's coefficient, the cosine of a schedule: programs write
them out by hand, and one wrong sign or a root left out gives numbers of the right size that train something else. What is written is compared as
numbers, so any way of writing the formula is right; told is what one change would make right: a sign, an operator, the order of two operands, a power, a
root, a function, a constant, one name in place of another, x for 1 - x.

Known are the divergence and likelihood of normal distributions; the error of a value, generalised advantages, the clipped objective, actions behind tanh, their
range, conjugate gradients; the steps of a diffusion, forwards and back, and its cosine schedule; rates along a cosine and of the first transformer, exploration
that decays; Dice, Tversky, intersection over union, F1, the coefficient of determination, PSNR, SSIM; scaling by mean and deviation or by a range; distances of all pairs,
losses of pairs and triplets, binary and focal cross-entropy, estimates of a divergence; the penalty and the hinge of a critic; the moments of Adam, an average
that starts; the cells of LSTM and GRU, attention scores, waves of positions, smoothed labels.

Fix: what the message shows; where the other form is meant, say so beside it.

Cannot see: formulas whose parts bear other names, two slips at once, axes and means, factors that a formula may have for another reason.

Bad:
    import torch

    def divergence(mu, logvar):
        return -0.5 * torch.sum(1 + logvar + mu.pow(2) - logvar.exp(), dim=1).mean()

Bad (a product of the two areas in place of their sum):
    import torch

    def dice(pred, target, smooth=1.0):
        intersection = torch.sum(pred * target)
        return (2.0 * intersection + smooth) / (pred.sum() * target.sum() + smooth)

Bad (a root is left out):
    import torch

    def noisy(x0, noise, alpha_bar, t):
        return torch.sqrt(alpha_bar[t]) * x0 + (1 - alpha_bar[t]) * noise

Good:
    import torch

    def divergence(mu, logvar):
        return 0.5 * (logvar.exp() + mu.square() - 1 - logvar).sum(1).mean()

Good (any way of writing it):
    import torch

    def noisy(x0, noise, alpha_bar, t):
        return torch.sqrt(alpha_bar[t]) * x0 + (1.0 - alpha_bar[t]).pow(0.5) * noise

    def policy_loss(ratio, advantage, clip=0.2):
        return torch.max(-ratio * advantage, -advantage * ratio.clamp(1 - clip, 1 + clip)).mean()
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isclose

from trainsleuth.facts import Event, Expr, Function, Index, Spot, is_test, leaves, made_of, plain, value, written
from trainsleuth.finding import Finding, Link

from ._edits import edits
from ._formulas import FORMULAS, POINTS, Formula
from ._verdicts import Verdicts

SAY = Verdicts(
    "altered-formula",
    "loss",
    "error",
    "",
    suspects=("another-loss-fault",),
    claims=("fails-silently",),
    look="write the formula down from the source named, and compare it term by term",
)
_NAME = re.compile(rb"([A-Za-z_]\w*[(\[]?)")
_AFTER = re.compile(rb"\+ ?1\]")
_Tried = tuple[Expr, Formula, Expr, Mapping[str, str]]
_SAME = 1e-9  # relative: what is computed in double precision agrees to about 1e-15
_FEW = 5  # points that most other expressions already fail at
_ROOM = 40  # parts of an expression, from which on it is not one formula


def check(index: Index) -> Iterator[Finding]:
    by_mark: dict[re.Pattern[bytes], list[Formula]] = {}
    for one in FORMULAS:
        by_mark.setdefault(one.mark, []).append(one)
    for function in index.functions_holding(*by_mark):
        held = [one for mark, some in by_mark.items() if function.source.holds(mark) for one in some]
        names = _names(function) if held and not is_test(function.path) else ""
        if near := [one for one in held if one.may_stand_in(names)]:
            yield from _of_function(function, near)


def _of_function(function: Function, near: list[Formula]) -> Iterator[Finding]:
    told: set[tuple[int, str]] = set()  # what a later statement takes up by name is told once
    for position, event in enumerate(function.events):
        if event.kind in ("assign", "return", "augment", "expression") and event.value is not None:
            named = " ".join(_names_of(event))
            fitting = [one for one in near if not one.goes_by or re.search(one.goes_by, named)]
            tried = _tried(fitting, event.value, Spot(function, position))
            right = next((formula for _, formula, found, roles in tried if _is_one(found, roles, formula)), None)
            if right is not None:
                yield SAY.passed(function.path, event.line, f"{right.what}, as it should be")
            else:
                yield from _slips(function, tried, told)


def _names_of(event: Event) -> Iterator[str]:
    """What a statement calls its value: its targets, and texts in it, register_buffer("action_scale", ...)."""
    yield from (target.last for target in event.targets)
    yield from (part.text for part in event.value.walk() if part.kind == "string") if event.value is not None else ()


def _slips(function: Function, tried: list[_Tried], told: set[tuple[int, str]]) -> Iterator[Finding]:
    for expr, formula, found, roles in tried:
        if (slip := _slip(found, roles, formula)) is not None:
            if (place := (slip[0].line, written(slip[0]))) not in told:
                told.add(place)
                yield _failure(function, expr, formula, *slip)
            return


def _names(function: Function) -> str:
    """Wide: what its leaves may be called, one a line."""
    names = set(function.source.found(_NAME))
    return b"\n".join(names).decode("utf-8", "replace") + ("\nx[t + 1]" if function.source.holds(_AFTER) else "")


def _tried(near: list[Formula], whole: Expr, spot: Spot) -> list[_Tried]:
    """(an expression, a formula that has all of its leaves, what it computes, the role of each leaf)"""
    return [
        (expr, formula, found, roles)
        for expr in _computed(whole)
        for formula in near
        for found, roles in _meant(formula, expr, spot)
    ]


def _computed(expr: Expr) -> Iterator[Expr]:
    """The expression and all in it that compute something, outer before inner."""
    waiting = [expr]
    while waiting:
        one = waiting.pop()
        if one.kind in ("binary", "unary") or (one.kind == "call" and (len(one.parts) > 1 or one.receiver is not None)):
            yield one
        if one.kind not in ("lambda", "string"):
            waiting += one.parts[::-1]


def _meant(formula: Formula, expr: Expr, spot: Spot) -> Iterator[tuple[Expr, Mapping[str, str]]]:
    """What is computed, with the role of each of its leaves, in all ways in which each has one and every role is taken."""
    found = plain(expr, spot, formula.is_leaf)
    if found is None:
        return
    held = leaves(found.expr)
    if len(held) == len(formula.roles) and sum(1 for _ in found.expr.walk()) <= _ROOM:
        fitting = [
            [role for role, pattern in formula.patterns.items() if pattern.search(found.called[leaf])] for leaf in held
        ]
        for roles in _shared_out(fitting):
            yield found.expr, dict(zip(held, roles, strict=True))


def _shared_out(fitting: list[list[str]], taken: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every way to give each leaf one of the roles that fit it, and none twice."""
    if len(taken) == len(fitting):
        yield taken
        return
    for role in fitting[len(taken)]:
        if role not in taken:
            yield from _shared_out(fitting, (*taken, role))


def _slip(expr: Expr, roles: Mapping[str, str], formula: Formula) -> tuple[Expr, Expr] | None:
    """(what is written, what would make it the form that is shown): the least that does, in what has nearly as many parts."""
    if _size(expr) < _size(formula.forms[0]) - 1 or any(_is_one(part, roles, formula) for part in _parts(expr)):
        return None
    found = ((was, now) for changed, was, now in edits(expr, roles) if _is_one(changed, roles, formula, slice(1)))
    return min(found, key=lambda one: sum(1 for _ in one[0].walk()), default=None)


def _parts(expr: Expr) -> Iterator[Expr]:
    """What is computed on the way to it."""
    for part in made_of(expr):
        yield part
        yield from _parts(part)


def _size(expr: Expr) -> int:
    """How often a leaf stands in it."""
    return 1 if expr.kind == "path" else sum(map(_size, made_of(expr)))


def _is_one(expr: Expr, roles: Mapping[str, str], formula: Formula, forms: slice = slice(None)) -> bool:
    for few in (_FEW, POINTS):
        try:
            found = [value(expr, {leaf: point[role] for leaf, role in roles.items()}) for point in formula.points[:few]]
        except (ArithmeticError, ValueError):
            return False
        if not any(_agree(found, expected[:few], formula.up_to) for expected in formula.values[forms]):
            return False
    return True


def _agree(found: Sequence[float], expected: Sequence[float], up_to: str) -> bool:
    """`found` is `expected`, but for what may differ."""
    if up_to in ("constant", "both"):
        found, expected = ([one - them[0] for one in them[1:]] for them in (found, expected))
    largest = max(range(len(expected)), key=lambda place: abs(expected[place]))
    factor = found[largest] / expected[largest] if up_to in ("factor", "both") and found[largest] else 1.0
    least = _SAME * abs(factor * expected[largest])
    return all(
        isclose(one, factor * other, rel_tol=_SAME, abs_tol=least) for one, other in zip(found, expected, strict=True)
    )


def _failure(function: Function, expr: Expr, formula: Formula, was: Expr, now: Expr) -> Finding:
    path, line = function.path, expr.line
    message = (
        f"{written(expr, 120)} at {path}:{line} is one change away from {formula.what}, which is {formula.texts[0]} ({formula.source}): it has {written(was)} where {written(now)} "
        "would make it so; is it meant?"
    )
    return SAY.fail(
        path, line, message, (Link(path, line, f"{written(was)}, where {written(now)} is expected"),), "medium"
    )
