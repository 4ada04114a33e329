"""What a function returns is kept by its caller, round after round: self.losses.append(self.epoch())."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, bindings, is_test, reaching, written
from trainsleuth.finding import Link


def kept_by_caller(index: Index, function: Function, name: str, position: int) -> Link | None:
    """Where a list that was made before a loop around the call takes in what is returned of `name`, as it is.

    `position`: of the statement by which the name takes in a graph.
    """
    places = [
        place
        for at, event in enumerate(function.events)
        if event.kind == "return" and _still_holds(function, name, position, at)
        for place in _places(event.value, name)
    ]
    for caller in index.callers(function) if places else ():
        outer, position = caller.spot.function, caller.spot.position
        loops = outer.events[position].block.loops
        if not loops or is_test(outer.path):
            continue
        for at in range(position, len(outer.events)):
            for call in outer.events[at].calls if loops[-1] in outer.events[at].block.loops else ():
                if call.last == "append" and call.receiver is not None and len(call.arguments) == 1:
                    is_given = _is_given(outer, position, caller.call, at, call.arguments[0], places)
                    if is_given and _is_made_before(outer, call.receiver, loops[-1]):
                        return Link(
                            outer.path, call.line, f"{written(call.receiver)} keeps what is returned, call after call"
                        )
    return None


def _still_holds(function: Function, name: str, position: int, at: int) -> bool:
    """Nothing in between makes it a number: total = total.item()"""
    found, _ = reaching(function, name, at)
    later = [one.value for one in found if one.kind == "assign" and one.position > position]
    return all(value is not None and _has_its_graph(value, name) for value in later)


def _places(returned: Expr | None, name: str) -> Iterator[int | None]:
    """Where in a tuple that is returned a part has the graph of `name`; None for what is returned alone."""
    if returned is not None and returned.kind == "tuple":
        yield from (place for place, part in enumerate(returned.parts) if _has_its_graph(part, name))
    elif returned is not None and _has_its_graph(returned, name):
        yield None


def _has_its_graph(value: Expr, name: str) -> bool:
    """It is the sum itself, or arithmetic on it: total / len(loader)."""
    if value.kind == "binary":
        return any(_has_its_graph(part, name) for part in value.parts)
    return value.kind == "path" and value.text == name


def _is_given(outer: Function, position: int, call: Expr, at: int, given: Expr, places: list[int | None]) -> bool:
    """What is kept is the call itself, or the name that its value was given, which still holds it."""
    if given is call:
        return None in places
    event: Event = outer.events[position]
    if given.kind != "path" or event.kind != "assign" or event.value is not call or len(event.targets) != 1:
        return False
    target = event.targets[0]
    parts: dict[int | None, Expr] = dict(enumerate(target.parts)) if target.kind == "tuple" else {None: target}
    held = any(parts[place].text == given.text for place in places if place in parts)
    found, _ = reaching(outer, given.text, at)
    return held and {one.position for one in found} == {position}


def _is_made_before(outer: Function, kept: Expr, loop: int) -> bool:
    """Nothing in the loop makes the list anew; an attribute was made with its object."""
    if kept.kind != "path":
        return False
    made = [one for one in bindings(outer).get(kept.text, ()) if one.kind == "assign"]
    is_inside = any(loop in outer.events[one.position].block.loops for one in made)
    return not is_inside and (bool(made) or kept.text.startswith(f"{outer.self_name}."))
