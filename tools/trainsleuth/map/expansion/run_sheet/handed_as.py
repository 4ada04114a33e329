"""What a setting is about whose own name does not say it: {"params": heads, "lr": args.heads_rate} makes it a learning rate."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr

from ...configuration import Key, Truth
from ..settings.readers import readers
from .topics import topic_of

_SAID = ("optimizer", "schedule")  # whose settings are called after what they are for: heads, decoder
_FACTORS = ("*", "/")


def handed_topic(truth: Truth, key: Key) -> str:
    """The topic of the name under which code hands it on, alone or as a factor; "" when that says none."""
    last = key.name.rpartition(".")[2]
    values = (event.value for _, event in readers(truth.program.index, key))
    names = (name for value in values if value is not None for name in _names(value, last))
    topics = (topic_of(name) for name in names)
    return next((topic for topic in topics if topic in _SAID), "")


def _names(value: Expr, last: str) -> Iterator[str]:
    """Keywords and keys of tables that get it."""
    for part in value.walk():
        if part.kind == "keyword" and _is_of(part.parts[0], last):
            yield part.text
        elif part.kind == "pair" and part.parts[0].kind == "string" and _is_of(part.parts[1], last):
            yield part.parts[0].text


def _is_of(value: Expr, last: str) -> bool:
    if value.kind == "binary" and value.text in _FACTORS:
        return any(_is_of(part, last) for part in value.parts)
    if value.kind == "index" and len(value.parts) == 2:
        return value.parts[1].kind == "string" and value.parts[1].text == last
    return value.last == last and value.kind in ("path", "attr")
