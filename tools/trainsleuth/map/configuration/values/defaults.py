"""What options are worth when no file says otherwise: their defaults, then what the launch command gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

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


def offered(program: Program) -> Iterator[Definition]:
    """Options, and fields of which it is known that they have a value."""
    yield from (one for one in (*options(program), *fields(program)) if one.certain and one.value)


def defaults(program: Program, offers: Sequence[Definition], launch: Command | None = None) -> Iterator[Setting]:
    """Each of what the program offers as a setting, the command's own last."""
    left = left_to_caller(launch.text) if launch is not None else frozenset()
    for one in offers:
        if one.name not in left:
            yield Setting(one.path, one.line, _key(one), one.value)
    negated = {flag: one.name for one in offers for flag in one.negated}
    for name, layer in of_command(program, launch, keys_of_flags(offers), negated):
        if layer.certain:
            yield Setting(layer.path, layer.line, name, layer.value)


def keys_of_flags(offers: Iterable[Definition]) -> dict[str, str]:
    """The key that each option sets: "bs" of --bs with dest="batch_size"."""
    return {flag: one.name for one in offers for flag in one.flags}


def _key(one: Definition) -> str:
    """A field that only says name or type stands in the section of its class: policy.name of PolicyConfig."""
    section = _HOLDS.sub("", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", one.group).lower())
    return f"{section}.{one.name}" if one.name in NAME_KEYS and section else one.name
