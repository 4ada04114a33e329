"""What gives the parameters once is gone over twice, and gives nothing the second time.

model.parameters(), filter(), map(), zip() and itertools.chain() are used up by whoever goes over them first, an optimizer
for one. A later clip_grad_norm_(), freezing or average over the same name sees no parameter at all, and raises nothing.

Fix: parameters = list(...), or ask again.

Cannot see: iterators that are kept in an object or handed to a function of the project and gone over there.

Bad:
    import torch

    def train(model, loader):
        parameters = filter(lambda p: p.requires_grad, model.parameters())
        optimizer = torch.optim.Adam(parameters)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()

Bad (in a function inside):
    import itertools
    import torch

    def agent(first, second, batches, loss_of):
        parameters = itertools.chain(first.parameters(), second.parameters())
        optimizer = torch.optim.Adam(parameters)

        def update(batch):
            for p in parameters:
                p.requires_grad = False
            optimizer.zero_grad()
            loss_of(batch).backward()
            optimizer.step()

        for batch in batches:
            update(batch)

Good:
    import torch

    def train(model, loader):
        parameters = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.Adam(parameters)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Block, Expr, External, Function, Index, Spot, bindings, is_sibling, is_test, written
from trainsleuth.facts.reading.scopes import reaching
from trainsleuth.finding import Finding, Link

from ._uses import Holder, Mention, is_whole, mentions_of
from ._verdicts import Verdicts

SAY = Verdicts(
    "exhausted-iterator",
    "optimizer",
    "error",
    "step_trace",
    suspects=("another-loop-fault",),
    claims=("updates-not-applied",),
    sure=("",),
)
_OF_MODULES = ("parameters", "named_parameters", "modules", "named_modules", "children", "buffers")
_WITHOUT_ARGUMENTS = ("modules", "children")
_BUILT_IN = ("filter", "map", "zip")
_CHAINS = ("itertools.chain", "itertools.chain.from_iterable", "itertools.islice")
_ASKING = ("print", "type", "isinstance", "id", "next", "iter", "callable", "hasattr", "tee", "cycle")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions():
        if is_test(function.path) or function.called.isdisjoint((*_OF_MODULES, *_BUILT_IN, "chain", "from_iterable")):
            continue
        for name, found in bindings(function).items():
            for binding in found if "." not in name else ():
                made, spot = binding.value, Spot(function, binding.position)
                if binding.kind == "assign" and not binding.items and made is not None and _is_of_parameters(made):
                    if _is_one_shot(index, made, spot):
                        yield _examined(index, name, made, spot)


def _is_of_parameters(made: Expr) -> bool:
    return any(part.kind == "call" and part.last in _OF_MODULES for part in made.walk())


def _is_one_shot(index: Index, made: Expr, spot: Spot) -> bool:
    if made.kind == "each":
        return made.text == "generator"
    if made.kind != "call":
        return False
    if made.last in _OF_MODULES:
        if made.last in _WITHOUT_ARGUMENTS and len(made.parts) > 1:
            return False  # of a psutil.Process
        return (made.parts[0].kind == "attr" or "." in made.callee) and not index.functions_named(made.last)
    found = index.resolve(spot.function, made.callee)
    if isinstance(found, External) and found.name in _CHAINS:
        return True
    return made.callee in _BUILT_IN and (found is None or isinstance(found, External))


def _examined(index: Index, name: str, made: Expr, spot: Spot) -> Finding:
    path, function = spot.function.path, spot.function
    used = [one for one in mentions_of(index, Holder(function, name)) if _uses_up(one)]
    own = [one for one in used if one.spot.function is function and _is_it(one, spot)]
    inner = [one for one in used if one.spot.function is not function and len(bindings(function)[name]) == 1]
    for place, later in enumerate(own):
        first = next((one for one in own[:place] if _comes_before(one.event.block, later.event.block)), None)
        if first is None and _is_in_round(spot, later):
            first = later
        if first is not None and not _stops(later):
            return _failure(name, made, spot, first, later)
    first = next((one for one in own if not one.event.block.branches), None)
    if first is not None and inner and not _stops(inner[0]):
        return _failure(name, made, spot, first, inner[0])
    return SAY.passed(path, spot.line, f"{name} is gone over once")


def _is_it(use: Mention, spot: Spot) -> bool:
    """What the name holds there is surely what was made at the spot."""
    found, _ = reaching(spot.function, use.holder.name, use.spot.position)
    return [one.position for one in found] == [spot.position]


def _uses_up(mention: Mention) -> bool:
    """A loop, a comprehension or a call goes over it."""
    if not is_whole(mention.expr, mention.holder):
        return False
    if mention.around is None:
        return mention.event.kind == "for"
    if mention.around.kind == "call":
        return mention.around.parts[0] is not mention.expr and mention.around.last not in _ASKING
    return mention.around.kind in ("keyword", "star", "for")


def _comes_before(first: Block, later: Block) -> bool:
    """Whenever the later one runs, the first has: its arms are among those of the later one."""
    arms = [(one.id, one.arm) for one in first.branches]
    return not is_sibling(first, later) and arms == [(one.id, one.arm) for one in later.branches][: len(arms)]


def _is_in_round(spot: Spot, use: Mention) -> bool:
    """A loop goes round the use and not round what made the iterator, and nothing in the loop leaves it."""
    function: Function = spot.function
    outer, inner = function.events[spot.position].block.loops, use.event.block.loops
    if len(inner) <= len(outer):
        return False
    within = [one for one in function.events if inner[len(outer)] in one.block.loops]
    return not any(one.kind in ("break", "return", "raise") for one in within)


def _stops(use: Mention) -> bool:
    """An optimizer that is given no parameter raises."""
    around = use.around
    return around is not None and around.kind == "call" and around.last[:1].isupper()


def _failure(name: str, made: Expr, spot: Spot, first: Mention, later: Mention) -> Finding:
    path = spot.function.path
    again = "in each later round" if first is later else "here"
    chain = (
        Link(path, spot.line, f"{name} is {written(made)}, which can be gone over once"),
        *((Link(path, first.expr.line, "it is used up here"),) if first is not later else ()),
        Link(path, later.expr.line, f"nothing is left of it {again}"),
    )
    ahead = "its first round" if first is later else f"line {first.expr.line}"
    message = (
        f"{name} at {path}:{later.expr.line} is empty {again}: {written(made)} (line {spot.line}) can be gone over once, and {ahead} has done "
        f"so; expected {name} = list(...)."
    )
    return SAY.fail(path, later.expr.line, message, chain)
