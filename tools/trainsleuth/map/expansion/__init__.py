"""Everything about one part of a program: a component, the configuration as it is, or the path of one batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, islice

from ..configuration import launch_of, truth_of
from ..launch import Command
from ..parts import Anatomy
from ..records import Part
from ..wording import clean
from . import batch, component, config, settings
from .records import EXPANDABLE, Expansion, UnknownPartError, check_part
from .writing import FOOT, Block, chosen, written_out

__all__ = ["EXPANDABLE", "Expansion", "UnknownPartError", "check_part", "expand"]


def expand(anatomy: Anatomy, what: str, budget: int, launch: Command | None = None) -> Expansion:
    """The part `what` of EXPANDABLE, in at most `budget` tokens.

    Raises UnknownPartError for a part that does not exist.
    """
    check_part(what)
    program = anatomy.program
    part = anatomy.parts["data" if what == "batch" else what]
    if program is None or part.status == "absent":
        return _drawn(anatomy, what, part, (), budget)
    truth = truth_of(program, launch)
    if what == "config":
        names = config.short_names(truth)
        said = (" · ".join(f"{short} is {path}" for path, short in names.items()), _order(anatomy, launch, names))
        return _drawn(anatomy, what, part, config.blocks(truth, names), budget, *said)
    if what == "batch":
        step = anatomy.parts["training_loop"]
        return _drawn(anatomy, what, step, batch.blocks(program, part), budget)
    places = component.blocks(program, truth, part, what)
    return _drawn(anatomy, what, part, chain(islice(places, 5), settings.blocks(truth, what), places), budget)


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


def _drawn(anatomy: Anatomy, what: str, part: Part, blocks: Iterable[Block], budget: int, *said: str) -> Expansion:
    entry = anatomy.program.entry.path if anatomy.program is not None else ""
    status = "" if part.status == "found" else f" [{part.status}] {part.why}"
    head = [f"# {what.replace('_', ' ')} of {entry or 'this repository'}{status}", *filter(None, said)]
    head = [clean(line, max(80, budget * 2)) for line in head]
    room = budget * 4 - sum(len(line) + 1 for line in head) - FOOT
    taken, more = chosen(blocks, room)
    text = "\n".join([*head, *written_out(taken)]) + "\n"
    if more:
        text += f"{more} more do not fit: ask for a larger budget\n"
    used = -(-(len(text) + 2 * len(str(budget)) + 13) // 4)
    text += f"{used} of {budget} tokens\n"
    skipped = {one.path: one.reason for one in anatomy.index.repository.skipped}
    return Expansion(what, entry, part.status, part.why, budget, tuple(one.item for one in taken), more, text, skipped)
