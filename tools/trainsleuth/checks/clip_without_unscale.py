"""Scaled gradients are clipped: the gradient scaler has not unscaled them.

Under a GradScaler the gradients are multiplied by a factor of up to 65536 and more. Clipped before
scaler.unscale_(optimizer), every one of them is over the limit: after the scaler divides again they are tiny,
and training crawls, the more the larger the factor.

Fix: scaler.unscale_(optimizer) right before clipping.

Cannot see: scalers that are switched off by a flag at run time, unscaling inside libraries.

Bad:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.cuda.amp.GradScaler()
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()

Bad (unscaled too late, in methods):
    import torch

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = torch.optim.AdamW(model.parameters())
            self.scaler = torch.amp.GradScaler("cuda")

        def clip(self):
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

        def step(self, x):
            self.optimizer.zero_grad()
            self.scaler.scale(self.model(x).mean()).backward()
            self.clip()
            self.scaler.unscale_(self.optimizer)
            self.scaler.step(self.optimizer)
            self.scaler.update()

Good (too late, and of gradients that step() has unscaled):
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.cuda.amp.GradScaler()
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            scaler.step(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.update()

Good:
    import torch

    def train(model, loader, use_amp):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.cuda.amp.GradScaler()
        for x in loader:
            optimizer.zero_grad()
            if use_amp:
                scaler.scale(model(x).mean()).backward()
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
            else:
                model(x).mean().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Effect, Expr, Index, Site, Spot, Surrounding, is_sure, is_test, surroundings, written
from trainsleuth.finding import Finding, Link

from ._scaling import divides_by_hand, is_scaled, knows_scale, scaler_of, scalers
from ._verdicts import Verdicts

SAY = Verdicts(
    "clip-without-unscale",
    "numerical",
    "error",
    "step_trace",
    suspects=("step-order",),
    claims=("unscale-before-clip",),
)


def check(index: Index) -> Iterator[Finding]:
    said: set[Expr] = set()
    for site in index.calls("clip_grad_norm_", "clip_grad_value_"):
        if not is_test(site.function.path):
            yield _examined(index, site, said)


def _examined(index: Index, site: Site, said: set[Expr]) -> Finding:
    """`said`: the backward() calls that were reported already, for other parts of the same model."""
    path, line, shown = site.function.path, site.call.line, f"{site.call.last}()"
    if knows_scale(index, site.call, Spot(site.function, site.position)):
        return SAY.passed(path, line, f"{shown} is given a limit that knows of the scale, or none")
    found = list(surroundings(index, Spot(site.function, site.position), site.call, "backward"))
    for around in found:
        stepped: set[str] = set()
        for effect in around.backwards():
            if effect.kind == "unscale" or not _is_earlier(around, effect):
                break
            if effect.kind == "step" and effect.expr.receiver is not None:
                stepped.add(effect.expr.receiver.text)
            if effect.kind == "backward":
                scaler = scaler_of(effect)
                if scaler is not None and scaler.text in stepped:
                    return SAY.passed(path, line, f"{shown} comes behind the scaler's step(), which unscales by itself")
                if divides_by_hand(index, around, effect.position, around.here.position):
                    return SAY.passed(path, line, "the gradients are written in between")
                if is_scaled(index, effect) and is_sure(effect, around.here):
                    if effect.expr in said:
                        return SAY.passed(path, line, "its gradients are scaled by what was reported already")
                    said.add(effect.expr)
                    return _failure(index, effect, shown, path, line)
                break
    if not found:
        return SAY.open(path, line, f"no backward() was found around {shown}")
    return SAY.passed(path, line, f"{shown} does not get scaled gradients")


def _is_earlier(around: Surrounding, effect: Effect) -> bool:
    return not around.is_after(effect)


def _failure(index: Index, backward: Effect, shown: str, path: str, line: int) -> Finding:
    at, scaler = backward.spot.function.path, scaler_of(backward)
    named = written(scaler) if scaler is not None else "the scaler"
    chain = (
        *(
            Link(one.spot.function.path, one.call.line, "the scaler")
            for one in scalers(index, backward)
            if one.call is not None and one.spot is not None
        ),
        *(Link(spot.function.path, spot.line, "reached through this call") for spot in backward.trail),
        Link(at, backward.line, f"{written(backward.expr)} computes scaled gradients"),
        Link(path, line, f"{shown} compares them with the limit as they are"),
    )
    message = (
        f"{shown} at {path}:{line} clips gradients that {written(backward.expr)} at {at}:{backward.line} has scaled, "
        f"so all are cut down to almost nothing: expected {named}.unscale_(optimizer) before it."
    )
    return SAY.fail(path, line, message, chain)
