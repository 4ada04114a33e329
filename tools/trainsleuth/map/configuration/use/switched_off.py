"""Sections of the configuration that one of its own settings switches off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Function, Index

from ..records import Key

if TYPE_CHECKING:
    from ..truth import Truth

SWITCHES = ("enabled", "enable")
_SWITCH = re.compile(r"(\w+?)_enabled|enable_(\w+)")


def is_switched_off(truth: Truth, key: Key) -> bool:
    """In a section that is off: beside lora.enabled=false, fsdp.enable_fsdp=false; under wandb, beside wandb_enabled=false.
    Or what it is handed to leaves it out.
    """
    if key.name in truth.left_out:
        return True
    return any(f".{section}." in f".{key.name}" and key.name != switch for section, switch in truth.switched_off)


def left_out(truth: Truth) -> frozenset[str]:
    """Keys that a section hands to what it builds, which takes any keyword and looks at none: build(data, size=1, **ignored)."""
    found = set[str]()
    for choice in truth.program.choices:
        section = choice.key.rpartition(".")[0]
        taken = _named_alone(truth.program.index, choice.target) if section else None
        for key in truth.plain_keys if taken is not None else ():
            name = key.name.removeprefix(f"{section}.").partition(".")[0] if key.name.startswith(f"{section}.") else ""
            if taken is not None and name and name not in taken and not name.startswith("_"):
                found.add(key.name)
    return frozenset(found)


def _named_alone(index: Index, target: Class | Function | None) -> frozenset[str] | None:
    """The parameters by name of what also takes any other and never says its name; None of anything else."""
    function = index.method(target, "__init__") if isinstance(target, Class) else target
    rest = next((one.name for one in function.parameters if one.kind == "**"), "") if function is not None else ""
    if function is None or not rest:
        return None
    said = (expr for event in function.events for expr in (event.value, *event.targets) if expr is not None)
    is_used = any(part.kind == "path" and part.text.partition(".")[0] == rest for one in said for part in one.walk())
    return frozenset(one.name for one in function.parameters) if not is_used else None


def sections_off(truth: Truth) -> Iterator[tuple[str, str]]:
    """(section, key that switches it off) where somebody set that key, or its section is known to have it."""
    for key in truth.plain_keys:
        above, _, last = key.name.rpartition(".")
        if not all(layer.certain for layer in key.layers) or truth.end(key.value).lower() != "false":
            continue
        section = above.rpartition(".")[2]
        is_switch = above != "" and last in (*SWITCHES, f"enable_{section}", f"use_{section}", f"{section}_enabled")
        if not (is_switch and truth.is_placed(key)) and all(layer.how == "default" for layer in key.layers):
            continue
        if is_switch:
            yield above, key.name
        elif (match := _SWITCH.fullmatch(last)) is not None:
            yield ".".join(part for part in (above, match[1] or match[2]) if part), key.name
