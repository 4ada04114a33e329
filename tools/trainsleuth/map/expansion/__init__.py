"""Everything about one part of a program: a component, the configuration as it is, or the path of one batch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from ..configuration import launch_of
from ..launch import Command
from ..parts import Anatomy
from ..records import Part
from ..wording import clean
from . import batch, component, config, settings
from .features import feature_blocks
from .records import EXPANDABLE, Expansion, UnknownPartError, check_part
from .writing import FOOT, Block, fitted, written_out

__all__ = ["EXPANDABLE", "Expansion", "UnknownPartError", "check_part", "expand"]


def expand(anatomy: Anatomy, what: str, budget: int, launch: Command | None = None) -> Expansion:
    """The part `what` of EXPANDABLE, in at most `budget` tokens.

    Raises UnknownPartError for a part that does not exist.
    """
    check_part(what)
    program, truth = anatomy.program, anatomy.truth
    part = anatomy.parts["data" if what == "batch" else what]
    if program is None or truth is None:
        return _drawn(anatomy, what, part, (), budget)
    names = config.short_names(truth)
    if what == "config":
        said = (" · ".join(f"{short} is {path}" for path, short in names.items()), _order(anatomy, launch, names))
        return _drawn(anatomy, what, part, config.blocks(truth, names), budget, *said)
    if what == "batch":
        step = anatomy.parts["training_loop"]
        return _drawn(anatomy, what, step, batch.blocks(program, truth, part), budget)
    given = ((_shortened(block, names), telling) for block, telling in settings.blocks(truth, what))
    places = (_shortened(block, names) for block in component.blocks(program, truth, part, what))
    features = (_shortened(block, names) for block in feature_blocks(program, truth, anatomy.features, what))
    found = _settings_first(given, places, features, budget)
    return _drawn(anatomy, what, part, found, budget, names=names)


SETTINGS_SHARE = 0.5  # of the room, before the first place


def _settings_first(
    settings: Iterable[tuple[Block, bool]], places: Iterable[Block], features: Iterable[Block], budget: int
) -> Iterator[Block]:
    """What somebody set as far as its share goes, then the places, then the settings that are left.

    The features come behind the first places.
    """
    room = budget * 4 * SETTINGS_SHARE
    waiting = []
    for block, telling in settings:
        cost = sum(map(len, block.lines))
        if telling and cost <= room:
            room -= cost
            yield block
        else:
            waiting.append(block)
    first = iter(places)
    yield from islice(first, BEFORE_FEATURES)
    yield from chain(features, first, waiting)


BEFORE_FEATURES = 9


def _shortened(block: Block, names: Mapping[str, str]) -> Block:
    """Its lines with short names for the paths of often named files."""
    return block._replace(lines=tuple(_short(line, names) for line in block.lines))


def _short(line: str, names: Mapping[str, str]) -> str:
    for path, short in names.items():
        line = re.sub(rf"(?<![\w./-]){re.escape(path)}:(?= |\d)", f"{short}:", line)
    return line


def _order(anatomy: Anatomy, launch: Command | None, names: Mapping[str, str]) -> str:
    """Which files and which command decide, in the order in which they apply."""
    program = anatomy.program
    assert program is not None
    command = launch_of(program, launch)
    files = " < ".join(names.get(path, path) for path in program.config_paths)
    said = ["later wins: defaults", *([files] if files else [])]
    if command is not None:
        where = f" ({command.path}:{command.line})" if command.path else ""
        said.append(f"command: {clean(command.text, 160)}{where}")
    return " < ".join(said)


def _drawn(
    anatomy: Anatomy,
    what: str,
    part: Part,
    blocks: Iterable[Block],
    budget: int,
    *said: str,
    names: Mapping[str, str] | None = None,
) -> Expansion:
    entry = anatomy.program.entry.path if anatomy.program is not None else ""
    status = "" if part.status == "found" else f" [{part.status}] {part.why}"
    head = [f"# {what.replace('_', ' ')} of {entry or 'this repository'}{status}", *filter(None, said)]
    head = [clean(line, max(80, budget * 2)) for line in head]
    every = list(blocks)
    legend, more = "", 0
    taken: list[Block] = []
    for _ in range(MAX_FITS):
        room = budget * 4 - sum(len(line) + 1 for line in (*head, legend)) - FOOT
        taken, more = fitted(every, room)
        needed = _legend(taken, names or {})
        if len(needed) <= len(legend):
            break
        legend = needed
    head += [needed] if needed else []
    text = "\n".join([*head, *written_out(taken)]) + "\n"
    closed = sum(bool(block.opened) for block in taken)
    bodies = f"{closed} {'body is' if closed == 1 else 'bodies are'} not opened" if closed else ""
    if more:
        bodies = f"; {bodies}" if bodies else ""
        text += f"{more} more do not fit{bodies}: ask for a larger budget\n"
    else:
        text += f"nothing that was found is left out{'; ' + bodies if bodies else ''}\n"
    used = -(-(len(text) + 2 * len(str(budget)) + 13) // 4)
    text += f"{used} of {budget} tokens\n"
    skipped = {one.path: one.reason for one in anatomy.index.repository.skipped}
    return Expansion(what, entry, part.status, part.why, budget, tuple(one.item for one in taken), more, text, skipped)


MAX_FITS = 6  # the legend takes room, which may change what is shown, which may change the legend


def _legend(taken: Iterable[Block], names: Mapping[str, str]) -> str:
    """The short names that stand in the lines, each with its path."""
    used = {match[1] for block in taken for line in block.lines for match in _NAMED.finditer(line)}
    return " · ".join(f"{short} is {path}" for path, short in names.items() if short in used)


_NAMED = re.compile(r"(?<![\w./-])([A-Z]):(?= |\d)")
