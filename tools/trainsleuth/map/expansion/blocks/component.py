"""Everything about one component: each place with its whole statement, its function, its condition and its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ...configuration import Truth
from ...program import Program
from ...records import Part, Place
from ..settings.sections import OF
from .choosing import in_order, is_elsewhere, is_other_launch, makes_registry
from .chosen_bodies import chosen_bodies
from .deciding import deciding_lines
from .writer import Writer
from .writing import Block

MAX_PLACES = 160
MAX_OTHERS = 2
MAX_IDLE = 4  # places that one setting keeps from running


def blocks(program: Program, truth: Truth, part: Part, name: str) -> Iterator[Block]:
    """One block for each statement, best first; those that the settings switch off last.

    The bodies that a recipe is about come behind the first few statements, those of a loss before all.
    """
    writer = Writer(program, truth, {}, set())
    bodies = [writer.body(one) for one in chosen_bodies(program, truth, name)]
    bodies = [one for one in bodies if "off" not in one.item]
    shown = {one.span for one in bodies}
    found = (one for one in _places(writer, part, name) if one.span is None or one.span not in shown)
    yield from () if name == "loss" else islice(found, BEFORE_BODIES)
    yield from bodies
    yield from found


BEFORE_BODIES = 4


def _places(writer: Writer, part: Part, name: str) -> Iterator[Block]:
    program = writer.program
    seen: set[tuple[str, int]] = set()
    whole: list[tuple[str, int, int]] = []  # functions that were shown from end to end
    idle: list[Block] = []
    others: list[Place] = []
    for chosen in in_order(program, part, name, MAX_PLACES):
        if not chosen.path or makes_registry(program, chosen):
            continue  # the given command: the settings show it
        if name == "entry_point" and is_other_launch(program, chosen):
            continue
        if is_elsewhere(program, chosen):
            if chosen.path not in program.config_paths:
                others.append(chosen)
            continue
        place = writer.joined(chosen)
        if name in OF and place.path in program.config_paths:
            continue  # the settings show it
        if any(path == place.path and first <= place.line <= last for path, first, last in whole):
            continue
        block, function = writer.block(place, name)
        mark = (place.path, block.order[0])
        if function is not None:
            whole.append((function.path, function.line, function.end_line))
        if mark in seen:
            continue
        seen.add(mark)
        if block.item.get("off"):
            idle.append(block)
            continue
        yield block
        for line in deciding_lines(program, chosen, name) if function is None else ():
            if (place.path, line) not in seen:
                seen.add((place.path, line))
                yield writer.block(place._replace(line=line, role="inside"))[0]
    yield from _folded(idle)
    if others:
        yield _beside(others, bool(seen))


def _beside(others: Sequence[Place], any_of_this: bool) -> Block:
    """What other programs of the repository have, in one line."""
    said = ", ".join(f"{one.path}:{one.line}" for one in others[:MAX_OTHERS])
    more = f", +{len(others) - MAX_OTHERS} more" if len(others) > MAX_OTHERS else ""
    none = "" if any_of_this else "none found in the code that the entry reaches; "
    return Block(
        ("# elsewhere",),
        (0,),
        (f"  {none}in files that this program does not load: {said}{more}",),
        {"elsewhere": len(others)},
    )


def _folded(idle: Sequence[Block]) -> Iterator[Block]:
    """What the settings keep from running, in one line for each setting."""
    places: dict[str, list[str]] = {}
    for block in idle:
        path, line = block.item["path"], block.item["line"]
        where = places.setdefault(str(block.item["off"]), [])
        where.append(f":{line}" if where and where[0].startswith(f"{path}:") else f"{path}:{line}")
    for number, (why, found) in enumerate(places.items()):
        more = f", +{len(found) - MAX_IDLE} more" if len(found) > MAX_IDLE else ""
        text = f"  {why}: {', '.join(found[:MAX_IDLE])}{more}"
        yield Block(("# off",), (number,), (text,), {"off": why, "places": found})
