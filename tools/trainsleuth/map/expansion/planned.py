"""What one part of a program would show, best first, before it is known how much of it fits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple

from ..configuration import Truth, launch_of
from ..launch import Command
from ..parts import Anatomy
from ..program import Program
from ..records import Part
from ..wording import clean
from . import batch, component, config, settings
from .features import feature_blocks
from .frozen import frozen_blocks
from .homes import homes
from .writing import Block


class Planned(NamedTuple):
    """One part of EXPANDABLE; `said` are lines that stand above its blocks."""

    what: str
    part: Part
    said: tuple[str, ...]
    blocks: list[Block]

    def title(self, marks: str, of: str = "") -> str:
        status = "" if self.part.status == "found" else f" [{self.part.status}] {self.part.why}"
        return f"{marks} {self.what.replace('_', ' ')}{of}{status}"


def planned(
    anatomy: Anatomy,
    program: Program,
    truth: Truth,
    names: Mapping[str, str],
    what: str,
    budget: int,
    launch: Command | None,
) -> Planned:
    """`names` are short names of files; `budget` in tokens decides how much of the settings comes first."""
    part = anatomy.parts["data" if what == "batch" else what]
    if what == "config":
        return Planned(what, part, (_order(program, launch, names),), list(config.blocks(truth, names)))
    if what == "batch":
        return Planned(what, anatomy.parts["training_loop"], (), list(batch.blocks(program, truth, part)))
    given = (
        (_shortened(block, names), telling)
        for block, telling in settings.blocks(truth, what, homes(truth, anatomy.parts))
    )
    places = (_shortened(block, names) for block in component.blocks(program, truth, part, what))
    found = frozen_blocks(program, truth) if what == "model" else feature_blocks(program, truth, anatomy.features, what)
    features = (_shortened(block, names) for block in found)
    return Planned(what, part, (), list(_settings_first(given, places, features, budget)))


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


def _order(program: Program, launch: Command | None, names: Mapping[str, str]) -> str:
    """Which files and which command decide, in the order in which they apply."""
    command = launch_of(program, launch)
    files = " < ".join(names.get(path, path) for path in program.config_paths)
    said = ["later wins: defaults", *([files] if files else [])]
    if command is not None:
        where = f" ({command.path}:{command.line})" if command.path else ""
        said.append(f"command: {clean(command.text, 160)}{where}")
    return " < ".join(said)
