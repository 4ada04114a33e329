"""The loss is scaled, but the optimizer steps without the scaler, or the scaler is never updated.

scaler.scale(loss) multiplies the gradients. A plain optimizer.step() uses them as they are, thousands of times
too large, and steps on inf and nan too. Without scaler.update() the factor never adapts: after the first
overflow each step is skipped, or small gradients vanish.

Fix: scaler.step(optimizer), then scaler.update(), in each round that steps.

Cannot see: scalers of frameworks, unscaling inside optimizers of one's own.

Bad:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.cuda.amp.GradScaler()
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            optimizer.step()
            scaler.update()

Bad (never updated, in methods):
    import torch
    from torch.amp import GradScaler

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = torch.optim.AdamW(model.parameters())
            self.scaler = GradScaler()

        def apply(self):
            self.scaler.step(self.optimizer)

        def fit(self, loader):
            for x in loader:
                self.optimizer.zero_grad()
                self.scaler.scale(self.model(x).mean()).backward()
                self.apply()

Bad (a factor that never changes, beside which the decay that Adam adds to the gradients is lost):
    import torch

    def train(model, loader):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.1)
        scaler = torch.cuda.amp.GradScaler(2**10)
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            optimizer.step()

Good:
    import torch

    def train(model, loader, use_amp):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.cuda.amp.GradScaler()
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).mean()
            if use_amp:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
            else:
                loss.backward()
                optimizer.step()

Good (a factor that never changes, before an optimizer that divides gradients by their own size):
    import torch

    def train(model, loader):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        scaler = torch.cuda.amp.GradScaler(2**10)
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            optimizer.step()

Good (by one):
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scaler = torch.cuda.amp.GradScaler(1)
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Effect,
    Index,
    Instance,
    Site,
    Spot,
    Surrounding,
    is_sure,
    is_test,
    steps_optimizer,
    surroundings,
    written,
)
from trainsleuth.finding import Finding, Link

from ._scaling import divides_by_hand, first_scales, is_scaled, scaler_of
from ._verdicts import Verdicts

SAY = Verdicts(
    "bypassed-grad-scaler",
    "numerical",
    "error",
    "step_trace",
    suspects=("step-order",),
    claims=("scaler-skips-steps",),
    sure=("",),
)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("backward"):
        spot = Spot(site.function, site.position)
        if not is_test(site.function.path) and is_scaled(index, Effect("backward", "", site.position, spot, site.call)):
            yield _examined(index, site)


def _examined(index: Index, site: Site) -> Finding:
    path, line, shown = site.function.path, site.call.line, written(site.call)
    found = list(surroundings(index, Spot(site.function, site.position), site.call, "step"))
    for around in found:
        plain = _plain_step(index, around) if not _is_mixed(index, around) else None
        if plain is not None and divides_by_hand(index, around, around.here.position, plain.position):
            return SAY.passed(path, line, "the gradients are written in between")
        if plain is not None and not _is_updated(index, site) and _is_indifferent(index, around.here, plain):
            return SAY.passed(path, line, "the factor stays as it is, and changes no step")
        if plain is not None:
            return _plain_failure(plain, shown, path, line)
        step = next((e for e in around.effects if _is_scaler_step(e)), None)
        if step is not None and not _is_updated(index, site):
            return _update_failure(step, written(scaler_of(around.here) or step.expr), shown, path, line)
    if not found:
        return SAY.open(path, line, f"no step was found after {shown}")
    return SAY.passed(path, line, f"the scaler of {shown} steps and is updated")


def _is_mixed(index: Index, around: Surrounding) -> bool:
    """Another loss of the round goes backward as it is, and the scaler steps too: one optimizer each."""
    plain = any(e.kind == "backward" and not is_scaled(index, e) for e in around.effects)
    return plain and any(map(_is_scaler_step, around.effects))


def _is_scaler_step(effect: Effect) -> bool:
    receiver = effect.expr.receiver
    return (
        effect.kind == "step"
        and receiver is not None
        and receiver.last.lower().endswith("scaler")
        and bool(effect.expr.arguments)
    )


def _plain_step(index: Index, around: Surrounding) -> Effect | None:
    """The optimizer's own step, next after this backward, with nothing in between that unscales."""
    for effect in around.forwards():
        if not around.is_after(effect) or effect.kind in ("unscale", "backward") or _is_scaler_step(effect):
            return None
        if steps_optimizer(index, effect) == "sure" and is_sure(effect, around.here):
            return effect
    return None


def _is_updated(index: Index, site: Site) -> bool:
    """Wide: some scaler is updated somewhere in this part of the project."""
    part = index.part(site.function.path)
    return any(
        other.call.receiver is not None
        and "scaler" in other.call.receiver.last.lower()
        and index.part(other.function.path) == part
        for other in index.calls("update")
    )


def _is_indifferent(index: Index, backward: Effect, step: Effect) -> bool:
    """To a factor that is written out and never changes: it is 1, or the optimizer divides gradients by their own size."""
    factors = first_scales(index, backward)
    if not factors or "" in factors:
        return False
    receiver = step.expr.receiver
    held = index.objects.of(receiver, step.spot) if receiver is not None else ()
    return factors <= _ONE or (bool(held) and all(isinstance(one, Instance) and _divides_by_size(one) for one in held))


def _divides_by_size(optimizer: Instance) -> bool:
    """It divides gradients by their own size, and adds no decay to them before, which would shrink beside the factor."""
    decay = optimizer.call.keyword("weight_decay") if optimizer.call is not None else None
    is_apart = decay is None or written(decay) in ("0", "0.0") or optimizer.name == "torch.optim.AdamW"
    return optimizer.name.startswith(_INDIFFERENT) and is_apart


_ONE = {"1", "1.0", "1."}
_INDIFFERENT = tuple(f"torch.optim.{name}" for name in ("Adam", "NAdam", "RAdam", "RMSprop", "Adagrad", "Rprop"))


def _plain_failure(step: Effect, shown: str, path: str, line: int) -> Finding:
    at = step.spot.function.path
    chain = (
        Link(path, line, f"{shown} computes scaled gradients"),
        Link(at, step.line, f"{written(step.expr)} uses them as they are"),
    )
    message = (
        f"{written(step.expr)} at {at}:{step.line} steps on the gradients that {shown} at {path}:{line} has scaled: "
        "expected scaler.step(optimizer), which unscales and skips what is not finite."
    )
    return SAY.fail(at, step.line, message, chain)


def _update_failure(step: Effect, scaler: str, shown: str, path: str, line: int) -> Finding:
    at = step.spot.function.path
    chain = (
        Link(path, line, f"{shown} scales the loss"),
        Link(at, step.line, f"{written(step.expr)} skips what overflows"),
    )
    message = (
        f"{written(step.expr)} at {at}:{step.line} steps, but {scaler} is never updated, so its factor does not adapt: "
        f"expected {scaler}.update() after each step."
    )
    return SAY.fail(at, step.line, message, chain)
