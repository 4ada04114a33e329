"""One term of the loss is cut from the graph and trains nothing.

loss = task + 0.1 * penalty.item() prints the right number, falls, and is differentiated as if the penalty
were not there: a constant has no gradient. The regulariser, the auxiliary head or the commitment loss that
the paper needs is only watched.

Fix: add the tensor; take item() or detach() only for what is logged.

Cannot see: terms that are cut inside libraries, and terms that are not resolved.

Bad:
    import torch.nn.functional as F
    from torch import nn

    model = nn.Linear(4, 2)

    def step(x, y, optimizer):
        out = model(x)
        loss = F.cross_entropy(out, y) + 0.1 * out.pow(2).mean().item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (the auxiliary loss is computed without gradients):
    import torch
    import torch.nn.functional as F
    from torch import nn

    body, side = nn.Linear(4, 4), nn.Linear(4, 2)

    def step(x, y, z, optimizer):
        hidden = body(x)
        with torch.no_grad():
            aux = F.mse_loss(side(hidden), z)
        loss = F.mse_loss(hidden, y)
        loss += 0.5 * aux
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good:
    import torch.nn.functional as F
    from torch import nn

    model = nn.Linear(4, 2)

    def step(x, y, optimizer, log):
        out = model(x)
        penalty = out.pow(2).mean()
        loss = F.cross_entropy(out, y) + 0.1 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(penalty.item())

Good (a value that is added and taken away again; weights that are stopped):
    import torch.nn.functional as F
    from torch import nn

    model = nn.Linear(4, 2)

    def step(x, y, shown, optimizer):
        out = model(x)
        task, side = F.mse_loss(out, y), out.abs().mean()
        loss = task + side * (task / side).detach()
        loss = loss - loss.detach() + shown
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good (a value that is shown in place of the loss):
    import torch.nn.functional as F
    from torch import nn

    model = nn.Linear(4, 2)

    def step(x, y, others, optimizer):
        loss = F.mse_loss(model(x), y)
        shown = 0.8 * loss.item() + 0.2 * F.mse_loss(model(others), y).item()
        total = loss + shown - loss.detach()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()

Good (the weight of the detached part is a property that learns):
    import torch

    class Temperature:
        def __init__(self, target):
            self.log_alpha = torch.zeros(1)
            self.log_alpha.requires_grad = True
            self.optimizer = torch.optim.Adam([self.log_alpha])
            self.target = target

        @property
        def alpha(self):
            return self.log_alpha.exp()

        def update(self, log_prob, value_loss):
            loss = (self.alpha * (-log_prob - self.target).detach()).mean() + 0.0 * self.alpha.mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Expr,
    Index,
    Spot,
    Term,
    Value,
    contradict,
    factors,
    is_test,
    terms,
    trained_losses,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "cut-loss-term",
    "loss",
    "error",
    "parameter_table",
    suspects=("loss-cut-from-graph",),
    claims=("detach-breaks-learning",),
    forms={
        "number": "a tensor made a number by item() in the function of the sum",
        "other": "other ways",
    },
    sure=("number",),
)
_LOSS = re.compile(r"loss|criterion|penalty|regul|(^|[_. ])(reg|aux|kl|kld|commit)", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    seen: set[Expr] = set()
    for loss, spot in trained_losses(index):
        found = terms(index, loss, spot)
        if len(found) > 1:
            yield from _examined(index, loss, spot, found, seen)


def _examined(index: Index, loss: Expr, spot: Spot, found: list[Term], seen: set[Expr]) -> Iterator[Finding]:
    """One finding for each cut term that was not reported before, or one for the sum."""
    path, line = spot.function.path, spot.line
    values = [index.values.of(term.expr, term.spot) for term in found]
    is_live = any(value.grad in ("live", "unknown") for alternatives in values for value in alternatives)
    failures = []
    is_shown = any(_is_balanced(term, found) for term, ways in zip(found, values, strict=True) if _cut(term, ways))
    for term, alternatives in zip(found, values, strict=True):
        is_sure = term.is_certain or _is_number(term.stands)
        is_meant = _is_apart(term, spot) or _has_live_weight(index, term) or _trains_alone(term)
        cut = _cut(term, alternatives) if is_sure and not is_meant else None
        if cut is not None and is_live and not is_shown and not is_test(term.spot.function.path):
            failures.append((term, cut))
    for term, cut in failures:
        if term.expr not in seen:
            seen.add(term.expr)
            yield _failure(term, cut, loss, spot)
    if failures:
        return
    unclear = [value.why for alternatives in values for value in alternatives if value.grad == "unknown"]
    if unclear:
        yield SAY.open(path, line, f"not every term of {written(loss)} is resolved: {unclear[0]}")
    else:
        yield SAY.passed(path, line, f"the {len(found)} terms of {written(loss)} lead back to parameters")


def _cut(term: Term, alternatives: tuple[Value, ...]) -> Value | None:
    """The value when every way gives something that is cut, and that was alive or is called a loss."""
    if _is_number(term.stands):  # the number that a loss begins with has no item()
        alternatives = tuple(value for value in alternatives if value.grad != "constant")
    if not alternatives or any(value.grad not in ("cut", "reborn") for value in alternatives):
        return None
    befores = {value.before for value in alternatives}
    named = " ".join((*term.names[1:][-1:], *(part.text for part in term.expr.walk() if part.kind == "path")))
    is_loss = befores <= {"live", "unknown"} and bool(_LOSS.search(named))
    return alternatives[0] if befores == {"live"} or is_loss else None


def _is_number(expr: Expr) -> bool:
    """item() stands in the sum itself, or around one factor of the term."""
    return any(part.kind == "call" and part.last == "item" for part in factors(expr))


def _is_apart(term: Term, spot: Spot) -> bool:
    """It is added only when nothing goes backward: in the else of `if training`, where backward() has an if of its own."""
    function = spot.function
    if term.spot.function is not function or max(term.spot.position, spot.position) >= len(function.events):
        return False
    added, sent = (function.events[one.position].block for one in (term.spot, spot))
    return contradict(function, added, sent)


def _has_live_weight(index: Index, term: Term) -> bool:
    weights = (value for weight, spot in term.weights for value in index.values.of(weight, spot))
    return any(value.grad in ("live", "leaf", "reborn") for value in weights)


def _trains_alone(term: Term) -> bool:
    """It went backward by itself before, and stands in the sum to be shown."""
    paths = [f"{part.text}." for part in term.expr.walk() if part.kind == "path"]
    calls = (call for event in term.spot.function.events for call in event.calls if call.last == "backward")
    alone = [call.receiver.text for call in calls if call.receiver is not None]
    return any(path.startswith(f"{name}.") for path in paths for name in alone)


def _is_balanced(term: Term, found: list[Term]) -> bool:
    """The same thing stands in the sum with the other sign, so all that is cut is only shown: loss - loss.detach() + shown."""
    cut = _paths(term)
    others = (other for other in found if other.sign != term.sign and other.spot.function is term.spot.function)
    return any(cut & {*other.names, *_paths(other)} for other in others)


def _paths(term: Term) -> set[str]:
    """What it is computed from, and whose method gives it."""
    paths = {part.text for part in term.expr.walk() if part.kind == "path"}
    return (paths | {path.rpartition(".")[0] for path in paths}) - {""}


def _failure(term: Term, cut: Value, loss: Expr, spot: Spot) -> Finding:
    path, line = term.spot.function.path, term.expr.line
    end = Link(spot.function.path, spot.line, "backward starts from the sum")
    at = cut.cut_at or Link(path, line, "it is cut")
    chain = (*cut.chain, end) if at in cut.chain else (at, *cut.chain, end)
    message = (
        f"{written(term.expr)} at {path}:{line} is a term of the loss {written(loss)} but was cut from the graph "
        f"({at.why} at {at.path}:{at.line}): it adds a constant and trains nothing; expected the tensor itself."
    )
    form = "number" if cut.before == "live" and _is_item(term, at) else "other"
    return SAY.fail(path, line, message, chain, form=form)


def _is_item(term: Term, at: Link) -> bool:
    """The tensor was made a number in the function of the sum: nobody does that to stop a gradient."""
    function = term.spot.function
    here = (event for event in function.events if event.line == at.line and function.path == at.path)
    return any(call.last == "item" for event in here for call in event.calls)
