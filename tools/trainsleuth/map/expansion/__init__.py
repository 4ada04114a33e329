"""Everything about parts of a program: components, the configuration as it is, or the path of one batch."""

from __future__ import annotations

from ..launch import Command
from ..parts import Anatomy
from .config import short_names
from .drawing import drawn
from .planned import Planned, planned
from .records import EXPANDABLE, Expansion, UnknownPartError, check_parts

__all__ = ["EXPANDABLE", "Expansion", "UnknownPartError", "check_parts", "expand"]


def expand(anatomy: Anatomy, what: str, budget: int, launch: Command | None = None) -> Expansion:
    """Parts of EXPANDABLE, one name or several with commas between them, in at most `budget` tokens together.

    Raises UnknownPartError for a part that does not exist.
    """
    wanted = check_parts(what)
    program, truth = anatomy.program, anatomy.truth
    if program is None or truth is None:
        empty = [Planned(one, anatomy.parts["data" if one == "batch" else one], (), []) for one in wanted]
        return drawn(anatomy, empty, budget, {})
    names = short_names(truth)
    share = budget // len(wanted)
    found = [planned(anatomy, program, truth, names, one, share, launch) for one in wanted]
    return drawn(anatomy, found, budget, names)
