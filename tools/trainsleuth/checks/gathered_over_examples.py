"""gather() takes over the axis of the examples what a column of indices says of each example.

q.gather(0, actions.unsqueeze(1)): the index has one column and a row for each example, so it was made for axis 1. Over axis 0 the numbers of the
actions count as rows: what is trained on is the values of the first examples of the batch, whatever the others are.

Question to answer: do the indices number examples?

Fix: gather(1, ...), the axis that was made for the index.

Cannot see: indices whose column is made elsewhere, index_select, indexing with brackets.

Bad:
    import torch
    from torch.nn import functional as F

    def learn(net, optimizer, states, actions, targets):
        values = torch.gather(net(states), dim=0, index=actions.unsqueeze(1)).squeeze()
        loss = F.smooth_l1_loss(values, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good:
    import torch
    from torch.nn import functional as F

    def learn(net, optimizer, states, actions, targets):
        values = torch.gather(net(states), dim=1, index=actions.unsqueeze(1)).squeeze()
        loss = F.smooth_l1_loss(values, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Site, Spot, is_test, makers, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "gathered-over-examples",
    "loss",
    "error",
    "",
    suspects=("wrong-axis-or-mask",),
    claims=("backprop-dependency-check",),
    look="give the examples in another order: each is to keep its own value",
)
_AS_WIDE = ("long", "int", "to", "type", "detach", "clone", "contiguous", "cuda", "cpu")
_COLUMN = re.compile(r"^-?1$")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("gather"):
        if not is_test(site.function.path) and (found := _taken(site.call)) is not None:
            axis, indices = found
            made = _column(index, site, indices)
            if made is None:
                continue
            if written(axis) == "0":
                yield _failure(site, made)
            else:
                yield SAY.passed(site.function.path, site.call.line, f"gathers over axis {written(axis)}")


def _taken(call: Expr) -> tuple[Expr, Expr] | None:
    """(axis, indices) of torch.gather(values, axis, indices) and values.gather(axis, indices)."""
    is_function = call.receiver is not None and call.receiver.text == "torch"
    place = 1 if is_function else 0
    axis, indices = call.argument(place, "dim"), call.argument(place + 1, "index")
    return (axis, indices) if axis is not None and indices is not None else None


def _column(index: Index, site: Site, indices: Expr) -> Expr | None:
    """What makes one column of the indices: unsqueeze(1), view(-1, 1), [:, None]."""
    for made, _ in makers(index, indices, Spot(site.function, site.position), 2):
        for part in _chain(made):
            if (
                part.kind == "call"
                and part.last == "unsqueeze"
                and part.arguments
                and _COLUMN.search(written(part.arguments[-1]))
            ):
                return part
            if (
                part.kind == "call"
                and part.last in ("view", "reshape")
                and [written(one) for one in part.arguments] == ["-1", "1"]
            ):
                return part
            if part.kind == "index" and [written(one) for one in part.parts[1:]] == [":", "None"]:
                return part
    return None


def _chain(expr: Expr) -> Iterator[Expr]:
    """actions.unsqueeze(1).long(): the call and those that it is called on."""
    here: Expr | None = expr
    while here is not None:
        yield here
        here = here.receiver if here.kind == "call" and here.last in _AS_WIDE else None


def _failure(site: Site, made: Expr) -> Finding:
    path, call = site.function.path, site.call
    chain = (
        Link(path, made.line, f"{written(made)} makes one column, with a row for each example"),
        Link(path, call.line, f"{written(call)} takes it over axis 0"),
    )
    message = (
        f"{written(call)} at {path}:{call.line} gathers over axis 0 by {written(made)}, one column with a row for each example: the numbers count as rows of the "
        "batch; expected axis 1."
    )
    return SAY.fail(path, call.line, message, chain, "medium")
