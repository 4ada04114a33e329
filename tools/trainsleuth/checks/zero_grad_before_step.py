"""Gradients are cleared between backward() and step().

zero_grad() after backward() throws away what was just computed: the optimizer steps with gradients of zero, or
with none at all. Nothing fails, the loss is printed, and the weights stand still or move by momentum and
weight decay alone.

Fix: clear before backward(), or after step().

Cannot see: callbacks and hooks that are registered by a computed name, clearing inside libraries, optimizers
whose parameters overlap.

Bad:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()

Bad (a helper clears, in another file):
    # file: updates.py
    def clip_and_reset(model, optimizer, limit):
        optimizer.zero_grad(set_to_none=True)

    # file: train.py
    import torch
    from updates import clip_and_reset

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = torch.optim.Adam(model.parameters())

        def step(self, x, y):
            torch.nn.functional.mse_loss(self.model(x), y).backward()
            clip_and_reset(self.model, self.optimizer, 1.0)
            self.optimizer.step()

Good:
    import torch

    def train(generator, critic, loader):
        opt_g = torch.optim.Adam(generator.parameters())
        opt_c = torch.optim.Adam(critic.parameters())
        for x in loader:
            opt_c.zero_grad()
            critic(generator(x).detach()).mean().backward()
            opt_c.step()
            opt_g.zero_grad()
            (-critic(generator(x)).mean()).backward()
            opt_c.zero_grad()
            opt_g.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Class,
    Effect,
    Expr,
    Function,
    Index,
    Instance,
    Site,
    Spot,
    Surrounding,
    is_optimizer,
    is_sure,
    is_test,
    modules_of_optimizer,
    stepped,
    steps_optimizer,
    surroundings,
    written,
)
from trainsleuth.finding import Finding, Link

from ._scaling import divides_by_hand
from ._verdicts import Verdicts

SAY = Verdicts(
    "zero-grad-before-step",
    "training-procedure",
    "error",
    "step_trace",
    suspects=("step-order",),
    claims=("zero-grad-position-variants",),
    forms={
        "round": "in the loop that goes backward, in one function with the step",
        "other": "through calls, or in a function that is taken for one round of a loop elsewhere",
    },
    sure=("round", "other"),
)
_HARMLESS = ("zero_grad", "step", "clip_grad_norm_", "clip_grad_value_", "unscale_", "update", "eval", "train")
_HOOKS = ("on_after_backward", "on_before_optimizer_step", "on_pre_optimizer_step", "configure_gradient_clipping")
_HOOKED = ("LightningModule", "Callback", "TrainerCallback", "LightningDataModule")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("step"):
        if not is_test(site.function.path):
            effect = Effect("step", "", site.position, Spot(site.function, site.position), site.call)
            if sure := steps_optimizer(index, effect):
                yield _examined(index, site, sure)
    yield from _hooks(index)


def _examined(index: Index, site: Site, sure: str) -> Finding:
    path, line = site.function.path, site.call.line
    spot = Spot(site.function, site.position)
    optimizer = stepped(index, site.call, spot)
    shown = written(optimizer) if optimizer is not None else "the optimizer"
    if any(part is not optimizer for part in site.call.parts[1:]):
        return SAY.passed(path, line, f"{shown}.step() is given a closure that does the backward pass")
    if any(
        isinstance(t, Instance) and isinstance(t.kind, Class) and index.method(t.kind, "step")
        for t in (index.objects.of(optimizer, spot) if optimizer is not None else ())
    ):
        return SAY.open(path, line, f"{shown} has a step() of its own, which may have kept the gradients")
    found = list(surroundings(index, spot, site.call, "backward"))
    for around in found:
        for place, effect in enumerate(earlier := tuple(around.backwards())):
            if effect.kind == "backward" or _may_fill(index, effect):
                break
            if effect.kind == "clear" and _is_of(index, effect, around.here) and is_sure(effect, around.here):
                if _is_used_before(around, earlier[place + 1 :]):
                    return SAY.passed(path, line, f"{shown} steps with the gradients before they are cleared")
                if doubt := _doubt(index, around, effect):
                    return SAY.open(path, line, doubt)
                backward, is_spent = _last_backward(around, earlier[place + 1 :])
                if is_spent:
                    return _question(effect, backward, shown, path, line)
                return _failure(around, effect, backward, shown, path, line, sure)
    if not found:
        return SAY.open(path, line, f"no backward() was found around {shown}.step()")
    return SAY.passed(path, line, f"nothing clears the gradients between backward() and {shown}.step()")


def _is_used_before(around: Surrounding, earlier: tuple[Effect, ...]) -> bool:
    """The loop that goes backward steps by itself: this step is for show, before that loop or between two of them."""
    here, events = around.here, around.function.events
    nearest = next((place for place, one in enumerate(earlier) if one.kind == "backward"), len(earlier))
    backward = earlier[nearest] if nearest < len(earlier) else here
    is_deeper = not set(events[backward.position].block.loops) <= set(events[here.position].block.loops)
    return is_deeper and any(one.kind == "step" and one.receiver == here.receiver != "" for one in earlier[:nearest])


def _last_backward(around: Surrounding, earlier: tuple[Effect, ...]) -> tuple[Effect, bool]:
    """The one that ran last, and whether a step has used what it computed: in the call that holds both, or the same step."""
    backward = next((one for one in earlier if one.kind == "backward"), None)
    if backward is None:
        return next(one for one in around.effects if one.kind == "backward"), False
    steps = [one for one in earlier[: earlier.index(backward)] if one.kind == "step"]
    is_spent = any(
        (one.trail[:1] == backward.trail[:1] != ()) or one.receiver == around.here.receiver != "" for one in steps
    )
    return backward, is_spent


def _may_fill(index: Index, effect: Effect) -> bool:
    """Gradients that are written by hand: p.grad = ..."""
    return effect.kind == "clear" and effect.expr.kind != "call"


def _is_of(index: Index, clear: Effect, step: Effect) -> bool:
    """Surely clears the gradients that the step uses: the same optimizer, or the one module that it was given."""
    if not clear.receiver or clear.expr.receiver is None or clear.expr.last != "zero_grad":
        return False
    if clear.receiver == step.receiver:
        return True
    optimizers = [t for t in index.objects.of(_stepped(index, step), step.spot) if isinstance(t, Instance)]
    things = index.objects.of(clear.expr.receiver, clear.spot)
    if things and all(is_optimizer(index, thing) for thing in things):
        return len(things) == 1 and {t.call for t in things if isinstance(t, Instance)} == {t.call for t in optimizers}
    modules = {path for one in optimizers if is_optimizer(index, one) for path in modules_of_optimizer(one)}
    return modules == {clear.receiver}


def _stepped(index: Index, step: Effect) -> Expr:
    return stepped(index, step.expr, step.spot) or step.expr


def _doubt(index: Index, around: Surrounding, clear: Effect) -> str:
    """A call between clearing and step that may compute gradients out of sight; "" when there is none."""
    step, inner = around.here, clear.spot.function
    if step.spot.function is inner:
        for event in inner.events[clear.spot.position : step.spot.position]:
            if event.value is not None and any(part.kind == "yield" for part in event.value.walk()):
                return f"what runs at the yield in line {event.line} may compute gradients after they are cleared"
    if around.is_after(clear):
        return ""
    if divides_by_hand(index, around, clear.position, step.position):
        return "the gradients are written after they are cleared"
    for event in around.function.events[clear.position : step.position + 1]:
        for call in event.calls:
            fills = "grad" in call.last.lower() or "backward" in call.last.lower()
            is_unseen = index.effects.is_interesting(call, around.function) or _is_handed_in(index, around, call)
            is_known = call.last in _HARMLESS or call is clear.expr or _is_resolved(around, call)
            if not is_known and (fills or is_unseen):
                return f"{written(call)} at line {call.line} may compute gradients after they are cleared"
    return ""


def _is_handed_in(index: Index, around: Surrounding, call: Expr) -> bool:
    """A function that a caller chooses, and that is given something to work on."""
    parameter = around.function.parameter(call.callee)
    return parameter is not None and any(part.kind == "path" for part in call.arguments)


def _is_resolved(around: Surrounding, call: Expr) -> bool:
    """Effects were found inside the call: it was followed."""
    return any(e.trail and call in around.function.events[e.position].calls for e in around.effects)


def _question(clear: Effect, backward: Effect, shown: str, path: str, line: int) -> Finding:
    at, of = clear.spot.function.path, backward.spot.function.path
    message = (
        f"No backward() is seen between {written(clear.expr)} at {at}:{clear.line} and {shown}.step() at {path}:{line}, "
        f"and the one before, at {of}:{backward.line}, has a step of its own: is one missing here?"
    )
    chain = (
        Link(at, clear.line, f"{written(clear.expr)} clears the gradients"),
        Link(path, line, f"{shown}.step() has none to use"),
    )
    return SAY.fail(at, clear.line, message, chain, "low", "note")


def _failure(
    around: Surrounding, clear: Effect, backward: Effect, shown: str, path: str, line: int, sure: str
) -> Finding:
    at = clear.spot.function.path
    chain = (
        Link(backward.spot.function.path, backward.line, f"{written(backward.expr)} computes the gradients"),
        *(Link(spot.function.path, spot.line, "reached through this call") for spot in clear.trail),
        Link(at, clear.line, f"{written(clear.expr)} throws them away"),
        Link(path, line, f"{shown}.step() has no gradients to use"),
    )
    message = (
        f"{written(clear.expr)} at {at}:{clear.line} comes after backward() and before {shown}.step() at {path}:{line}, "
        "so the step uses no gradients: expected it before backward() or after step()."
    )
    is_round = around.loop is not None and not clear.trail and not around.here.trail
    form = "round" if is_round and not backward.trail else "other"
    return SAY.fail(at, clear.line, message, chain, "high" if sure == "sure" else "medium", form=form)


def _is_of_all(hook: Function, clear: Effect) -> bool:
    """The whole module, an optimizer of it, or the one that the hook is given; not a part beside what is trained."""
    last = clear.receiver.rpartition(".")[2]
    return clear.receiver == hook.self_name or "opt" in last.lower() or hook.parameter(last) is not None


def _hooks(index: Index) -> Iterator[Finding]:
    """Hooks that a framework calls between backward() and step()."""
    for cls in index.classes():
        if is_test(cls.path) or not any(base.rpartition(".")[2] in _HOOKED for base in index.external_bases(cls)):
            continue
        for name in _HOOKS:
            hook = cls.methods.get(name)
            if hook is None:
                continue
            cleared = [
                e
                for e in index.effects.of(hook)
                if e.kind == "clear"
                and e.expr.last == "zero_grad"
                and not hook.events[e.position].block.branches
                and _is_of_all(hook, e)
            ]
            if not cleared:
                yield SAY.passed(hook.path, hook.line, f"{cls.name}.{name} clears no gradients")
                continue
            at, line = cleared[0].spot.function.path, cleared[0].line
            chain = (
                Link(hook.path, hook.line, f"the framework calls {name} after backward() and before step()"),
                Link(at, line, f"{written(cleared[0].expr)} throws the gradients away"),
            )
            message = (
                f"{written(cleared[0].expr)} at {at}:{line} runs in {cls.name}.{name}, between backward() and step(), "
                "so the step uses no gradients: expected it before backward() or after step()."
            )
            yield SAY.fail(at, line, message, chain, form="other")
