"""A field that has no value of its own and gets one when its object comes into being: self.bf16 = ... in __post_init__."""

from __future__ import annotations

from .program import Program
from .switches import Switch

_COMES_TO_BE = ("__post_init__", "model_post_init", "__attrs_post_init__")


def set_later(program: Program, switch: Switch) -> str:
    """Where the class of a field that is None by default gives it a value, with the name; "" when it does not."""
    source = switch.source
    file = program.index.files.get(source.path)
    if file is None or switch.value != "None" or switch.is_set:
        return ""
    name = switch.key.name.rpartition(".")[2]
    for cls in file.classes.values():
        for method in (cls.methods[one] for one in _COMES_TO_BE if one in cls.methods):
            for event in method.events if cls.line <= source.line <= cls.end_line else ():
                if event.kind == "assign" and any(one.text == f"{method.self_name}.{name}" for one in event.targets):
                    return f"{name} is decided at {source.path}:{event.line}"
    return ""
