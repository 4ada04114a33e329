"""A divergence is taken between two softmaxes, and only the student's logits are divided by the temperature.

The student is softened, the teacher is not: the minimum is where the student's logits are T times those of the teacher, so what is
distilled is another distribution than the teacher's, and the soft part that the temperature was for is not in it. The loss falls
all the same.

So it is where a contrastive loss takes exp(positives * T) over the sum of exp(similarity / T).

Question to answer: does the target get its temperature elsewhere?

Fix: softmax(teacher / T) beside log_softmax(student / T).

Cannot see: softmaxes of other functions; targets that are sharpened on purpose, which are divided alone.

Bad:
    import torch.nn.functional as F
    from torch import nn

    class Distillation(nn.Module):
        def __init__(self, T):
            super().__init__()
            self.T = T

        def forward(self, y_s, y_t):
            p_s = F.log_softmax(y_s / self.T, dim=1)
            p_t = F.softmax(y_t, dim=1)
            return F.kl_div(p_s, p_t, reduction="batchmean") * self.T**2

Good:
    import torch.nn.functional as F
    from torch import nn

    class Distillation(nn.Module):
        def __init__(self, T):
            super().__init__()
            self.T = T

        def forward(self, y_s, y_t):
            p_s = F.log_softmax(y_s / self.T, dim=1)
            p_t = F.softmax(y_t / self.T, dim=1)
            return F.kl_div(p_s, p_t, reduction="batchmean") * self.T**2

Good (a target that is sharpened, as for unlabelled examples):
    import torch.nn.functional as F

    def consistency(weak, strong, temperature):
        target = F.softmax(weak.detach() / temperature, dim=1)
        return F.kl_div(F.log_softmax(strong, dim=1), target, reduction="batchmean")
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index, Site, Spot, is_test, reaching, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "temperature-on-one-side",
    "loss",
    "warning",
    "",
    suspects=("another-loss-fault",),
    claims=("fails-silently",),
    look="print the entropies of the two distributions: they should be of one size when the logits are",
    forms={"one side": "divided on one side alone", "both ways": "divided by it in one place, multiplied in the other"},
)
_SOFTENS = re.compile(rb"log_softmax\([^\n]*/|LogSoftmax")
_EXPONENTIAL = re.compile(rb"exp\([^\n]*\*|softmax\([^\n]*\*")
_EXPONENTIALS = ("exp", "softmax", "log_softmax", "logsumexp", "cross_entropy")
_SOFTMAX = ("softmax", "log_softmax")
_PLAIN = ("detach", "clone", "float", "contiguous", "view", "reshape", "to", "flatten", "squeeze")
_TEMPERATURE = re.compile(r"(^|_)(t|temp(erature)?s?|tau|kd_?t|dist_?t)(_|$)", re.I)


class _Side(NamedTuple):
    """One operand of the divergence: the softmax, and what it is taken of."""

    softmax: Expr
    logits: Expr
    position: int


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls_holding(("kl_div", "KLDivLoss")):
        function = site.function
        if not is_test(function.path) and len(site.call.arguments) > 1:
            student, target = (_side(function, one, site.position) for one in site.call.arguments[:2])
            if student is not None and target is not None and student.softmax.last == "log_softmax":
                if (finding := _examined(index, site, student, target)) is not None:
                    yield finding
    for function in index.functions_holding(_EXPONENTIAL):
        if not is_test(function.path):
            yield from _both_ways(function)


def _both_ways(function: Function) -> Iterator[Finding]:
    """exp(positives * temperature) over the sum of exp(similarity / temperature)."""
    scaled: dict[tuple[str, str], Expr] = {}
    for event in function.events:
        for call in event.calls:
            given = call.arguments[0] if call.last in _EXPONENTIALS and call.arguments else None
            if given is not None and given.kind == "binary" and given.text in ("*", "/"):
                by = given.parts[1]
                if by.kind == "path" and _TEMPERATURE.search(by.last):
                    scaled.setdefault((by.text, given.text), call)
    for (name, way), call in scaled.items():
        path, other = function.path, scaled.get((name, "/"))
        if way == "/" and (name, "*") not in scaled:
            yield SAY.passed(path, call.line, f"{name} only divides")
        elif way == "*" and other is not None:
            one, two = written(call), written(other)
            chain = (Link(path, call.line, one), Link(path, other.line, two))
            message = (
                f"{one} at {path}:{call.line} multiplies by {name}, {two} at {path}:{other.line} divides by it: the two sides are not on one scale. Is "
                "the same meant in both?"
            )
            yield SAY.fail(path, call.line, message, chain, "medium", form="both ways")


def _side(function: Function, expr: Expr, position: int) -> _Side | None:
    while expr.kind in ("call", "path"):
        if expr.kind == "path":
            found, certain = reaching(function, expr.text, position)
            if len(found) != 1 or not certain or found[0].kind != "assign" or found[0].items or found[0].value is None:
                return None
            position, expr = found[0].position, found[0].value
        elif expr.last in _SOFTMAX:
            owner = expr.receiver
            is_method = owner is not None and owner.last not in ("F", "functional", "torch", "nn")
            logits = owner if is_method else expr.argument(0, "input")
            return _Side(expr, logits, position) if logits is not None else None
        elif expr.last in _PLAIN and expr.receiver is not None:
            expr = expr.receiver
        else:
            return None
    return None


def _divisor(function: Function, side: _Side) -> Expr | bool | None:
    """The temperature that the logits are divided by; None for none, and True where that is not known."""
    expr, position = side.logits, side.position
    for _ in range(6):
        while expr.kind == "call" and expr.last in _PLAIN and expr.receiver is not None:
            expr = expr.receiver
        if expr.kind == "binary":
            divides = expr.text == "/" and expr.parts[1].kind in ("path", "index", "attr")
            return expr.parts[1] if divides and _TEMPERATURE.search(_name(expr.parts[1])) else True
        if expr.kind != "path" or "." in expr.text:
            return None if expr.kind in ("path", "index", "attr") else _unless_told(expr)
        found, certain = reaching(function, expr.text, position)
        if not found:
            return None
        if len(found) != 1 or not certain or found[0].kind != "assign" or found[0].value is None:
            return True
        if found[0].items:
            return _unless_told(found[0].value)
        position, expr = found[0].position, found[0].value
    return True


def _name(expr: Expr) -> str:
    strings = [part.text for part in expr.walk() if part.kind == "string"]
    return expr.last or (strings[-1] if strings else "")


def _unless_told(expr: Expr) -> bool | None:
    """None where a network may give it, which knows of no temperature; True where one is given to the call."""
    return True if any(_TEMPERATURE.search(_name(part)) for part in expr.walk() if part.last) else None


def _examined(index: Index, site: Site, student: _Side, target: _Side) -> Finding | None:
    function, path, line = site.function, site.function.path, target.softmax.line
    one, other = _divisor(function, student), _divisor(function, target)
    if one is None and other is None:
        return None
    if one is True or other is True:
        return SAY.open(path, line, "what the logits are multiplied by is not followed")
    if one is None or other is not None:
        return SAY.passed(path, line, f"the target is divided by {written(other)}" if isinstance(other, Expr) else "")
    if _comes_divided(index, Spot(function, target.position), target.logits):
        return SAY.open(path, line, f"{written(target.logits)} may be divided where it comes from")
    assert isinstance(one, Expr)
    return _failure(path, student, target, one)


def _comes_divided(index: Index, spot: Spot, logits: Expr) -> bool:
    """Some caller of the function divides what it gives."""
    if logits.kind != "path" or spot.function.parameter(logits.text) is None:
        return False
    calls = (caller.call for caller in index.callers(spot.function))
    return any(part.text in ("/", "*") for call in calls for given in call.parts[1:] for part in given.walk())


def _failure(path: str, student: _Side, target: _Side, temperature: Expr) -> Finding:
    soft, hard, t = written(student.softmax), written(target.softmax), written(temperature)
    chain = (
        Link(path, student.softmax.line, f"{soft} is at temperature {t}"),
        Link(path, target.softmax.line, f"{hard} is at temperature 1"),
    )
    message = (
        f"{soft} at {path}:{student.softmax.line} is compared with {hard} at {path}:{target.softmax.line}: only one of the two is "
        f"divided by {t}. Is {written(target.logits)} / {t} meant?"
    )
    return SAY.fail(path, target.softmax.line, message, chain, "medium", form="one side")
