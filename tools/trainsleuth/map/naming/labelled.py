"""Classes that carry the name by which settings choose them: uid = "sd_trainer" in the body of a plug-in."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainsleuth.facts import Class, Index

from ..programs.sidelines import NEVER
from ..recipe.config_objects import is_config

_LABEL = re.compile(
    rb"""\n[ \t]+_?(?:uid|id|name|key|type|kind|slug|identifier|(?:registry|plugin|model|task)_(?:name|type|id))[ \t]*(?::[^=\n]*)?=[ \t]*["']([\w-]+)["'][ \t]*(?=\n|$)"""
)
_STRING_SET = re.compile(rb"""=[ \t]*["'][\w-]+["'][ \t]*(?=\n|$)""")


def labelled(index: Index) -> Mapping[str, list[Class]]:
    """By label: the classes that carry it, or in place of one that only gives another class, that one."""
    found: dict[str, list[Class]] = {}
    for cls in index.classes():
        if not (NEVER.search(cls.path) or _is_record(cls)):
            for label in cls.body.source.found(_LABEL) if cls.body.source.holds(_STRING_SET) else ():
                found.setdefault(label.decode(), []).extend(_given(index, cls) or [cls])
    return found


def _is_record(cls: Class) -> bool:
    """What its fields hold by default is the value of an object, no name of the class: kind: str = "image"."""
    return any(one.last == "dataclass" for one in cls.decorators) and not is_config(cls)


def _given(index: Index, cls: Class) -> tuple[Class, ...]:
    """What every method of a plug-in gives back, when that is a class: get_process() with `return SDTrainer`."""
    returned = [[event.value for event in one.events if event.kind == "return"] for one in cls.methods.values()]
    methods = zip(cls.methods.values(), returned, strict=True)
    found = [index.resolve(one, value.text) for one, values in methods for value in values if value is not None]
    classes = tuple(one for one in found if isinstance(one, Class))
    return classes if all(returned) and len(classes) == len(found) else ()
