"""The KL divergence of a normal distribution from the standard one, as it stands in the losses of autoencoders."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Term, number_sign, written

_SIGNS = {"exp": 1, "square": 1, "log-variance": -1, "one": -1}


def divergences(found: list[Term]) -> Iterator[tuple[str, Term, str]]:
    """-0.5 * (1 + logvar - mu^2 - exp(logvar)), which must be added."""
    for exp in found:
        inside = _exponent(exp.expr)
        if not inside:
            continue
        near = [t for t in found if t.where.function is exp.where.function and abs(t.stands.line - exp.stands.line) < 4]
        signs: dict[str, set[int]] = {"exp": {exp.sign}}
        for term in near:
            if (kind := _kind(term.stands, inside)) is not None:
                signs.setdefault(kind, set()).add(term.sign)
        if set(signs) != set(_SIGNS) or any(len(one) > 1 for one in signs.values()):
            continue
        wrong = [kind for kind, sign in _SIGNS.items() if signs[kind] != {sign}]
        if len(wrong) == len(_SIGNS):
            yield "the KL divergence", exp, "is taken away from the loss, so it is driven to infinity"
        elif not wrong:
            yield "the KL divergence", exp, ""
    for term in found:
        if term.expr.kind == "call" and term.expr.last == "kl_divergence":
            yield "the KL divergence", term, "is taken away from the loss" if term.sign < 0 else ""


def _exponent(expr: Expr) -> str:
    """Text of x in exp(x)."""
    if expr.kind != "call" or expr.last != "exp":
        return ""
    given = expr.argument(0, "input") or expr.receiver
    return given.text if given is not None and given.kind == "path" else ""


def _kind(expr: Expr, log_variance: str) -> str | None:
    if expr.kind == "path" and expr.text == log_variance:
        return "log-variance"
    if number_sign(expr):
        return "one"
    if expr.kind == "call" and expr.last in ("pow", "square"):
        return "square"
    if expr.kind == "binary" and expr.text == "**":
        return "square"
    if expr.kind == "binary" and expr.text == "*" and written(expr.parts[0]) == written(expr.parts[1]):
        return "square"
    return None
