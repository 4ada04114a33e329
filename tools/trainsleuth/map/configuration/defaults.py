"""What options are worth when no file says otherwise: their defaults, then what the launch command gives."""

from __future__ import annotations

from collections.abc import Iterator

from ..launch import Command
from ..program import Program
from ..recipes import Setting
from .fields import fields
from .options import options
from .overrides import of_command


def defaults(program: Program, launch: Command | None = None) -> Iterator[Setting]:
    """Every option as a setting, the command's own last."""
    flags: dict[str, str] = {}
    negated: dict[str, str] = {}
    for one in (*options(program), *fields(program)):
        if one.certain and one.value:
            flags.update(dict.fromkeys(one.flags, one.name))
            negated.update(dict.fromkeys(one.negated, one.name))
            yield Setting(one.path, one.line, one.name, one.value)
    for name, layer in of_command(program, launch, flags, negated):
        if layer.certain:
            yield Setting(layer.path, layer.line, name, layer.value)
