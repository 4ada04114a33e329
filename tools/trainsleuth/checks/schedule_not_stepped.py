"""A learning-rate schedule is made, and nothing ever steps it.

A schedule changes the rate only when its step() is called. Without it the whole run keeps the first value: the decay that
was meant never comes, and after a warm-up that begins at zero next to nothing is learned. Nothing says so.

Fix: scheduler.step() after the optimizer's, as often as its length is counted in; or no schedule.

Cannot see: schedules in collections, and those that a library is given.

Bad:
    import torch

    def train(model, loader, epochs):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
        for epoch in range(epochs):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            print(epoch, scheduler.get_last_lr())

Bad (the loop that it is handed to ignores it):
    import torch

    def fit(model, loader, optimizer, scheduler, epochs):
        for epoch in range(epochs):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

    def main(model, loader):
        optimizer = torch.optim.AdamW(model.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
        fit(model, loader, optimizer, scheduler, 30)

Good:
    import torch

    def train(model, loader, epochs):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
        for epoch in range(epochs):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            scheduler.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Site, Spot, is_test, made_at, written
from trainsleuth.facts.training.steps import stepping
from trainsleuth.finding import Finding, Link

from ._imports import is_of_one_program
from ._schedules import MAKING, made_by
from ._uses import first_use, holder_of, library_above
from ._verdicts import Verdicts

SAY = Verdicts(
    "schedule-not-stepped",
    "optimizer",
    "warning",
    "learning_rate",
    suspects=("learning-rate-zero-or-tiny",),
    claims=("scheduler-order", "lr-decay-defaults"),
    sure=("",),
)
_ASKED = (
    "base_lrs", "gamma", "get_last_lr", "get_lr", "last_epoch", "load_state_dict", "state_dict", "verbose", "print",
    "type", "id", "str", "repr", "isinstance",
)  # fmt: skip
_SETTING = re.compile(rb"\[[\"']lr[\"']\]\s*[*/+-]?=(?!=)")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls(*MAKING):
        if not is_test(site.function.path) and (name := made_by(index, site.call, _spot(site))):
            yield _examined(index, site, name)


def _spot(site: Site) -> Spot:
    return Spot(site.function, site.position)


def _examined(index: Index, site: Site, name: str) -> Finding:
    path, line = site.function.path, site.call.line
    holder = holder_of(site)
    if holder is None:
        return SAY.open(path, line, f"{name} is handed on where it is made")
    if _keeps(site.call):
        return SAY.passed(path, line, f"{name} keeps the rate as it is")
    if holder.function is None and (library := library_above(index, site.function)):
        return SAY.open(path, line, f"{library}, which its class is made of, may step it")
    if (use := first_use(index, holder, _ASKED)) is not None:
        said = f"{use.spot.function.path}:{use.expr.line} may step it"
        return SAY.passed(path, line, said)
    optimizer = site.call.argument(0, "optimizer")
    made = made_at(index, optimizer, _spot(site)) if optimizer is not None else ()
    steps = [stepping(index)[one] for one in made if one in stepping(index)]
    if not steps:
        return SAY.open(path, line, "the optimizer that it is made for is not seen to step")
    if (other := _other_stepped(index, site, frozenset(made))) is not None:
        where = f"{other.function.path}:{other.call.line}"
        return SAY.open(path, line, f"the schedule made at {where} for the same optimizer may step")
    if (by_hand := _set_by_hand(index, path)) is not None:
        return SAY.open(path, line, f"{by_hand} sets a rate by hand")
    return _failure(index, site, name, steps[0])


def _keeps(call: Expr) -> bool:
    """gamma=1.0, and lambda epoch: 1"""
    gamma, factor = call.keyword("gamma"), call.argument(1, "lr_lambda")
    if gamma is not None and gamma.text in ("1", "1.0", "1."):
        return True
    return factor is not None and factor.kind == "lambda" and [one.text for one in factor.parts] in (["1"], ["1.0"])


def _other_stepped(index: Index, site: Site, optimizers: frozenset[Expr]) -> Site | None:
    """Another schedule of one of these optimizers, if something uses it."""
    for other in index.calls(*MAKING):
        given = other.call.argument(0, "optimizer") if other.call is not site.call else None
        if given is not None and not optimizers.isdisjoint(made_at(index, given, _spot(other))):
            holder = holder_of(other)
            if holder is None or first_use(index, holder, _ASKED) is not None:
                return other
    return None


def _set_by_hand(index: Index, path: str) -> str | None:
    """A file of the program that gives a parameter group another rate."""
    setting = (one.path for one in index.files_holding(_SETTING))
    return next((one for one in setting if is_of_one_program(index, path, one)), None)


def _failure(index: Index, site: Site, name: str, step: Site) -> Finding:
    path, line, shown = site.function.path, site.call.line, written(site.event.targets[0])
    chain = (
        Link(path, line, f"{name} is made and goes by the name {shown}"),
        Link(step.function.path, step.call.line, f"{written(step.call)} steps its optimizer"),
    )
    message = (
        f"{shown} ({name}) at {path}:{line} is never stepped, so the rate of the optimizer stays at the first value of the schedule: "
        f"expected {shown}.step() after {written(step.call)}."
    )
    if _is_meant(index, site, shown.rpartition(".")[2]):
        message += " A comment or a None in its place speaks of it: is it left out on purpose?"
        return SAY.fail(path, line, message, chain, "low", "note")
    return SAY.fail(path, line, message, chain)


def _is_meant(index: Index, site: Site, name: str) -> bool:
    """A comment has the step, or speaks of it; or a call beside it gives None as the schedule."""
    comment = re.compile(rb"#[^\n]*(?:\b%s\.step\b|\bstep\b[^\n]*\bschedul)" % re.escape(name.encode()), re.I)
    if index.files[site.function.path].body.source.holds(comment):
        return True
    given = (part for event in site.function.events for call in event.calls for part in call.parts[1:])
    return any(one.kind == "keyword" and "sched" in one.text and one.parts[0].text == "None" for one in given)
