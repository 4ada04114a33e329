"""Values of files that are made of others: ${times:8e-4,${scratch.lr_scale}} and ${root}/train, with what they are worth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ...program import Program
from ...recipe.recipes import refers_to
from ..gathered import Gathered
from ..records import NO_VALUE, Layer
from .resolvers import Resolvers, UnknownResultError, resolvers, result

_INNER = re.compile(r"\$\{([^${}]*)\}")
_NAMED = re.compile(r"([A-Za-z_]\w*):(.*)")
_KEY = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_INT = re.compile(r"[-+]?\d+")
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.?\d+)(?:[eE][-+]?\d+)?")
MAX_HOPS = 8  # from text to text
MAX_LEFT = 32  # parts of one text that are not known
_MARK = "\x00{}\x00"
_NOTHING = ("", "null", "None", "~")
_HOW = ("file", "command")


def interpolated(program: Program, gathered: Gathered) -> Gathered:
    """The same with such values worked out, where all is known that they are made of."""
    layers = gathered.layers
    if not any(_is_made(layer) for several in layers.values() for layer in several):
        return gathered
    texts = _Texts(program, gathered)
    changed = {name: [texts.worked_out(layer) for layer in several] for name, several in layers.items()}
    return replace(gathered, layers=changed)


def _is_made(layer: Layer) -> bool:
    """Not a mere reference, which leads to its key."""
    return layer.how in _HOW and "${" in layer.value and not refers_to(layer.value)


class _Texts:
    """What texts are worth with the values that keys have."""

    def __init__(self, program: Program, gathered: Gathered) -> None:
        self._program = program
        self._gathered = gathered
        self._set_by_code: dict[str, bool] = {}

    @cached_property
    def _resolvers(self) -> Resolvers:
        return resolvers(self._program)

    @cached_property
    def _items(self) -> Mapping[str, str]:
        """Entries of lists, which are no keys of their own."""
        return {one.key: one.value for one in self._program.settings if one.key not in self._gathered.layers}

    def worked_out(self, layer: Layer) -> Layer:
        return layer._replace(value=self._end(layer.value, MAX_HOPS)) if _is_made(layer) else layer

    def _end(self, text: str, hops: int) -> str:
        """The innermost first: ${names.${string:0}}. What is not known stays as it is written, with what holds it."""
        left: list[str] = []
        while (match := _INNER.search(text)) is not None and len(left) < MAX_LEFT:
            try:
                worth = self._of(match[1].strip(), hops)
            except (UnknownResultError, ArithmeticError, TypeError, ValueError):
                worth = _MARK.format(len(left))
                left.append(match[0])
            text = text[: match.start()] + worth + text[match.end() :]
        for number, written in reversed(list(enumerate(left))):
            text = text.replace(_MARK.format(number), written)
        return text

    def _of(self, inner: str, hops: int) -> str:
        if "\x00" in inner:
            raise UnknownResultError
        if (named := _NAMED.fullmatch(inner)) is not None:
            given = [_plain(one.strip()) for one in named[2].split(",")] if named[2] else []
            return _written(result(self._program, self._resolvers, named[1], given))
        if not hops or not _KEY.fullmatch(inner):
            raise UnknownResultError
        worth = self._end(self._value(inner), hops - 1)
        if "${" in worth:
            raise UnknownResultError
        return worth

    def _value(self, name: str) -> str:
        if name not in self._gathered.layers and name in self._items:
            return self._items[name]
        key = self._gathered.key(name) if name in self._gathered.layers else None
        if key is None or not all(layer.certain for layer in key.layers) or self._is_set_by_code(name):
            raise UnknownResultError
        if key.value in (*NO_VALUE, *_NOTHING) or key.value[0] in "[{":
            raise UnknownResultError
        return key.value

    def _is_set_by_code(self, name: str) -> bool:
        """cfg.job["number"] = number, which every job does anew, for "job.number"."""
        if name not in self._set_by_code:
            words = [re.escape(word.encode()) for word in name.split(".")[-2:]]
            sets = re.compile(rb"\b%s(?:[\"']\])?(?:\.%s|\[[\"']%s[\"']\])\s*=(?!=)" % (words[0], words[-1], words[-1]))
            reached = (function for function, _ in self._program.functions())
            self._set_by_code[name] = len(words) > 1 and any(one.source.holds(sets) for one in reached)
        return self._set_by_code[name]


def _plain(text: str) -> Any:
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _written(value: Any) -> str:
    """As a file would have it, without the last digits of a number that calculating adds: 5e-06."""
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    raise UnknownResultError
