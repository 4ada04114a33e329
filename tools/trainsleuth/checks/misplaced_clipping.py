"""Gradients are clipped where there is nothing to clip: before backward(), or after step().

clip_grad_norm_ works on the gradients that are there when it is called. Before backward() these are none or
those of the last round, after step() they have been used already. The call returns a norm, nothing fails, and
no gradient is ever clipped.

Fix: backward(), then clip, then step().

Cannot see: hooks that are registered by a computed name, clipping inside libraries or optimizers.

Bad:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            loss = model(x).mean()
            optimizer.zero_grad()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            loss.backward()
            optimizer.step()

Bad (after the step, by a helper in another file):
    # file: stable.py
    from torch.nn.utils import clip_grad_value_

    def tame(model):
        clip_grad_value_(model.parameters(), 0.5)

    # file: train.py
    import torch
    from stable import tame

    def train(model, loader):
        optimizer = torch.optim.Adam(model.parameters())
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
            tame(model)

Good:
    import torch

    def train(generator, critic, opt_g, opt_c, loader):
        for x in loader:
            opt_c.zero_grad()
            critic(generator(x).detach()).mean().backward()
            torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
            opt_c.step()
            opt_g.zero_grad()
            (-critic(generator(x)).mean()).backward()
            torch.nn.utils.clip_grad_norm_(generator.parameters(), 1.0)
            opt_g.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Branch,
    Effect,
    Index,
    Instance,
    Site,
    Spot,
    Surrounding,
    is_optimizer,
    is_sure,
    is_test,
    steps_optimizer,
    surroundings,
    written,
)
from trainsleuth.finding import Finding, Link

from ._scaling import knows_scale, writes_gradients
from ._verdicts import Verdicts

SAY = Verdicts(
    "misplaced-clipping",
    "training-procedure",
    "error",
    "step_trace",
    suspects=("step-order",),
    claims=("clipping-masks",),
    forms={"before-backward": "clipping before backward()", "after-step": "clipping after step()"},
)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("clip_grad_norm_", "clip_grad_value_"):
        cls = index.class_of(site.function)
        inside = cls is not None and is_optimizer(index, Instance(cls))  # its step clips what it is about to use
        if not is_test(site.function.path) and not inside:
            yield _examined(index, site)


def _examined(index: Index, site: Site) -> Finding:
    path, line, shown = site.function.path, site.call.line, f"{site.call.last}()"
    if _is_deferred(site):
        return SAY.open(path, line, f"{shown} stands in a lambda; when that is called is not known")
    found = list(surroundings(index, Spot(site.function, site.position), site.call, "backward"))
    if knows_scale(index, site.call, Spot(site.function, site.position)):
        return SAY.passed(path, line, f"{shown} looks at the norm only, or its limit moves")
    for around in found:
        before = site.function.events[: site.position]
        if writes_gradients(event for event in before if event.value is not None and event.value.text != "None"):
            return SAY.open(path, line, f"gradients are written by hand before {shown}")
        after = _next(index, around, around.forwards())
        earlier = _next(index, around, around.backwards())
        if after is not None and earlier is not None and after.kind == "backward" and earlier.kind == "step":
            if not around.is_after(after) and _reads_gradients(site):
                return SAY.open(path, line, f"the gradients are read by hand after {shown}")
            return _failure(around, earlier, after, shown, path, line)
    if not found:
        return SAY.open(path, line, f"no backward() was found around {shown}")
    return SAY.passed(path, line, f"{shown} stands between backward() and step()")


def _reads_gradients(site: Site) -> bool:
    """p.data.add_(p.grad, alpha=-0.1) later in the same loop: a step by hand uses what was clipped."""
    inside = (
        e for e in site.function.events[site.position + 1 :] if e.block.loops[: len(_loops(site))] == _loops(site)
    )
    roots = (part for event in inside for call in event.calls for part in call.parts[1:])
    return any(part.kind == "path" and part.last == "grad" for root in roots for part in root.walk())


def _loops(site: Site) -> tuple[int, ...]:
    return site.event.block.loops


def _is_deferred(site: Site) -> bool:
    outer = site.event.value.walk() if site.event.value is not None else ()
    return any(one is site.call for part in outer if part.kind == "lambda" for one in part.walk())


def _next(index: Index, around: Surrounding, effects: Iterator[Effect]) -> Effect | None:
    """The first backward or optimizer step among them that happens in each round; None when a step may come first.

    A branch that goes backward and steps by itself is passed over.
    """
    passed: set[tuple[Branch, ...]] = set()
    for effect in effects:
        if effect.kind != "backward" and not steps_optimizer(index, effect):
            continue
        if is_sure(effect, around.here):
            return effect
        branches = around.function.events[effect.position].block.branches
        if effect.kind == "step" and branches not in passed:
            return None
        passed.add(branches)
    return None


def _failure(around: Surrounding, step: Effect, backward: Effect, shown: str, path: str, line: int) -> Finding:
    early = around.is_after(backward)
    order = (backward, step) if early else (step, backward)
    chain = (
        Link(around.function.path, around.loop.line if around.loop else line, "in each round"),
        *(
            Link(e.spot.function.path, e.line, f"{written(e.expr)}")
            for e in sorted(order, key=lambda e: around.effects.index(e))
        ),
    )
    where = (
        f"before {written(backward.expr)} at {backward.spot.function.path}:{backward.line}"
        if early
        else f"after {written(step.expr)} at {step.spot.function.path}:{step.line}"
    )
    message = (
        f"{shown} at {path}:{line} comes {where}, so no gradient of the round is clipped: expected it between "
        "backward() and step()."
    )
    chain = (*chain, Link(path, line, f"{shown} finds nothing to clip"))
    return SAY.fail(path, line, message, chain, form="before-backward" if early else "after-step")
