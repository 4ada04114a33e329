"""What one part of a program would show, best first, before it is known how much of it fits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from ..configuration import Truth, launch_of
from ..drawing.wording import clean
from ..launching.launch import Command
from ..parts import Anatomy
from ..program import Program
from ..records import Status
from .blocks import batch, component
from .blocks.features import feature_blocks
from .blocks.frozen import frozen_blocks
from .blocks.writing import Block
from .records import EXPANDABLE
from .run_sheet import run
from .settings import config, settings
from .settings.config import short_names
from .settings.homes import homes


class Planned(NamedTuple):
    """One part of EXPANDABLE; `said` are lines that stand above its blocks."""

    what: str
    status: Status
    why: str
    said: tuple[str, ...] = ()
    places: tuple[Block, ...] = ()
    settings: tuple[tuple[Block, bool], ...] = ()  # and whether somebody set them
    features: tuple[Block, ...] = ()

    @property
    def name(self) -> str:
        return self.what.replace("_", " ")

    def title(self, marks: str, of: str = "") -> str:
        status = "" if self.status == "found" else f" [{self.status}] {self.why}"
        return f"{marks} {self.name}{of}{status}"

    def blocks(self, budget: int) -> list[Block]:
        """All, best first; `budget` in tokens decides how much of the settings comes first."""
        return list(_settings_first(self.settings, self.places, self.features, budget))


@dataclass(frozen=True)
class Plan:
    """All parts of one program by their names; `names` are short names of files."""

    entry: str
    names: Mapping[str, str]
    parts: Mapping[str, Planned]
    skipped: Mapping[str, str]


def plan(anatomy: Anatomy, launch: Command | None, wanted: Sequence[str] = EXPANDABLE) -> Plan:
    """`launch` is the command that the caller gave."""
    program, truth = anatomy.program, anatomy.truth
    skipped = {one.path: one.reason for one in anatomy.index.repository.skipped}
    if program is None or truth is None:
        none = {one: anatomy.parts.get(one, anatomy.parts["data"]) for one in wanted}
        empty = {one: Planned(one, part.status, part.why) for one, part in none.items()}
        return Plan(program.entry.path if program is not None else "", {}, empty, skipped)
    names = short_names(truth)
    parts = {one: _planned(anatomy, program, truth, names, one, launch) for one in wanted}
    return Plan(program.entry.path, names, parts, skipped)


def _planned(
    anatomy: Anatomy, program: Program, truth: Truth, names: Mapping[str, str], what: str, launch: Command | None
) -> Planned:
    if what == "run":
        found = run.blocks(program, truth, anatomy, names)
        return Planned(what, "found", "", (), tuple(_shortened(one, names) for one in found))
    part = anatomy.parts["data" if what == "batch" else what]
    if what == "config":
        said = (_order(program, launch, names),)
        return Planned(what, part.status, part.why, said, tuple(config.blocks(truth, names)))
    if what == "batch":
        step = anatomy.parts["training_loop"]
        return Planned(what, step.status, step.why, (), tuple(batch.blocks(program, truth, part)))
    decided = settings.blocks(truth, what, homes(truth, anatomy.parts))
    given = tuple((_shortened(block, names), telling) for block, telling in decided)
    places = tuple(_shortened(block, names) for block in component.blocks(program, truth, part, what))
    found = frozen_blocks(program, truth) if what == "model" else feature_blocks(program, truth, anatomy.features, what)
    features = tuple(_shortened(block, names) for block in found)
    return Planned(what, part.status, part.why, (), places, given, features)


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
    lines, opened = (tuple(_short(line, names) for line in part) for part in (block.lines, block.opened))
    return block._replace(lines=lines, opened=opened)


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
