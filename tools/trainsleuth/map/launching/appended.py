"""Options that a launcher of the repository appends to what it starts: cmd += ["--distributed", "True"]"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainsleuth.facts import Event, Expr, Index

from .launch import Command, folder_of
from .launch_targets import script_of

_PROGRAM = re.compile(r"(?<![\w/.-])([\w./-]+\.py)\b")
_STARTS = re.compile(rb"\bPopen\(|\bsubprocess\.\w+\(|\bos\.(?:system|execvp?e?|spawn\w+)\(")


def with_appended(index: Index, launch: Command | None) -> Command | None:
    """The command as the program gets it; `launch` where its first file is no such launcher. What the command gives
    itself, and what the launcher works out or appends under a condition, is left as it is.
    """
    named = _PROGRAM.search(launch.text) if launch is not None else None
    path = script_of(index, folder_of(launch), named[1]) if launch is not None and named is not None else None
    if launch is None or path is None or launch.target in ("", path):
        return launch
    body = index.files[path].body
    options = list(_appended(index, path)) if body.source.holds(_STARTS) else []
    given = {word.partition("=")[0] for word in launch.text.split()}
    more = [word for option in options if option[0].partition("=")[0] not in given for word in option]
    return launch._replace(text=" ".join([launch.text, *more])) if more else launch


def _appended(index: Index, path: str) -> Iterator[list[str]]:
    for function in index.files[path].functions.values():
        for event in function.events:
            for items in _lists(event) if not any(one.kind == "if" for one in event.block.branches) else ():
                yield from _options(items)


def _lists(event: Event) -> Iterator[tuple[Expr, ...]]:
    """What a list is made longer by, as it is written."""
    given = [call.arguments[0] for call in event.calls if call.last == "extend" and call.arguments]
    given += [event.value] if event.kind == "augment" and event.value is not None else []
    yield from (one.parts for one in given if one.kind == "list")


def _options(items: Iterable[Expr]) -> Iterator[list[str]]:
    """Each option with its value, where that is written out."""
    words = [one.text if one.kind == "string" and " " not in one.text else None for one in items]
    for word, following in zip(words, [*words[1:], "--"], strict=True):
        if word is not None and word.startswith("--") and word.strip("-") and following is not None:
            yield [word] if following.startswith("--") or "=" in word else [word, following]
