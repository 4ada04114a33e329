"""A root, a logarithm or a division meets zero in what is trained.

sqrt has an infinite gradient at zero, log of a probability that underflowed is -inf, and x / norm(x) of an
empty row is 0/0. In float32 a sigmoid is exactly 0 below about -104 and a softmax drops everything 104 below
the top: a confident model reaches it. One such element makes NaN of every weight. It may never happen with
this data, so it is a question.

Fix: a small number inside the root, the logarithm or the denominator; log_softmax and logsigmoid instead of
the logarithm of a softmax; F.normalize.

Cannot see: values that are bounded away from zero by the data; arithmetic in helpers that are not resolved.

Bad:
    import torch

    def distance(a, b):
        return torch.sqrt(((a - b) ** 2).sum(dim=1)).mean()

    def step(net, x, y, optimizer):
        loss = distance(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (a variable that is called data, and no loss.data):
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 2)

        def forward(self, x):
            data = torch.sqrt(self.fc(x).pow(2).sum(1))
            out = self.fc(data)
            return out

Bad (the logarithm of a softmax):
    import torch
    import torch.nn.functional as F

    def step(net, x, y, optimizer):
        p = F.softmax(net(x), dim=1)
        loss = -(y * torch.log(p)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good:
    import torch

    def distance(a, b):
        return torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-8).mean()

    def step(net, x, y, optimizer):
        loss = distance(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good (kept away from zero, or not trained):
    import torch
    import torch.nn.functional as F

    def step(net, x, y, optimizer, log):
        out = net(x)
        p = F.softmax(out, dim=1).clamp(min=1e-6)
        loss = -(y * p.log()).sum(1).mean() + F.mse_loss(out / (out.norm(dim=1, keepdim=True) + 1e-6), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            log(torch.sqrt(((out - y) ** 2).mean()))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from trainsleuth.facts import (
    Expr,
    External,
    Function,
    Index,
    Spot,
    decided_against,
    ingredients,
    is_module_class,
    is_test,
    losses_from,
    subject,
    unreached,
    written,
)
from trainsleuth.finding import Finding, Link

from ._only_measured import is_only_measured
from ._origins import is_learned, is_of_labels
from ._squares import is_sum_of_squares
from ._verdicts import Verdicts

SAY = Verdicts(
    "singular-at-zero",
    "numerical",
    "note",
    "first_nonfinite",
    suspects=("nonfinite-in-backward", "nonfinite-in-forward"),
    claims=("log-of-softmax-underflows", "nan-loss-or-grad-first"),
)
_ROOTS = ("sqrt", "rsqrt")
_LOGARITHMS = ("log", "log2", "log10")
_SINGULAR = (*_ROOTS, *_LOGARITHMS)
_LOSS = re.compile(r"(^|_)(loss|criterion|penalty)(_|$)", re.IGNORECASE)
_METRIC = re.compile(r"metric|evaluat", re.IGNORECASE)
_VANISHING = {"probability", "sigmoid"}
_MASKED = "the sum of a mask is zero when everything is masked", ".clamp(min=1)"  # asked once of a project
_BELOW = ("norm", "std")
_PLAIN = ("math.", "np.", "numpy.")  # no tensors
_MASK = re.compile(rb"mask|Mask|MASK")
_CLAMPS = ("clamp", "clamp_", "clamp_min", "clip", "maximum", "max", "hardtanh")


def check(index: Index) -> Iterator[Finding]:
    doubtful: dict[Expr, Function] = {}
    for expr, spot in _arithmetic(index):
        if _may_be_singular(index, expr, spot):
            doubtful[expr] = spot.function
        elif _singular(index, expr, spot) is not None:
            yield _safe(expr, spot)
    means: list[tuple[Expr, Spot]] = []
    for expr, spot, found in _met(index, doubtful):
        why = _off(index, spot.function.path, expr.line) if found[0] else ""
        if why:
            yield SAY.open(spot.function.path, expr.line, why)
        elif found == _MASKED:
            means.append((expr, spot))
        else:
            yield _question(expr, spot, *found) if found[0] else _safe(expr, spot)
    if means:
        yield _question(*means[0], *_MASKED, also=means[1:])
        yield from (_safe(*one) for one in means[1:])


def _off(index: Index, path: str, line: int) -> str:
    """Why nothing here computes it; "" where something may."""
    tests = [one.test for one in decided_against(index, path, line)]
    if tests:
        return f"it runs only where {' and '.join(tests)}, and nothing here makes that so"
    return unreached(index, [(path, line)])


def _arithmetic(index: Index) -> Iterator[tuple[Expr, Spot]]:
    """Roots, logarithms, products and divisions of the functions that could have a singular one."""
    for function in index.functions():
        if not is_test(function.path) and not function.called.isdisjoint((*_SINGULAR, *_BELOW, "sum")):
            divides = not function.called.isdisjoint(_BELOW) or (
                "sum" in function.called and function.source.holds(_MASK)
            )
            for position, event in enumerate(function.events):
                is_near = divides or any(call.last in _SINGULAR for call in event.calls)
                for part in event.value.walk() if is_near and event.value is not None else ():
                    if part.kind == "binary" or (part.kind == "call" and part.last in _SINGULAR):
                        yield part, Spot(function, position)


def _may_be_singular(index: Index, expr: Expr, spot: Spot) -> bool:
    """Wide: whoever calls the function."""
    if index.values.is_without_grad(spot) or any(_is_plain(index, part, spot) for part in expr.walk()):
        return False
    if expr.kind == "call" and expr.last in _LOGARITHMS:
        given = subject(index, expr, spot)
        return given is not None and bool(_squashed(index, given, spot) & _VANISHING)
    found = _singular(index, expr, spot)
    return found is not None and bool(found[0])


def _is_plain(index: Index, part: Expr, spot: Spot) -> bool:
    """Of numbers: math.sqrt(x), and sqrt(x) below `from math import sqrt`."""
    if part.callee.startswith(_PLAIN):
        return True
    found = index.resolve(spot.function, part.callee) if part.callee in _SINGULAR else None
    return isinstance(found, External) and found.name.startswith(_PLAIN)


def _met(index: Index, doubtful: dict[Expr, Function]) -> Iterator[tuple[Expr, Spot, tuple[str, str]]]:
    """Of what is doubtful what training computes, each once: where it is singular, else where it was met first."""
    safe: dict[Expr, Spot] = {}
    for expr, spot in chain(_in_models(index), _trained(index, doubtful)) if doubtful else ():
        if expr not in doubtful:
            continue
        found = _singular(index, expr, spot)
        if found is not None and found[0]:
            del doubtful[expr]
            safe.pop(expr, None)
            yield expr, spot, found
        elif found is not None:
            safe.setdefault(expr, spot)
    for expr, spot in safe.items():
        yield expr, spot, ("", "")


def _trained(index: Index, doubtful: dict[Expr, Function]) -> Iterator[tuple[Expr, Spot]]:
    """All that those losses are computed from which something doubtful may be part of."""
    for loss, start in losses_from(index, doubtful.values()):
        yield from ingredients(index, loss, start, through_cuts=False)


def _in_models(index: Index) -> Iterator[tuple[Expr, Spot]]:
    """Roots and logarithms in forward methods and loss functions, also where no loss is resolved down to them; not
    in what is called a metric, nor where only numbers are made of it.
    """
    for site in index.calls(*_SINGULAR):
        function, spot = site.function, Spot(site.function, site.position)
        cls = index.class_of(function)
        if _METRIC.search(f"{function.path.rpartition('/')[2]} {function.qualname}"):
            continue
        if is_only_measured(function, site.position):
            continue
        is_model = cls is not None and is_module_class(index, cls) and function.name in ("forward", "__call__")
        if (is_model or _LOSS.search(function.name)) and not index.values.is_without_grad(spot):
            yield site.call, spot
            product = _product(site.event.value, site.call) if site.call.last in _LOGARITHMS else None
            if product is not None:
                yield product, spot


def _product(root: Expr | None, call: Expr) -> Expr | None:
    """The product that a call is a factor of."""
    parts = root.walk() if root is not None else ()
    return next((p for p in parts if p.kind == "binary" and p.text == "*" and any(q is call for q in p.parts)), None)


def _singular(index: Index, expr: Expr, spot: Spot) -> tuple[str, str] | None:
    """(what happens at zero, what to do) of a root, logarithm or division; ("", "") for a safe one."""
    if expr.kind == "call" and expr.last in _SINGULAR:
        given = subject(index, expr, spot)
        if given is None or expr.callee.startswith(_PLAIN):
            return None
        return _root(index, expr, given, spot) if expr.last in _ROOTS else _logarithm(index, given, spot)
    if expr.kind == "binary" and expr.text == "/" and len(expr.parts) == 2:
        return _division(index, *expr.parts, spot)
    if expr.kind == "binary" and expr.text == "*" and len(expr.parts) == 2:
        return _entropy(index, expr, spot)
    return None


def _root(index: Index, root: Expr, given: Expr, spot: Spot) -> tuple[str, str]:
    if root.last == "sqrt" and _leads_nowhere(index, given, spot):
        return "", ""
    if not is_sum_of_squares(index, given, spot) or (root.last == "sqrt" and is_of_labels(index, given, spot)):
        return "", ""
    said = "the gradient of sqrt is infinite at zero" if root.last == "sqrt" else "one over the root of zero is inf"
    return said, "+ eps inside the root"


def _leads_nowhere(index: Index, given: Expr, spot: Spot) -> bool:
    """No gradient goes through the root: of a history that is kept, of what was detached."""
    values = index.values.of(given, spot)
    return bool(values) and all(value.grad in ("constant", "cut") for value in values)


def _logarithm(index: Index, given: Expr, spot: Spot) -> tuple[str, str]:
    squashed = _can_vanish(index, given, spot)
    if not squashed or _is_clamped(index, given, spot):
        return "", ""
    better = "log_softmax" if squashed == "probability" else "logsigmoid"
    return "a probability that underflows to zero gives -inf", better


def _entropy(index: Index, product: Expr, spot: Spot) -> tuple[str, str] | None:
    """p * log(p), p * log(p * n)."""
    for factor, other in (product.parts, product.parts[::-1]):
        if other.kind == "call" and other.last in _LOGARITHMS and factor.kind == "path":
            given = subject(index, other, spot)
            multiplied = given.parts if given is not None and given.kind == "binary" and given.text == "*" else (given,)
            if any(part is not None and part.text == factor.text for part in multiplied):
                if given is not None and not _is_clamped(index, given, spot):
                    return (
                        f"0 * log(0) is NaN where {factor.text} has a zero",
                        f"torch.special.entr or log({factor.text} + eps)",
                    )
    return None


def _is_clamped(index: Index, expr: Expr, spot: Spot) -> bool:
    """Kept away from zero on the way."""
    return any(_is_clamp(part) for part, at in ingredients(index, expr, spot))


def _is_clamp(call: Expr) -> bool:
    """Not the greatest along a dimension: x.max(1), torch.max(x, dim=-1)."""
    if call.kind != "call" or call.last not in _CLAMPS:
        return False
    bounds = call.arguments[int(call.receiver is None or call.receiver.text == "torch") :]
    is_plain = call.receiver is None  # of Python: max(x, 1)
    return call.last != "max" or (bool(bounds) and (is_plain or bounds[0].kind not in ("number", "unary")))


def _can_vanish(index: Index, expr: Expr, spot: Spot) -> str:
    """Range of a probability, or of one minus a probability, that underflows; "" for anything else."""
    squashed = _squashed(index, expr, spot)
    return squashed.pop() if len(squashed) == 1 and squashed <= _VANISHING else ""


def _squashed(index: Index, expr: Expr, spot: Spot) -> set[str]:
    """Ranges of an expression, or of what is taken from one."""
    if expr.kind == "binary" and expr.text == "-" and expr.parts[0].text in ("1", "1.0", "1."):
        expr = expr.parts[1]
    return {value.range for value in index.values.of(expr, spot)}


def _division(index: Index, above: Expr, below: Expr, spot: Spot) -> tuple[str, str] | None:
    """x / x.norm(), x / x.std(), loss / mask.sum()."""
    if below.kind == "path":
        origins = list(index.flow.origins(below.text, spot))
        if len(origins) != 1 or origins[0].expr is None or origins[0].kind != "assign":
            return None
        below = origins[0].expr
    given = subject(index, below, spot) if below.kind == "call" else None
    if given is None:
        return None
    if below.last == "norm" and is_learned(index, above, spot):
        return "", ""
    if below.last in ("norm", "std") and above.kind == "path" and written(given).split(".")[0] == above.text:
        what = "zeros" if below.last == "norm" else "equal numbers"
        return f"{written(below)} of a row of {what} is zero", "+ eps in the denominator"
    if below.last == "sum" and "mask" in written(given).lower() and not below.arguments:
        return _MASKED
    return None


def _safe(expr: Expr, spot: Spot) -> Finding:
    return SAY.passed(spot.function.path, expr.line, f"{written(expr)} is not seen to meet zero")


def _question(expr: Expr, spot: Spot, said: str, better: str, also: Sequence[tuple[Expr, Spot]] = ()) -> Finding:
    """`also`: further places of which the same is asked."""
    path, line = spot.function.path, expr.line
    message = f"{written(expr)} at {path}:{line} is computed in training: {said}. Can it get there? Safer: {better}."
    message += f" The same at {len(also)} more places." if also else ""
    more = (Link(at.function.path, one.line, written(one)) for one, at in also)
    return SAY.fail(path, line, message, (Link(path, line, said), *more), "low")
