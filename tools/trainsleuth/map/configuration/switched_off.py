"""Sections of the configuration that one of its own settings switches off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .records import Key

if TYPE_CHECKING:
    from .truth import Truth

SWITCHES = ("enabled", "enable")
_SWITCH = re.compile(r"(\w+?)_enabled|enable_(\w+)")


def is_switched_off(truth: Truth, key: Key) -> bool:
    """In a section that is off: beside lora.enabled=false, fsdp.enable_fsdp=false; under wandb, beside wandb_enabled=false."""
    return any(f".{section}." in f".{key.name}" and key.name != switch for section, switch in truth.switched_off)


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
