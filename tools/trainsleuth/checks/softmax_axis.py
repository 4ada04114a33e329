"""A softmax runs over the batch axis.

softmax(dim=0) on a batch makes the examples compete with each other instead of the classes or the positions;
so does a softmax without dim on three axes, where torch picks axis 0. The numbers still lie between 0 and 1
and the loss still falls. The result for one example depends on its neighbours in the batch.

Fix: softmax(dim=-1) over classes, or over the keys of attention.

Cannot see: tensors whose number of axes the code does not say; there a missing dim or dim=0 is a question
only.

Bad:
    import torch
    import torch.nn.functional as F

    def attend(query, key, value):
        scores = torch.bmm(query, key.transpose(1, 2))
        return torch.bmm(F.softmax(scores), value)

Bad (a layer, after flatten):
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(64, 10)
            self.act = nn.Softmax(dim=0)

        def forward(self, x):
            x = x.flatten(1)
            return self.act(self.fc(x))

Good:
    import torch
    import torch.nn.functional as F

    def attend(query, key, value):
        scores = torch.bmm(query, key.transpose(1, 2))
        return torch.bmm(F.softmax(scores, dim=-1), value)

Good (one axis only, or the axis of the classes; weights of a few models):
    import torch
    from torch import nn

    class Mix(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.weights = nn.Parameter(torch.zeros(n))

        def forward(self, outputs, x):
            mixed = (torch.softmax(self.weights, dim=0)[:, None] * outputs).sum(0)
            return mixed, x.view(x.size(0), -1).softmax(1)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Expr,
    External,
    Index,
    Instance,
    Rank,
    Site,
    Spot,
    axis_of,
    external_name,
    is_module_class,
    is_test,
    rank_of,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "softmax-axis",
    "architecture",
    "error",
    "loss_contract",
    suspects=("wrong-axis-or-mask",),
    claims=("backprop-dependency-check",),
    forms={"named": "an axis that is written out", "unnamed": "no axis, and three of them"},
    sure=("named",),
)
_FUNCTIONS = ("softmax", "log_softmax", "softmin", "gumbel_softmax")
_LOSSES = ("nll_loss", "kl_div")
_OUTPUT = re.compile(r"(^|_)(logits?|outputs?|preds?|predictions?)$")
_LAYERS = frozenset(["Softmax", "LogSoftmax", "Softmin"])


_KNOWN = ("input", "dim", "axis", "dtype", "tau", "hard", "eps", "_stacklevel")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls(*_FUNCTIONS):
        if not is_test(site.function.path):
            yield from _function(index, site)
    for site in index.calls_holding(_LAYERS):
        if site.call.last not in _LAYERS and not is_test(site.function.path):
            yield from _layer(index, site)


def _function(index: Index, site: Site) -> Iterator[Finding]:
    call, spot = site.call, Spot(site.function, site.position)
    things = index.objects.of(call.parts[0], spot)
    if any(isinstance(thing, Instance) for thing in things):
        return  # a layer under the name of the function
    names = {external_name(thing) for thing in things}
    is_torch = any(name.startswith("torch.") for name in names)
    if is_torch and call.arguments:
        place = {"gumbel_softmax": 4}.get(call.last, 1)
        yield _examined(index, spot, call, call.argument(0, "input"), call.argument(place, "dim", "axis"))
    elif not is_torch and not index.functions_named(call.last) and call.receiver is not None:
        if not isinstance(index.resolve(site.function, call.receiver.text), External):
            yield _examined(index, spot, call, call.receiver, call.argument(0, "dim", "axis"))


def _layer(index: Index, site: Site) -> Iterator[Finding]:
    """A call of a softmax layer that was made somewhere else."""
    spot = Spot(site.function, site.position)
    things = index.objects.of(site.call.parts[0], spot)
    layers = [t for t in things if isinstance(t, Instance) and external_name(t).rpartition(".")[2] in _LAYERS]
    if layers and len(layers) == len(things) and site.call.arguments and layers[0].call is not None:
        yield _examined(index, spot, site.call, site.call.arguments[0], layers[0].call.argument(0, "dim"))


def _examined(index: Index, spot: Spot, call: Expr, given: Expr | None, dim: Expr | None) -> Finding:
    path, line = spot.function.path, call.line
    axis = axis_of(dim)
    if any(part.kind == "keyword" and part.text not in _KNOWN for part in call.parts[1:]):
        return SAY.passed(path, line, "a keyword that torch refuses: it never runs")
    if given is None or (dim is not None and axis is None):
        return SAY.open(path, line, f"the axis of {written(call)} is not written out")
    if axis not in (None, 0) and not (axis is not None and axis < -1):
        return SAY.passed(path, line, f"{written(call)} runs over axis {axis}")
    rank = rank_of(index, given, spot)
    row = _row_by_row(spot, call)
    if row is not None and axis == 0:
        rank = Rank(2, True, f"{written(row)} picks one number for each example", path, row.line, is_exact=False)
    if rank is not None:
        if _runs_over_batch(axis, rank):
            return _failure(spot, call, rank, axis)
        if axis == 0 and rank.axes > 2 and _is_in_model(index, spot):
            return _question(spot, call)
        return SAY.passed(path, line, f"{written(call)} has {rank.axes} axes: {rank.why}")
    is_output = index.values.one(given, spot).range == "logits" or _is_called_output(given)
    if axis == 0 and ((_is_in_model(index, spot) and is_output) or _is_given_to_loss(spot, call)):
        return _question(spot, call)
    return SAY.open(path, line, f"how many axes {written(given)} has is not resolved")


def _runs_over_batch(axis: int | None, rank: Rank) -> bool:
    """torch takes axis 0 of 0, 1 and 3 axes when none is named."""
    if axis is None:
        return rank.axes == 3 and rank.is_exact and rank.is_batch_first
    return rank.axes > 1 and rank.is_batch_first and (axis == 0 or (axis == -rank.axes and rank.is_exact))


def _row_by_row(spot: Spot, call: Expr) -> Expr | None:
    """p[range(n), y], where p is the result of `call`; softmax(scores, 0).cpu()[:, 1]"""
    event = spot.function.events[spot.position]
    for part in event.value.walk() if event.value is not None else ():
        if part.kind == "index" and len(part.parts) == 3 and _is_of(part.parts[0], call):
            if part.parts[1].kind == "slice" and not part.parts[1].parts and part.parts[2].kind == "number":
                return part
    if event.kind != "assign" or event.value is not call:
        return None
    names = {target.text for target in event.targets if target.kind == "path"}
    for later in spot.function.events[spot.position + 1 :]:
        for part in later.value.walk() if later.value is not None else ():
            if part.kind == "index" and part.parts[0].text in names and len(part.parts) == 3:
                if part.parts[1].kind == "call" and part.parts[1].last in ("range", "arange"):
                    return part
    return None


def _is_of(expr: Expr, call: Expr) -> bool:
    """`call` itself, or call.cpu().data.numpy()"""
    while expr is not call:
        inner = expr.receiver if expr.kind == "call" else expr.parts[0] if expr.kind == "attr" else None
        if inner is None:
            return False
        expr = inner
    return True


def _is_given_to_loss(spot: Spot, call: Expr) -> bool:
    """F.nll_loss(F.log_softmax(scores, dim=0), target)"""
    event = spot.function.events[spot.position]
    return any(
        part.kind == "call" and part.last in _LOSSES and any(one is call for one in part.arguments)
        for part in (event.value.walk() if event.value is not None else ())
    )


def _is_called_output(expr: Expr) -> bool:
    """By its name what a network gave for a batch, perhaps scaled: teacher_output / temperature."""
    while expr.kind == "binary" and expr.text in ("/", "*", "-", "+"):
        expr = expr.parts[0]
    return expr.kind == "path" and bool(_OUTPUT.search(expr.last))


def _is_in_model(index: Index, spot: Spot) -> bool:
    cls = index.class_of(spot.function)
    return cls is not None and is_module_class(index, cls)


def _failure(spot: Spot, call: Expr, rank: Rank, axis: int | None) -> Finding:
    path, line = spot.function.path, call.line
    how = "has no dim and three axes, so torch takes axis 0" if axis is None else f"runs over axis {axis}"
    chain = (Link(rank.path, rank.line, rank.why), Link(path, line, f"{written(call)} {how}"))
    message = (
        f"{written(call)} at {path}:{line} {how}, which is the batch ({rank.why} at {rank.path}:{rank.line}): the "
        "examples of a batch compete with each other; expected dim=-1."
    )
    return SAY.fail(path, line, message, chain, form="unnamed" if axis is None else "named")


def _question(spot: Spot, call: Expr) -> Finding:
    path, line = spot.function.path, call.line
    said = f"{written(call)} runs over the first axis"
    message = f"{said} at {path}:{line}: is its input one vector, or is that axis the batch?"
    return SAY.fail(path, line, message, (Link(path, line, said),), "low", "note")
