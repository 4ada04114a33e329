"""What the loss of a policy is made of: log-probabilities of actions, and what says how good they were."""

from __future__ import annotations

import re

from trainsleuth.facts import Expr, Index, Spot, Term, terms

_GAIN = re.compile(r"adv|return|reward|^(R|G|Gt|G_t|gae)$", re.IGNORECASE)
NEGATED = re.compile(r"neg|minus|nll|cost|loss", re.IGNORECASE)


def is_gain(expr: Expr) -> bool:
    """An advantage or a return by its name, through detach(), indices and shapes."""
    while expr.kind in ("call", "index", "unary"):
        inner = expr.receiver if expr.kind == "call" else expr.parts[0]
        if inner is None or inner.text == "torch":
            return False
        expr = inner
    return expr.kind in ("path", "attr") and bool(_GAIN.search(expr.last)) and not NEGATED.search(expr.last)


def log_prob_sign(index: Index, expr: Expr, spot: Spot) -> int:
    """Sign with which a factor holds the result of `dist.log_prob(...)`; 0 when it does not."""
    inner = terms(index, expr, spot)
    signs = {term.sign for term in inner}
    is_log = bool(inner) and all(_is_log_prob(index, term) for term in inner)
    return signs.pop() if is_log and len(signs) == 1 else 0


def _is_log_prob(index: Index, term: Term) -> bool:
    expr = term.expr
    while expr.kind in ("call", "index") and expr.last != "log_prob":
        inner = expr.parts[0] if expr.kind == "index" else expr.receiver
        if inner is None:
            return False
        expr = inner
    return expr.kind == "call" and expr.last == "log_prob"
