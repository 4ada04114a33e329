"""Loops that step and go backward, and train nothing that anybody wants: measurements, demonstrations, single steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    MODULE_BODY,
    Effect,
    Expr,
    Function,
    Index,
    Instance,
    Round,
    Spot,
    bindings,
    mentions,
    modules_of_optimizer,
)
from trainsleuth.facts.tracing.numbers import whole_number

from ._given import is_given
from ._options import option_name

_MEASURING = re.compile(r"(^|_)(test|bench|benchmark|measure|profile|profiling|timing|speed|latency|throughput)(_|$)")
_BENCHMARK = re.compile(r"bench(mark)?s?(_|-|\.py)")
_CLOCKS = frozenset(["time", "perf_counter", "perf_counter_ns", "elapsed_time", "synchronize", "default_timer"])
_AROUND = ("tqdm", "enumerate", "list", "reversed")
_MAKING_UP = frozenset(["randn", "rand", "randint", "ones", "zeros", "randn_like", "rand_like", "empty", "full"])


def why_no_training(index: Index, found: Round, known: list[Instance]) -> str:
    """The loop leaves after its first step, goes round once or a few times, trains on numbers made up in place, or
    trains a model of this function that nobody uses.
    """
    loop, step = found.loop, found.step
    own = step.event.block.branches
    for event in step.function.events[step.position + 1 :]:
        if event.kind in ("break", "return") and event.block.loops[-1:] == (loop.id,):
            if event.block.branches == own[: len(event.block.branches)]:
                return f"the loop at line {loop.line} is left after one step"
    source = loop.source if step.event.block.loops[-1] == loop.id and not found.backward.trail else None
    turns = few_turns(index, source, Spot(step.function, step.position)) if source is not None else ""
    if turns:
        return f"the loop at line {loop.line} goes round {turns}"
    if not found.backward.trail and _is_made_up(step.function, found.backward):
        return "the numbers that it trains on are made up in place: a measurement or a demonstration"
    if known and all(one.spot is not None and one.spot.function is step.function for one in known):
        if _is_left_behind(found, [path for one in known for path in modules_of_optimizer(one)], known):
            return "nothing uses the model that it trains: a measurement or a demonstration"
    return ""


def goes_once(index: Index, source: Expr, spot: Spot) -> bool:
    return few_turns(index, source, spot).startswith(("once", "1 "))


def few_turns(index: Index, source: Expr, spot: Spot) -> str:
    """How often a loop over `source` goes round where that is too few times to train; "" otherwise."""
    if source.kind in ("list", "tuple"):
        return "once" if len(source.parts) == 1 and source.parts[0].kind != "star" else ""
    given = source.arguments if source.kind == "call" else ()
    if source.last in _AROUND and given and given[0].kind in ("call", "list", "tuple"):
        return few_turns(index, given[0], spot)
    place = {"range": 0, "trange": 0, "islice": 1}.get(source.last)
    if place is None or len(given) != place + 1:
        return ""
    count = given[place]
    if count.kind == "number":
        return f"{count.text} times" if count.text in ("1", "2", "3") else ""
    if whole_number(index, count, spot) != 1:
        return ""
    option = option_name(count)
    is_more = option != "" and is_given(index, option, spot.function.path, lambda text: text.strip("01.") != "")
    return "" if is_more else "once, as it is set"


def _is_left_behind(found: Round, modules: list[str], known: list[Instance]) -> bool:
    """The models are local names that the rounds call, and that nothing is done with later or beside them."""
    step, loop = found.step, found.loop
    function = step.function
    made = max(one.spot.position for one in known if one.spot is not None)
    if not modules or any("." in name or function.parameter(name) is not None for name in modules):
        return False
    if function.name == MODULE_BODY:
        return False  # scripts and notebooks often end with their loop
    for position, event in enumerate(function.events[made + 1 :], made + 1):
        is_later = loop.id not in event.block.loops or position > step.position
        roots = [event.value, *event.targets] if is_later and not _sets_mode(event.value) else []
        handed = (part for call in event.calls for part in call.parts[1:] if part.kind in ("path", "keyword"))
        if event.kind == "define" or any(mentions(root, modules) for root in (*roots, *handed)):
            return False
    return True


def _sets_mode(root: Expr | None) -> bool:
    return root is not None and root.kind == "call" and root.last in ("train", "to", "cuda")


def _is_made_up(function: Function, backward: Effect) -> bool:
    """Nothing that the loss is computed from comes in: all of it goes back to torch.randn() and the like."""
    waiting, seen, is_found = list(_ingredients(backward.expr)), set[str](), False
    while waiting:
        name = waiting.pop()
        if name == "":
            is_found = True
        elif name not in seen:
            seen.add(name)
            given = [one.value for one in bindings(function).get(name, ()) if one.kind == "assign" and not one.items]
            if not given or None in given or function.parameter(name) is not None:
                return False
            waiting += [part for value in given if value is not None for part in _ingredients(value)]
    return is_found


def _ingredients(expr: Expr) -> Iterator[str]:
    """Names that the values of an expression come from; "" for numbers that torch makes up."""
    if expr.kind == "call":
        if expr.last in _MAKING_UP:
            yield ""
            return
        head = expr.parts[0]
        if head.kind == "attr":
            yield from _ingredients(head.parts[0])
        elif expr.receiver is not None and not expr.callee.startswith(("torch.", "nn.", "F.")):
            yield expr.receiver.text
        for part in expr.parts[1:]:
            yield from _ingredients(part)
    elif expr.kind == "path":
        yield expr.text
    else:
        for part in expr.parts:
            yield from _ingredients(part)


def is_benchmark(function: Function) -> bool:
    """It is called a test or benchmark, or its file is, and it reads the clock or drives a profiler."""
    called = {call.last for event in function.events for call in event.calls}
    is_named = _MEASURING.search(function.name) or _BENCHMARK.search(function.path.rpartition("/")[2])
    return bool(is_named) and (bool(called & _CLOCKS) or any("profiling" in name for name in called))


def is_empty(index: Index, backward: Effect) -> bool:
    """Parameter(torch.zeros(0)), which stands in for a model where a schedule is drawn."""
    roots = {part.text.partition(".")[0] for part in backward.expr.walk() if part.kind == "path"}
    for root in roots:
        for thing in index.objects.of(Expr("path", root, (), backward.line), backward.spot):
            if isinstance(thing, Instance) and thing.call is not None and thing.name.endswith("nn.Parameter"):
                values = thing.call.argument(0, "data")
                return values is not None and [part.text for part in values.arguments] == ["0"]
    return False
