"""The seed is set when the model is there already: its weights differ from run to run.

A seed fixes what is drawn after it. The weights were drawn before, so two runs with one seed begin at different weights,
and a comparison of two settings also compares two draws. Every other number repeats, which hides it.

Fix: set the seed first, before the model is built.

Cannot see: seeds that are set by frameworks or outside of the program, and models that are built by what is not resolved.

Bad:
    import torch
    from torch import nn

    def main(loader):
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        torch.manual_seed(0)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

Good:
    import torch
    from torch import nn

    def main(loader):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Expr,
    External,
    Index,
    Instance,
    Site,
    Spot,
    is_module,
    is_test,
    never_meet,
    owns_parameters,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "seeded-after-model",
    "training-procedure",
    "note",
    "determinism",
    suspects=("unseeded-randomness",),
    claims=("fix-the-seed",),
)
_SEEDS = re.compile(r"seed", re.I)
_TRAINS = re.compile(rb"backward|optim|\.fit\(|train")
_LOADS = re.compile(r"load_state_dict|pretrain|load_(model|weights|checkpoint)")
_NO_MODEL = re.compile(r"loss|criter|metric", re.I)


def check(index: Index) -> Iterator[Finding]:
    for site in _seedings(index):
        if not is_test(site.function.path) and site.function.source.holds(_TRAINS):
            yield _examined(index, site)


def _seedings(index: Index) -> Iterator[Site]:
    """Calls that set the seed of torch, by themselves or in a function of their own."""
    names = {"manual_seed", "seed_everything", "set_seed"}
    names |= {site.function.name for site in index.calls("manual_seed") if _SEEDS.search(site.function.name)}
    for site in index.calls(*sorted(names)):
        if _SEEDS.search(site.function.name):
            continue
        own = any("fork_rng" in written(context) for context in site.event.block.contexts)
        if not own and (site.call.last != "manual_seed" or site.call.callee == "torch.manual_seed"):
            yield site


def _examined(index: Index, site: Site) -> Finding:
    path, line = site.function.path, site.call.line
    earlier = _model_before(index, site)
    if earlier is None:
        return SAY.passed(path, line, "no model is seen to be built before it")
    if _loads(site):
        return SAY.passed(path, line, "other weights are loaded")
    if _trains_elsewhere(index, site):
        return SAY.passed(path, line, "nothing trains where it is set")
    part = index.part(path)
    others = [one for one in _seedings(index) if one.call is not site.call and index.part(one.function.path) == part]
    if others:
        return SAY.passed(path, line, f"{others[0].function.path}:{others[0].call.line} sets a seed as well")
    call = earlier
    message = (
        f"{written(site.call)} at {path}:{line} sets the seed after {written(call)} at {path}:{call.line} has drawn its weights, which "
        "differ from run to run: is that meant? Expected the seed first."
    )
    chain = (Link(path, call.line, f"{written(call)} draws the weights"), Link(path, line, written(site.call)))
    return SAY.fail(path, line, message, chain, "medium", "note")


def _model_before(index: Index, site: Site) -> Expr | None:
    """A model that is built before, in the same loops and under no other condition."""
    here = site.event.block
    for position, event in enumerate(site.function.events[: site.position]):
        if event.kind == "assign" and event.value is not None and event.value.kind == "call":
            same = (
                event.block.loops == here.loops and event.block.branches == here.branches[: len(event.block.branches)]
            )
            if same and _draws(index, event.value, Spot(site.function, position)):
                return event.value
    return None


def _draws(index: Index, made: Expr, spot: Spot) -> bool:
    things = index.objects.of(made, spot)
    return bool(things) and all(isinstance(one, Instance) and _is_model(index, one) for one in things)


def _is_model(index: Index, thing: Instance) -> bool:
    if isinstance(thing.kind, External):
        return owns_parameters(index, thing)
    return is_module(index, thing) and not _NO_MODEL.search(thing.name)


def _loads(site: Site) -> bool:
    """Other weights take the place of those that were drawn, whatever else is asked for than the seed itself is."""
    here = site.event.block
    return any(
        _LOADS.search(call.last) and event.block.branches == here.branches[: len(event.block.branches)]
        for event in site.function.events
        for call in event.calls
    )


def _trains_elsewhere(index: Index, site: Site) -> bool:
    """Each training that the function comes to stands where the seed is not set: if args.test: ... else: train(model)."""
    here = Spot(site.function, site.position)
    trained = [effect.position for effect in index.effects.of(site.function) if effect.kind == "backward"]
    return bool(trained) and all(never_meet(here, Spot(site.function, one)) for one in trained)
