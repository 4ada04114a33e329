"""A field that has no value of its own and gets one when its object comes into being: self.bf16 = ... in __post_init__."""

from __future__ import annotations

from ..configuration.values.come_to_be import assigned_to
from ..program import Program
from .switches import Switch


def set_later(program: Program, switch: Switch) -> str:
    """Where the class of a field that is None by default gives it a value, with the name; "" when it does not."""
    source = switch.source
    file = program.index.files.get(source.path)
    if file is None or switch.value != "None" or switch.is_set:
        return ""
    name = switch.key.name.rpartition(".")[2]
    for cls in file.classes.values():
        for method, position in assigned_to(cls, name) if cls.line <= source.line <= cls.end_line else ():
            return f"{name} is decided at {source.path}:{method.events[position].line}"
    return ""
