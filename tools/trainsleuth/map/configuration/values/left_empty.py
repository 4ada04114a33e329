"""Options whose default is an empty text, and that neither a command nor code sets: --teacher, default=""."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainsleuth.facts import Function

from ...program import Program
from ..forms.options import options

_SETS = re.compile(rb"\.(\w+)[ \t]*=[^=]")


def left_empty(program: Program, reached: Iterable[Function]) -> dict[str, str]:
    """Their names, each with "": as settings decide branches."""
    empty = {one.name for one in options(program) if one.certain and not one.value}
    changed = {name.decode() for function in (reached if empty else ()) for name in function.source.found(_SETS)}
    return dict.fromkeys(empty - changed, "")
