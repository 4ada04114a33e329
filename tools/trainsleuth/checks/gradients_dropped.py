"""Gradients are computed by autograd.grad() and dropped, and an optimizer steps.

torch.autograd.grad() returns the gradients and writes no .grad. Where nothing takes what it returns and nothing else
goes backward, the optimizer finds no gradients, or old ones: its step moves nothing that it should.

Fix: loss.backward(), or give the gradients to the parameters before the step.

Cannot see: an optimizer that steps in another function than the one that asks for the gradients.

Bad:
    import torch

    def train(model, loader):
        optimizer = torch.optim.Adam(model.parameters())
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).mean()
            torch.autograd.grad(loss, model.parameters())
            optimizer.step()

Good:
    import torch

    def train(model, loader):
        parameters = list(model.parameters())
        optimizer = torch.optim.Adam(parameters)
        for x in loader:
            loss = model(x).mean()
            for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
                parameter.grad = gradient
            optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Effect, External, Index, Site, is_test, steps_optimizer, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "gradients-dropped",
    "training-procedure",
    "error",
    "parameter_table",
    suspects=("another-loop-fault",),
    claims=("updates-not-applied",),
    sure=("",),
)
_AUTOGRAD = re.compile(rb"autograd")


def check(index: Index) -> Iterator[Finding]:
    names = index.aliases("grad") if any(index.functions_holding(_AUTOGRAD)) else frozenset()
    for site in index.calls(*sorted(names)):
        symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
        if isinstance(symbol, External) and symbol.name == "torch.autograd.grad" and not is_test(site.function.path):
            yield _examined(index, site)


def _examined(index: Index, site: Site) -> Finding:
    path, line, shown = site.function.path, site.call.line, written(site.call)
    if site.event.kind != "expression" or site.event.value is not site.call:
        return SAY.passed(path, line, "what autograd.grad() returns is taken")
    effects, loops = index.effects.of(site.function), site.event.block.loops
    for depth in range(len(loops), 0, -1):
        inside = [e for e in effects if site.function.events[e.position].block.loops[:depth] == loops[:depth]]
        if any(effect.kind == "backward" for effect in inside):
            return SAY.passed(path, line, "backward() gives the gradients")
        later = (effect for effect in inside if effect.position > site.position)
        if (
            step := next((one for one in later if one.kind == "step" and steps_optimizer(index, one)), None)
        ) is not None:
            return _failure(step, path, line, shown)
    return SAY.open(path, line, f"nothing takes what {shown} returns, and no optimizer was found that steps on it")


def _failure(step: Effect, path: str, line: int, shown: str) -> Finding:
    at = step.spot.function.path
    chain = (
        Link(path, line, "the gradients are returned, and nothing takes them"),
        Link(at, step.line, f"{written(step.expr)} finds none of them"),
    )
    message = (
        f"{shown} at {path}:{line} returns the gradients and writes no .grad, and nothing takes them: "
        f"{written(step.expr)} at {at}:{step.line} finds none; expected backward()."
    )
    return SAY.fail(path, line, message, chain)
