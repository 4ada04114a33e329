"""Settings whose word says one thing and whose value or reader another: stddev_clip of an action, amp_obs_v=1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Event, Expr, Function, written
from trainsleuth.facts.naming.sites import call_sites

from ...configuration import Key
from ...loop.networks import is_network
from ...loop.steps import schedules_noise
from ...loop.strategies import says_strategy
from ...program import Program
from ..settings.readers import readers
from .topics import topic_of

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
    if topic == "schedule" and last.startswith("lr_") and _is_of_networks(program, key):
        return "model"  # left and right
    if topic == "loss" and last == "weight" and _is_beside_data(program, key):
        return "data"
    return "" if _is_another(program, key, topic, last) else topic


def _is_another(program: Program, key: Key, topic: str, last: str) -> bool:
    if topic == "clipping" and last not in _BARE and _bounds_values(program, last):
        return True
    if topic == "devices" and last == "strategy":
        return not says_strategy(key.name, key.value)
    if topic == "clipping":
        return not (_CLIP.fullmatch(last) or _GRADIENTS.search(key.name)) and _is_read_elsewhere(program, key)
    if topic == "schedule":
        made = (one.target for one in program.choices if one.key == key.name)
        return any(isinstance(one, Class | Function) and schedules_noise(program.index, one) for one in made)
    if topic == "precision":
        return last.startswith("amp_") and _NUMBER.fullmatch(key.value) is not None
    return topic == "loss" and last.endswith(("_weight", "_weights")) and _FILE.search(key.value) is not None


_BARE = ("clip", "max_norm")  # that many say
_BOUNDS = ("clip", "clip_", "clamp", "clamp_")


def _bounds_values(program: Program, name: str) -> bool:
    """np.clip(x, -clip_val, clip_val), or x.clamp(-self.clip_val, self.clip_val), and no call for gradients has it."""
    for bounds in _BOUNDS:
        for function in program.index.sites.may_call(bounds):
            for site in call_sites(function).get(bounds, ()):
                if any(_says(part, name) for one in site.call.parts[1:] for part in one.walk()):
                    return not _GRADIENTS.search(written(site.call)) and not _is_of_gradients(program, name)
    return False


def _says(part: Expr, name: str) -> bool:
    return part.last == name if part.kind == "path" else part.kind == "string" and part.text == name


def _is_of_gradients(program: Program, name: str) -> bool:
    """Some statement has it beside a gradient."""
    found = re.compile(rb"grad[^\n]*\b%s\b" % re.escape(name.encode()))
    return any(function.source.holds(found) for function, _ in program.functions())


def _is_of_networks(program: Program, key: Key) -> bool:
    """Its readers are known, and all are methods of networks that hold no step of the training."""
    owners = [program.index.class_of(function) for function, _ in readers(program.index, key)]
    hooked = program.training.hooked_classes
    return bool(owners) and all(
        one is not None and one not in hooked and is_network(program.index, one) for one in owners
    )


def _is_beside_data(program: Program, key: Key) -> bool:
    """A mix of data sets says how much of each is taken: {dataset_name: web, weight: 0.5}."""
    section = key.name.rpartition(".")[0]
    beside = (one.key for one in program.settings if one.key.rpartition(".")[0] == section)
    return section != "" and any(topic_of(one.rpartition(".")[2]) == "data" for one in beside)


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
