"""How long a name lives that takes in something in each round of a loop: for a few rounds, for one update, for one step."""

from __future__ import annotations

import re

from trainsleuth.facts import Expr, Function, Index, Site, bindings, steps_optimizer

_UPDATE = re.compile(r"(^|_)(updates?|learn|optimi[sz]e|step|adapt|replay)(_|$)")


def is_bounded(function: Function, name: str) -> bool:
    """A deque of a fixed length."""
    return any(
        b.value is not None and b.value.kind == "call" and b.value.keyword("maxlen") is not None
        for b in bindings(function).get(name, ())
    )


def is_of_whole_run(index: Index, site: Site, name: str) -> bool:
    """It starts before a loop that has another one inside, or with the object whose attribute it is, and is given nothing
    new in between.
    """
    function, loops = site.function, site.event.block.loops
    head, _, attribute = name.partition(".")
    cls = index.class_of(function) if attribute and head == function.self_name else None
    if cls is not None:
        made = [(method.name, one) for method, one in index.hierarchy.attribute_bindings(cls, attribute)]
        return all(where == "__init__" for where, one in made if one.kind == "assign")
    starts = [
        function.events[one.position].block.loops for one in bindings(function).get(name, ()) if one.kind == "assign"
    ]
    return len(loops) > 1 and all(loops[0] not in around for around in starts)


def is_of_one_update(site: Site, name: str) -> bool:
    """A few rounds over numbers, of epochs or of agents, inside one update of an agent that keeps nothing itself."""
    loop = site.function.loops[site.event.block.loops[0]]
    is_counted = loop.source is not None and loop.source.kind == "call" and loop.source.last == "range"
    return is_counted and "." not in name and bool(_UPDATE.search(site.function.name))


def is_short(site: Site, name: str) -> bool:
    """At most a hundred rounds that are written out, or one for each of a few optimizers or frames of a batch."""
    function, inner = site.function, site.event.block.loops[-1]
    loop, outer = function.loops[inner], site.event.block.loops[:-1]
    made = [b for b in bindings(function).get(name, ()) if b.kind == "assign"]
    is_own = bool(made) and all(set(outer) <= set(function.events[b.position].block.loops) for b in made)
    if not is_own or loop.source is None or "." in name:
        return False
    rounds = loop.source.arguments if loop.source.kind == "call" and loop.source.last in ("range", "islice") else ()
    rounds = rounds[1:] if loop.source.last == "islice" else rounds
    if loop.kind == "while" and loop.source.kind == "compare" and loop.source.text in ("<", "<="):
        rounds = loop.source.parts[1:]
    if [part.kind for part in rounds] == ["number"] and rounds[0].text.isdigit():
        return int(rounds[0].text) <= 100
    if len(rounds) == 1 and _is_inner_size(function, rounds[0]):
        return True
    targets = {part.text for part in loop.target.walk() if part.kind == "path"} if loop.target is not None else set()
    steps = (
        call for event in function.events if inner in event.block.loops for call in event.calls if call.last == "step"
    )
    stepped = [call.receiver for call in steps if call.receiver is not None]
    return any(not targets.isdisjoint([one.text, *_indices(one)]) for one in stepped)


def _is_inner_size(function: Function, count: Expr) -> bool:
    """How much there is along a dimension of a batch that is not the first: frames.shape[1] - 2."""
    if count.kind == "binary":
        return _is_inner_size(function, count.parts[0])
    if count.kind == "index":
        return count.parts[0].last == "shape" and count.parts[1].text.isdigit() and int(count.parts[1].text) > 0
    if count.kind != "path":
        return False
    found = bindings(function).get(count.text, ())
    return (
        len(found) == 1
        and found[0].value is not None
        and found[0].value.last in ("shape", "size")
        and any(found[0].items)
    )


def _indices(stepped: Expr) -> list[str]:
    """i of self.optimizers[i]"""
    return [part.text for part in stepped.parts[1:]] if stepped.kind == "index" else []


def is_left_after(function: Function, position: int) -> bool:
    """A break or return follows in the same round whenever the statement runs."""
    own = function.events[position].block
    return any(
        event.kind in ("break", "return")
        and event.block.loops == own.loops
        and event.block.branches == own.branches[: len(event.block.branches)]
        for event in function.events[position + 1 :]
    )


def is_of_one_round(index: Index, site: Site, name: str) -> bool:
    """The sum starts in a loop that steps beside the inner one: a few rounds inside one step of another player."""
    function, inner = site.function, site.event.block.loops[-1]
    starts = [b for b in bindings(function).get(name, ()) if b.kind == "assign"]
    around = {loop for b in starts for loop in function.events[b.position].block.loops[-1:]} - {inner}
    steps = (effect for effect in index.effects.of(function) if steps_optimizer(index, effect))
    beside = [function.events[effect.position].block for effect in steps]
    return any(loop in block.loops and inner not in block.loops for loop in around for block in beside)
