"""What options are worth when no file says otherwise: their defaults, then what the launch command gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...launching.launch import Command
from ...naming.tables import NAME_KEYS
from ...program import Program
from ...recipe.recipes import Setting
from ..forms.fields import fields
from ..forms.options import options
from ..records import Definition
from .left_to_caller import left_to_caller
from .overrides import of_command

_HOLDS = re.compile(r"_?(?:config|cfg|conf|args|arguments|options|params|settings|hparams)$")


def defaults(program: Program, launch: Command | None = None) -> Iterator[Setting]:
    """Every option as a setting, the command's own last."""
    left = left_to_caller(launch.text) if launch is not None else frozenset()
    flags: dict[str, str] = {}
    negated: dict[str, str] = {}
    for one in (*options(program), *fields(program)):
        if one.certain and one.value:
            flags.update(dict.fromkeys(one.flags, one.name))
            negated.update(dict.fromkeys(one.negated, one.name))
            if one.name not in left:
                yield Setting(one.path, one.line, _key(one), one.value)
    for name, layer in of_command(program, launch, flags, negated):
        if layer.certain:
            yield Setting(layer.path, layer.line, name, layer.value)


def _key(one: Definition) -> str:
    """A field that only says name or type stands in the section of its class: policy.name of PolicyConfig."""
    section = _HOLDS.sub("", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", one.group).lower())
    return f"{section}.{one.name}" if one.name in NAME_KEYS and section else one.name
