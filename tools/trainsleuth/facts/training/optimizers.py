"""Optimizers that are built, and what they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..naming.sites import Site, is_test
from ..records import Expr, Function
from ..tensors.ingredients import ingredients
from ..tracing.things import Instance, Spot
from ..words import words
from .roles import is_optimizer

if TYPE_CHECKING:
    from ..index import Index


class Built(NamedTuple):
    """One optimizer construction. `name`: the variable that gets it, "" when it is handed on at once.

    `owned`: the modules and tensors whose parameters it is given, as dotted paths in the words of the function
    that writes them; `why`: what could not be resolved, "" when all is known.
    """

    site: Site
    name: str
    owned: tuple[tuple[str, Function], ...]
    why: str = ""

    @property
    def spot(self) -> Spot:
        return Spot(self.site.function, self.site.position)

    def owns(self, path: str, function: Function) -> bool:
        """It is given the parameters of `path`, of something around it, or of something inside it."""
        dotted = f"{path}."
        return any(
            (where is function and f"{one}.".startswith(dotted)) or dotted.startswith(f"{one}.")
            for one, where in self.owned
        )


def built_optimizers(index: Index) -> Iterator[Built]:
    """Every construction outside tests of an optimizer whose class is known."""
    for site in index.calls(*sorted(OPTIMIZER_CLASSES)):
        if is_test(site.function.path):
            continue
        things = index.objects.of(site.call, Spot(site.function, site.position))
        if things and all(isinstance(thing, Instance) and is_optimizer(index, thing) for thing in things):
            yield _built(index, site)


def _built(index: Index, site: Site) -> Built:
    spot = Spot(site.function, site.position)
    event = site.event
    name = event.targets[0].text if event.kind == "assign" and event.targets and event.value is site.call else ""
    given = site.call.argument(0, "params")
    if given is None:
        return Built(site, name, (), "its parameters are not written out")
    owned: dict[tuple[str, Function], None] = {}
    why = ""
    for expr, at in ingredients(index, given, spot, closed=LISTING):
        if expr.kind == "call" and expr.last in LISTING:
            owner = expr.receiver
            if owner is not None and owner.kind == "path":
                owned[_outward(index, owner.text, at)] = None
            else:
                why = f"whose parameters at line {expr.line}"
        elif expr.kind == "path" and expr.text.endswith((".weight", ".bias")):
            owned[(expr.text, at.function)] = None
        elif expr.kind == "path" and _is_open(index, expr, at):
            why = f"{expr.text} at line {expr.line} is not resolved"
    return Built(site, name, tuple(owned), why)


def _outward(index: Index, path: str, spot: Spot) -> tuple[str, Function]:
    """A path inside a helper in the words of the function that calls it, as far as it has a name there."""
    frame = spot.frame
    while frame is not None and frame.function is spot.function and frame.call is not None and frame.caller is not None:
        head, dot, rest = path.partition(".")
        given = index.flow.given(frame.function, frame.call, head, frame.owner is not None)
        if given is None or given.kind != "path":
            break
        path, spot = f"{given.text}{dot}{rest}", frame.caller
        frame = spot.frame
    return path, spot.function


def _is_open(index: Index, expr: Expr, spot: Spot) -> bool:
    origins = list(index.flow.origins(expr.text, spot))
    return any(origin.kind == "unknown" for origin in origins)


LISTING = frozenset(["parameters", "named_parameters", "trainable_parameters"])
OPTIMIZER_CLASSES = words(
    """
    Adam AdamW SGD RMSprop Adagrad Adadelta Adamax NAdam RAdam LBFGS Rprop ASGD SparseAdam Adafactor Lion
    AdamW8bit Adam8bit Optimizer FusedAdam FusedLAMB LAMB Lamb Muon
    """
)
