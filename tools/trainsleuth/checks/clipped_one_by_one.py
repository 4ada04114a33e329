"""The gradient of each parameter is clipped by itself, not the gradient of all of them.

clip_grad_norm_ takes the norm of what it is given. Called in a loop over the parameters it sees one tensor at a time:
the large ones are shortened and the small ones are not, so the step points elsewhere, and the norm of the whole may be as
large as the limit times the root of their number. Recipes that name a norm mean the norm of the whole.

Fix: clip_grad_norm_(model.parameters(), limit), once.

Cannot see: hooks of single parameters, which cannot do otherwise, and loops over groups of parameters.

Bad:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            for p in model.parameters():
                torch.nn.utils.clip_grad_norm_(p, 1.0)
            optimizer.step()

Good:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

Good (each number by itself: it does not matter how many are given):
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            for p in model.parameters():
                torch.nn.utils.clip_grad_value_(p, 1.0)
            optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Site, Spot, is_test, makers, written
from trainsleuth.finding import Finding, Link

from ._scaling import knows_scale
from ._verdicts import Verdicts

SAY = Verdicts(
    "clipped-one-by-one",
    "training-procedure",
    "note",
    "step_trace",
    suspects=("step-order",),
    claims=("clipping-masks",),
)
_PARAMETERS = ("parameters", "named_parameters")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("clip_grad_norm_", "clip_grad_norm"):
        given = site.call.argument(0, "parameters")
        if given is not None and not is_test(site.function.path):
            yield _examined(index, site, given)


def _examined(index: Index, site: Site, given: Expr) -> Finding:
    path, line = site.function.path, site.call.line
    alone = given.parts[0] if given.kind in ("list", "tuple") and len(given.parts) == 1 else given
    source = next((over for one, over in _loops(site) if alone.kind == "path" and alone.text in _names(one)), None)
    spot = Spot(site.function, site.position)
    made = makers(index, source, spot) if source is not None else ()
    here = [one for one, at in made if at.function is site.function]  # what is handed in may be groups as well
    if source is None or not any(_gives_parameters(one) for one in here):
        return SAY.passed(path, line, f"{written(given)} is clipped as a whole")
    if knows_scale(index, site.call, spot):
        return SAY.passed(path, line, f"{written(site.call)} looks at the norm only, or its limit moves")
    message = (
        f"{written(site.call)} at {path}:{line} clips each tensor of {written(source)} by itself, so the direction of the step changes and "
        "the norm of all gradients may pass the limit: is that meant? Recipes clip the norm of all, in one call."
    )
    chain = (Link(path, source.line, f"for each of {written(source)}"), Link(path, line, written(site.call)))
    return SAY.fail(path, line, message, chain, "medium", "note")


def _loops(site: Site) -> Iterator[tuple[Expr, Expr]]:
    """(target, what is gone over) of the loops and comprehensions around the call."""
    for loop in site.function.loops:
        if loop.id in site.event.block.loops and loop.target is not None and loop.source is not None:
            yield loop.target, loop.source
    for whole in site.event.value.walk() if site.event.value is not None else ():
        if whole.kind == "each" and any(part is site.call for part in whole.walk()):
            yield from ((clause.parts[0], clause.parts[1]) for clause in whole.parts[1:] if clause.kind == "for")


def _names(target: Expr) -> set[str]:
    return {part.text for part in target.walk() if part.kind == "path"}


def _gives_parameters(source: Expr) -> bool:
    """model.parameters(), filter(..., model.parameters()), group["params"]"""
    if source.kind == "index":
        return any(part.kind == "string" and part.text == "params" for part in source.parts[1:])
    inside = [part for part in source.walk() if part.kind == "call"]
    return any(call.last in _PARAMETERS for call in inside) and source.kind in ("call", "each")
