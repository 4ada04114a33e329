"""A derivative enters the loss without a graph of its own.

torch.autograd.grad gives plain numbers unless create_graph=True. A gradient penalty, a force or the residual
of a differential equation made of them is a constant for the optimizer: the loss shows it, and no parameter
hears of it. It is silent whenever another term of the loss has a gradient.

Fix: torch.autograd.grad(..., create_graph=True).

It is a note: samplers and energy models leave the graph out on purpose.

Cannot see: derivatives with respect to parameters (first-order meta-learning leaves the graph out on
purpose), flags that are computed, uses that are not resolved.

Bad:
    import torch
    import torch.nn.functional as F

    def penalty(critic, x):
        x.requires_grad_(True)
        slope = torch.autograd.grad(critic(x).sum(), x)[0]
        return ((slope.norm(dim=1) - 1) ** 2).mean()

    def step(critic, real, fake, optimizer):
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (the residual of an equation):
    import torch
    from torch.autograd import grad

    def train(net, points, data, optimizer):
        for t in points:
            t.requires_grad_(True)
            u = net(t)
            rate = grad(u, t, grad_outputs=torch.ones_like(u), retain_graph=True)[0]
            loss = ((rate + 2 * u) ** 2).mean() + ((u - data) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Good:
    import torch

    def penalty(critic, x):
        x.requires_grad_(True)
        slope = torch.autograd.grad(critic(x).sum(), x, create_graph=True)[0]
        return ((slope.norm(dim=1) - 1) ** 2).mean()

    def step(critic, real, fake, optimizer):
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good (a weight that balances two losses, stopped on purpose; an attack on the input):
    import torch
    import torch.nn.functional as F

    def step(model, x, y, optimizer):
        x.requires_grad_(True)
        loss = F.cross_entropy(model(x), y)
        push = torch.autograd.grad(loss, x, retain_graph=True)[0]
        harder = (x + 0.1 * push.sign()).detach()
        total = loss + F.cross_entropy(model(harder), y) * push.norm().detach()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Expr,
    External,
    Function,
    Index,
    Site,
    Spot,
    external_name,
    ingredients,
    is_test,
    losses_from,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "missing-create-graph",
    "loss",
    "note",
    "parameter_table",
    suspects=("loss-cut-from-graph",),
    claims=("detach-breaks-learning",),
)
_PARAMETERS = re.compile(r"param|weight|theta|phi|bias|\bw\b|state_dict|vars|variables", re.IGNORECASE)
_STEPWISE = frozenset(
    [
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "isnan",
        "isinf",
        "sign",
        "argmax",
        "argmin",
        "argsort",
        "logical_and",
        "logical_or",
        "logical_not",
    ]
)


_AUTOGRAD = re.compile(rb"autograd")


def check(index: Index) -> Iterator[Finding]:
    names = index.aliases("grad") if any(index.functions_holding(_AUTOGRAD)) else frozenset()
    doubtful: dict[Expr, Function] = {}
    for site in index.calls(*sorted(names)):
        spot = Spot(site.function, site.position)
        if is_test(site.function.path) or not _may_be_autograd(index, site) or not _is_autograd(index, site.call, spot):
            continue
        if said := _reason(site.call):
            yield SAY.passed(site.function.path, site.call.line, said)
        else:
            doubtful[site.call] = site.function
    for loss, start in losses_from(index, doubtful.values()):
        for call, spot in ingredients(index, loss, start, through_cuts=False, closed=_STEPWISE):
            if call in doubtful:
                del doubtful[call]
                yield _examined(call, spot, loss, start)


def _may_be_autograd(index: Index, site: Site) -> bool:
    """As far as the names say that it is written with."""
    symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
    return not isinstance(symbol, External) or symbol.name == "torch.autograd.grad"


def _is_autograd(index: Index, call: Expr, spot: Spot) -> bool:
    names = {external_name(thing) for thing in index.objects.of(call.parts[0], spot)}
    return names == {"torch.autograd.grad"}


def _reason(call: Expr) -> str:
    """Why nothing is missing, by the call alone; "" when something may be."""
    flag = call.argument(4, "create_graph")
    if flag is not None and flag.text != "False":
        return f"{written(call)} keeps its graph"
    wrt = call.argument(1, "inputs")
    if any(part.kind == "doublestar" for part in call.parts):
        return ""
    if wrt is None or _PARAMETERS.search(" ".join(part.text for part in wrt.walk())):
        return f"{written(call)} is a derivative by parameters"
    return ""


def _examined(call: Expr, spot: Spot, loss: Expr, start: Spot) -> Finding:
    path, line = spot.function.path, call.line
    if any(part.kind == "doublestar" for part in call.parts):
        return SAY.open(path, line, f"whether {written(call)} keeps its graph is not written out")
    chain = (
        Link(path, line, "the derivative is a plain number without create_graph=True"),
        Link(start.function.path, start.line, f"it goes into {written(loss)}, where backward starts"),
    )
    message = (
        f"{written(call)} at {path}:{line} enters the loss {written(loss)} without create_graph=True: no "
        "parameter gets a gradient through it; expected create_graph=True."
    )
    return SAY.fail(path, line, message, chain)
