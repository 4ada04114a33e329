"""Settings whose word says one thing and whose value or reader another: stddev_clip of an action, amp_obs_v=1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function

from ...configuration import Key
from ...program import Program
from ..settings.readers import readers

_GRADIENTS = re.compile(r"grad|norm", re.I)
_CLIP = re.compile(r"clip\w*|max_clip", re.I)
_NUMBER = re.compile(r"-?\d[\d_.e+-]*", re.I)
_FILE = re.compile(r"/|\.(?:pth?|ckpt|bin|npy|npz|pkl|safetensors)$")


def meant(program: Program, key: Key, topic: str) -> str:
    """The topic that a setting belongs to where the word of `topic` in its name means something else; "" for none."""
    last = key.name.rpartition(".")[2]
    if topic == "optimizer" and last.endswith("_weight_decay") and _is_factor(program, key, last):
        return "loss"
    if (
        topic == "schedule"
        and last.lower() == "t_max"
        and any(one.kind == "while" for _, one in readers(program.index, key))
    ):
        return "length"
    return "" if _is_another(program, key, topic, last) else topic


def _is_another(program: Program, key: Key, topic: str, last: str) -> bool:
    if topic == "clipping":
        return not (_CLIP.fullmatch(last) or _GRADIENTS.search(key.name)) and _is_read_elsewhere(program, key)
    if topic == "precision":
        return last.startswith("amp_") and _NUMBER.fullmatch(key.value) is not None
    return topic == "loss" and last.endswith(("_weight", "_weights")) and _FILE.search(key.value) is not None


def _is_read_elsewhere(program: Program, key: Key) -> bool:
    """Its readers are known, and none of their statements says a gradient."""
    found = [event for _, event in readers(program.index, key)]
    return bool(found) and not any(_GRADIENTS.search(part.text) for event in found for part in _parts(event))


def _is_factor(program: Program, key: Key, name: str) -> bool:
    """A sum has it as a factor, where it is read or by the attribute that holds it: loss += self.decay * squares"""
    for function, event in readers(program.index, key):
        held = {target.text for target in event.targets if target.kind == "path" and "." in target.text}
        owner = program.index.class_of(function)
        methods = owner.methods.values() if owner is not None and held else ()
        if any(_multiplies(one, held, name) for one in (function, *methods)):
            return True
    return False


def _multiplies(function: Function, held: set[str], name: str) -> bool:
    parts = (part for event in function.events for part in _parts(event) if part.kind == "binary" and part.text == "*")
    return any(one.kind == "path" and (one.text in held or one.last == name) for part in parts for one in part.parts)


def _parts(event: Event) -> Iterator[Expr]:
    for expr in (*event.targets, *((event.value,) if event.value is not None else ())):
        yield from expr.walk()
