"""An optimizer is made and cleared in each round, and never steps.

Of two optimizers, of a generator and a discriminator or a backbone and a head, one is easily forgotten: its module gets
gradients in each round, they are cleared in the next, and its weights stay those of the start.

Fix: optimizer.step() after backward().

Cannot see: optimizers in collections, and those that a library is given.

Bad:
    import torch

    def train(body, head, loader):
        body_optimizer = torch.optim.Adam(body.parameters())
        head_optimizer = torch.optim.Adam(head.parameters())
        for x in loader:
            body_optimizer.zero_grad()
            head_optimizer.zero_grad()
            head(body(x)).mean().backward()
            body_optimizer.step()

Good:
    import torch

    def train(body, head, loader):
        body_optimizer = torch.optim.Adam(body.parameters())
        head_optimizer = torch.optim.Adam(head.parameters())
        for x in loader:
            body_optimizer.zero_grad()
            head_optimizer.zero_grad()
            head(body(x)).mean().backward()
            body_optimizer.step()
            head_optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Built, Index, Site, built_optimizers, is_test, written
from trainsleuth.facts.training.steps import cleared, stepping
from trainsleuth.finding import Finding, Link

from ._schedules import MAKING
from ._uses import first_use, holder_of, library_above
from ._verdicts import Verdicts

SAY = Verdicts(
    "optimizer-not-stepped",
    "optimizer",
    "error",
    "parameter_table",
    suspects=("another-loop-fault",),
    claims=("updates-not-applied",),
    sure=("",),
)
_ASKED = (
    *MAKING, "add_param_group", "defaults", "load_state_dict", "param_groups", "state_dict", "zero_grad", "print", "type",
    "id", "str", "repr", "isinstance", "len",
)  # fmt: skip

_FOLLOWS = re.compile(r"target|(?:^|_)ema|teacher|momentum", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    built = list(built_optimizers(index))
    for one in built:
        if not is_test(one.site.function.path):
            yield _examined(index, one, [other for other in built if other is not one])


def _examined(index: Index, built: Built, others: list[Built]) -> Finding:
    site, path, line = built.site, built.site.function.path, built.site.call.line
    if (step := stepping(index).get(site.call)) is not None:
        return SAY.passed(path, line, f"{step.function.path}:{step.call.line} steps it")
    rate = site.call.keyword("lr")
    if rate is not None and rate.text in ("0", "0.0"):
        return SAY.passed(path, line, "a rate of 0 says that it is not meant to step")
    if any(_FOLLOWS.search(module) for module, _ in built.owned):
        return SAY.passed(path, line, "it is of a copy that follows another network, and is not meant to step")
    holder = holder_of(site)
    if holder is None:
        return SAY.open(path, line, "it is handed on where it is made")
    if holder.function is None and (library := library_above(index, site.function)):
        return SAY.open(path, line, f"{library}, which its class is made of, may step it")
    if (use := first_use(index, holder, _ASKED)) is not None:
        return SAY.open(path, line, f"{use.spot.function.path}:{use.expr.line} may step it")
    clear = cleared(index).get(site.call)
    if clear is None or not _goes_backward(index, clear):
        return SAY.passed(
            path, line, f"{site.event.targets[0].text} is not meant to train: nothing clears it in a loop"
        )
    if not built.owned:
        return SAY.open(path, line, f"what it is given is not resolved: {built.why}")
    for module, function in built.owned:
        owner = next((one for one in others if one.owns(module, function) and one.site.call in stepping(index)), None)
        if owner is not None:
            return SAY.passed(path, line, f"the optimizer of line {owner.site.call.line} trains {module} too")
    return _failure(built, clear)


def _goes_backward(index: Index, clear: Site) -> bool:
    """A loop around the place goes backward, or the function does, which is then one round of it."""
    events, loops = clear.function.events, clear.event.block.loops
    backward = [one for one in index.effects.of(clear.function) if one.kind == "backward"]
    return any(events[one.position].block.loops[: len(loops)] == loops for one in backward)


def _failure(built: Built, clear: Site) -> Finding:
    site, shown = built.site, written(built.site.event.targets[0])
    path, line, owned = site.function.path, site.call.line, ", ".join(module for module, _ in built.owned)
    chain = (
        Link(path, line, f"{shown} is made over {owned}"),
        Link(clear.function.path, clear.call.line, f"{written(clear.call)} clears it in each round"),
    )
    message = (
        f"{shown} ({owned}) at {path}:{line} is cleared at {clear.function.path}:{clear.call.line} and never steps, so {owned} stays as it "
        f"was made: expected {shown}.step() after backward()."
    )
    return SAY.fail(path, line, message, chain)
