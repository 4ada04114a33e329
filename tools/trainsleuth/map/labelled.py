"""Classes that carry the name by which settings choose them: uid = "sd_trainer" in the body of a plug-in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, Index

from .entries import NEVER

_LABEL = re.compile(
    rb"""(?m)^[ \t]+_?(?:uid|id|name|key|type|kind|slug|identifier|(?:registry|plugin|model|task)_(?:name|type|id))[ \t]*(?::[^=\n]*)?=[ \t]*["']([\w-]+)["'][ \t]*$"""
)


def labelled(index: Index) -> Mapping[str, list[Class]]:
    """By label: the classes that carry it, or in place of one that only gives another class, that one."""
    found: dict[str, list[Class]] = {}
    for cls in index.classes():
        if not NEVER.search(cls.path):
            for label in cls.body.source.found(_LABEL):
                found.setdefault(label.decode(), []).extend(list(_given(index, cls)) or [cls])
    return found


def _given(index: Index, cls: Class) -> Iterator[Class]:
    """get_process() of a plug-in: return SDTrainer"""
    for method in cls.methods.values():
        for event in method.events:
            if event.kind == "return" and event.value is not None and event.value.kind == "path":
                one = index.resolve(method, event.value.text)
                if isinstance(one, Class):
                    yield one
