"""The loss that is trained on has no path back to the model.

item(), detach(), .data, numpy(), float() or torch.tensor() leave the graph behind. backward() on such a
number fails, so it gets wrapped with requires_grad=True: now backward() runs, fills the gradient of a fresh
leaf, and the model never changes. The loss is printed, the optimizer steps, and nothing is learned.

Fix: call backward() on the tensor that the loss function returned; take item() only for printing.

A loss that nothing made a leaf again is a note: there backward() raises, so code that runs is likely to be right.

Cannot see: a detour through files, queues or objects that are not resolved, graphs cut inside libraries,
losses where a live term and a cut term are added (those train, if not as meant).

Bad:
    import torch
    from torch import nn

    model = nn.Linear(10, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(loader):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss = torch.tensor(loss.item(), requires_grad=True)
            loss.backward()
            optimizer.step()

Bad (the prediction is cut, the loss is computed from a copy):
    import torch
    from torch import nn

    model = nn.Linear(10, 1)
    criterion = nn.MSELoss()

    def step(loader, optimizer):
        for x, y in loader:
            optimizer.zero_grad()
            prediction = model(x).detach().requires_grad_()
            loss = criterion(prediction, y)
            loss.backward()
            optimizer.step()

Good:
    import torch
    from torch import nn

    teacher = nn.Linear(10, 2)
    student = nn.Linear(10, 2)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)

    def train(loader):
        total = 0.0
        for x, y in loader:
            target = teacher(x).detach()
            loss = nn.functional.mse_loss(student(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import TOO_FAR, Expr, Index, Site, Spot, Value, minimised, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "detached-loss",
    "training-procedure",
    "error",
    "parameter_table",
    suspects=("loss-cut-from-graph",),
    claims=("detach-breaks-learning",),
    forms={"itself": "the loss itself, cut and made a leaf in the function that goes backward", "other": "other ways"},
    sure=("itself",),
)


def check(index: Index) -> Iterator[Finding]:
    for found in minimised(index):
        yield _examined(index, found.site, found.loss)


def _examined(index: Index, site: Site, loss: Expr) -> Finding:
    path, line, shown = site.function.path, site.call.line, written(loss)
    opened: list[str] = []
    anyhow = Spot(site.function, site.position)
    contexts = index.calling.contexts(site.function) if _may_fail(index, loss, anyhow) else (None,)
    for spot in (anyhow._replace(frame=frame) for frame in contexts):
        values = index.values.of(loss, spot)
        if values and all(_is_dead_end(value) for value in values) and not _reads_leaf_gradient(site):
            named = next((v for v in values if v.chain), values[0])
            is_sure = all(value.is_bare and _is_cut_in(site, value) for value in values)
            return _failure(site, shown, named, "itself" if is_sure else "other")
        opened += [value.why or "its parts were not all resolved" for value in values if value.grad == "unknown"]
        if any(value.why == TOO_FAR for value in values):
            break  # each other way here would be as long, and given up as well
    if opened:
        said = f"whether {shown} leads back to parameters is not resolved: {opened[0]}"
        return SAY.open(path, line, said)
    return SAY.passed(path, line, f"{shown} leads back to parameters")


def _may_fail(index: Index, loss: Expr, spot: Spot) -> bool:
    """In some way of getting there it is a dead end, as far as all ways together show."""
    return any(_is_dead_end(value) for value in index.values.of(loss, spot))


def _is_dead_end(value: Value) -> bool:
    """No gradient can get past it, and there was something behind it that could have trained."""
    if value.grad == "cut":
        return value.before in ("live", "unknown")
    return value.grad == "reborn" and (value.before == "live" or value.is_bare)


def _reads_leaf_gradient(site: Site) -> bool:
    """The gradient of the leaf is passed on by hand, as gradient caches do."""
    after = site.function.events[site.position + 1 :]
    parts = [event.value for event in after if event.value is not None]
    return any(
        expr.kind in ("path", "attr") and expr.last == "grad" and not written(expr).startswith(("param", "p."))
        for part in parts
        for expr in part.walk()
    )


def _is_cut_in(site: Site, value: Value) -> bool:
    at, function = value.cut_at, site.function
    return at is not None and at.path == function.path and function.line <= at.line <= function.end_line


def _failure(site: Site, shown: str, value: Value, form: str) -> Finding:
    path, line = site.function.path, site.call.line
    chain = (*value.chain, Link(path, line, "backward() starts from it and reaches no parameter"))
    at = value.cut_at or (value.chain[0] if value.chain else Link(path, line, "it is made there"))
    where = f"{at.path}:{at.line}: {at.why}"
    message = (
        f"backward() at {path}:{line} cannot reach the model: {shown} was cut from the graph at {where}; "
        "expected the tensor that the loss function returned."
    )
    if value.grad != "reborn":
        said = f"{message} As it stands backward() would raise: is it caught, or is something in it not seen?"
        return SAY.fail(at.path, at.line, said, chain, "low", "note")
    return SAY.fail(at.path, at.line, message, chain, form=form)
