"""Dropout stays on when the model is evaluated.

F.dropout(x, p) has training=True by default: model.eval() does not reach it. So does a layer that is made
inside forward, which is always new and in training mode. Evaluation is noisy and a bit worse each time. A
few models (Tacotron's prenet, Monte Carlo dropout) mean it, so it is a question.

Fix: F.dropout(x, p, training=self.training), or nn.Dropout made in the constructor.

Cannot see: a probability that is set to zero at evaluation through names that are not resolved.

Bad:
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 2)

        def forward(self, x):
            return self.fc(F.dropout(x, p=0.5))

Bad (a layer made in forward):
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 2)

        def forward(self, x):
            return nn.Dropout(0.2)(self.fc(x))

Good:
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 2)
            self.drop = nn.Dropout(0.2)

        def forward(self, x):
            x = F.dropout(x, 0.5, self.training)
            return self.fc(self.drop(F.dropout2d(x, training=self.training)))

Good (guarded, or a probability that depends on the mode):
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self, p):
            super().__init__()
            self.p = p

        def forward(self, x):
            if self.training:
                x = F.dropout(x, self.p)
            rate = self.p if self.training else 0.0
            return F.dropout(x, rate)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Class,
    Expr,
    Index,
    Instance,
    Site,
    Spot,
    external_name,
    ingredients,
    is_eval,
    is_module_class,
    is_test,
    written,
)
from trainsleuth.finding import Finding, Link

from ._modes import is_some_rate
from ._verdicts import Verdicts
from ._versions import names_torch

SAY = Verdicts(
    "dropout-without-training",
    "eval",
    "warning",
    "modes",
    suspects=("eval-mode",),
    claims=("train-eval-mode",),
    forms={
        "rated": "of a model that eval() is called on, at a rate that is known and not 0, behind no option",
        "evaluated": "of another model that eval() is called on",
    },
)
_FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
_LAYERS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")
_ON_PURPOSE = re.compile(r"prenet|bayes|monte|mc_?drop", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls(*_FUNCTIONS):
        if _is_of_torch(index, site) and _is_in_forward(index, site):
            yield _function(index, site)
    for site in index.calls(""):  # calls of what a call gives: nn.Dropout(p)(x)
        made = site.call.parts[0]
        if made.kind == "call" and made.last in _LAYERS and _is_in_forward(index, site):
            yield _made(index, site, made)


def _is_of_torch(index: Index, site: Site) -> bool:
    names = {external_name(one) for one in index.objects.of(site.call.parts[0], Spot(site.function, site.position))}
    return bool(names) and all(name.startswith("torch.nn.functional.") for name in names)


def _is_in_forward(index: Index, site: Site) -> bool:
    """In a method of a module: what model.eval() should reach."""
    cls = index.class_of(site.function)
    if cls is None or is_test(site.function.path) or site.function.name == "__init__":
        return False
    return is_module_class(index, cls)


def _function(index: Index, site: Site) -> Finding:
    call, path, line = site.call, site.function.path, site.call.line
    if call.argument(2, "training") is not None or any(part.kind == "doublestar" for part in call.parts):
        return SAY.passed(path, line, f"{written(call)} is told the mode")
    return _question(index, site, call.argument(1, "p"), "is not told the mode: training=True is its default")


def _made(index: Index, site: Site, made: Expr) -> Finding:
    return _question(index, site, made.argument(0, "p"), "is made anew at each call, always in training mode")


def _question(index: Index, site: Site, p: Expr | None, said: str) -> Finding:
    path, line = site.function.path, site.call.line
    if any("training" in part.text for branch in site.event.block.branches for t in branch.tests for part in t.walk()):
        return SAY.passed(path, line, "it runs in training mode only")
    if _leaves_before(site):
        return SAY.passed(path, line, "in evaluation mode the method is left before")
    if _has_a_switch(site, p):
        return SAY.open(path, line, "a test decides whether it runs")
    spot = Spot(site.function, site.position)
    reasons = ingredients(index, p, spot) if p is not None else ()
    if p is not None and (p.text in ("0", "0.0") or any("training" in part.text for part, _ in reasons)):
        return SAY.passed(path, line, "its probability is zero, or depends on the mode")
    if _ON_PURPOSE.search(f"{site.function.owner} {site.function.name} {path}"):
        return SAY.passed(path, line, f"{site.function.owner} keeps its dropout on by design")
    head = f"{written(site.call)} at {path}:{line} {said}, so"
    link = Link(path, line, f"{written(site.call)} {said}")
    if (reached := _evaluated(index, site)) is None:
        question = "model.eval() does not switch it off: is dropout meant to stay on at evaluation?"
        message = f"{head} {question} Otherwise expected training=self.training."
        return SAY.fail(path, line, message, (link,), "medium", "note")
    if p is not None and _is_zero_everywhere(index, p):
        return SAY.open(path, line, f"every configuration sets {p.last} to zero")
    at = f"{reached.function.path}:{reached.call.line}"
    message = f"{head} {written(reached.call)} at {at} does not switch it off: expected training=self.training."
    chain = (link, Link(reached.function.path, reached.call.line, f"{written(reached.call)} leaves it on"))
    if site.call.last in _FUNCTIONS and (said_which := names_torch(index, path, "0.[1-4]")):
        message += f" Before torch 1.0 it was off unless told otherwise, and {said_which}: does it run on a later one?"
        return SAY.fail(path, line, message, chain, "low", "note")
    is_rated = not site.event.block.branches and (p is None or is_some_rate(index, p, spot))
    is_rated = is_rated and _is_always_held(index, site, reached)
    return SAY.fail(path, line, message, chain, "medium", form="rated" if is_rated else "evaluated")


def _is_zero_everywhere(index: Index, p: Expr) -> bool:
    if not p.last:
        return False
    values = {value.value for value in index.configured(p.last)}
    for function in index.functions_holding(re.compile(rb"[\"']%s[\"']\s*:" % re.escape(p.last.encode()))):
        roots = (event.value for event in function.events if event.value is not None)
        pairs = (part.parts for root in roots for part in root.walk() if part.kind == "pair")
        values |= {value.text for key, value in pairs if (key.kind, key.text) == ("string", p.last)}
    return bool(values) and values <= {"0", "0.0"}


def _has_a_switch(site: Site, p: Expr | None) -> bool:
    """`if rate > 0 and is_on:` tests more than the rate."""
    tests = (test for branch in site.event.block.branches for test in branch.tests)
    names = {part.text for test in tests for part in test.walk() if part.kind == "path"}
    return bool(names - {part.text for part in p.walk()} if p is not None else names)


def _leaves_before(site: Site) -> bool:
    """if not self.training: return x"""
    earlier = (event for event in site.function.events[: site.position] if event.kind == "return")
    tests = (test for event in earlier for branch in event.block.branches for test in branch.tests)
    return any("training" in part.text for test in tests for part in test.walk())


def _evaluated(index: Index, site: Site) -> Site | None:
    """The first eval() of a model of the class around the dropout, or of one that holds such a model, where forward()
    leads to the dropout and the class minds no modes by itself.
    """
    own = index.class_of(site.function)
    if (
        own is None
        or index.method(own, "train")
        or index.method(own, "eval")
        or not _is_run_by_forward(index, own, site)
    ):
        return None
    part = index.part(site.function.path)
    for call in (*index.sites.calls_in("eval", part), *filter(_is_off, index.sites.calls_in("train", part))):
        receiver = call.call.receiver
        for thing in index.objects.of(receiver, Spot(call.function, call.position)) if receiver is not None else ():
            if isinstance(thing, Instance) and _is_or_holds(index, thing, own, 2):
                return call
    return None


def _is_off(site: Site) -> bool:
    return is_eval(site.call)


def _is_always_held(index: Index, site: Site, reached: Site) -> bool:
    """No option decides whether what eval() is called on has the layer."""
    own, receiver = index.class_of(site.function), reached.call.receiver
    things = index.objects.of(receiver, Spot(reached.function, reached.position)) if receiver is not None else ()
    return own is not None and any(
        isinstance(thing, Instance) and _is_or_holds(index, thing, own, 2, always=True) for thing in things
    )


def _is_run_by_forward(index: Index, cls: Class, site: Site) -> bool:
    """It stands in forward(), or in a method that forward() calls, at any depth."""
    reached = [method for method in (index.method(cls, "forward"),) if method is not None]
    for method in reached:
        own = f"{method.self_name}."
        called = (call for event in method.events for call in event.calls if call.callee.startswith(own))
        found = (index.method(cls, call.last) for call in called if call.callee.count(".") == 1)
        reached += dict.fromkeys(one for one in found if one is not None and one not in reached)
    return site.function in reached


def _is_or_holds(index: Index, thing: Instance, wanted: Class, depth: int, always: bool = False) -> bool:
    if not isinstance(thing.kind, Class):
        return False
    lineage = index.lineage(thing.kind)
    if wanted in lineage:
        return True
    return depth > 0 and any(
        _is_or_holds(index, held, wanted, depth - 1, always)
        for cls in lineage
        for name in index.hierarchy.attribute_names(cls)
        for method, binding in index.hierarchy.attribute_bindings(cls, name)
        if binding.value is not None and binding.value.kind == "call" and not binding.items
        if not (always and method.events[binding.position].block.branches)
        for held in index.objects.of(binding.value, Spot(method, binding.position))
        if isinstance(held, Instance)
    )
