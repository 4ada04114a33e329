"""What a setting is about whose own name does not say it: {"params": heads, "lr": args.heads_rate} makes it a learning rate."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr

from ...configuration import Key, Truth
from ...drawing.statements import enclosing, event_at
from .topics import topic_of

_SAID = ("optimizer", "schedule")  # whose settings are called after what they are for: heads, decoder
_FACTORS = ("*", "/")


def handed_topic(truth: Truth, key: Key) -> str:
    """The topic of the name under which code hands it on, alone or as a factor; "" when that says none."""
    last = key.name.rpartition(".")[2]
    names = (name for value in _values(truth, key) for name in _names(value, last))
    topics = (topic_of(name) for name in names)
    return next((topic for topic in topics if topic in _SAID), "")


def _values(truth: Truth, key: Key) -> Iterator[Expr]:
    """Of the statements that read it."""
    files = truth.program.index.files
    for use in key.reads:
        found = event_at(enclosing(files[use.path], use.line), use.line) if use.path in files else None
        if found is not None and found[1].value is not None:
            yield found[1].value


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
