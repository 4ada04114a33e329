"""Settings of a class that hands a table of its file to its base: class NetConfig(BaseConfig) with self.register(_TABLE)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import ConfigValue, Expr, FileFacts, Index
from trainsleuth.facts.reading.scopes import bindings

from .literals import flat, is_table, text_of

_HANDS = re.compile(rb"\bself\.\w+\(\s*\w+\s*\)")
_BOUND = re.compile(rb"^\w+[ \t]*=[ \t]*(?:dict\(|\{)", re.M)


def handed_settings(file: FileFacts) -> dict[str, ConfigValue]:
    """The table flat, later ones winning; {} where there is no such class."""
    return {key: ConfigValue(text_of(value), value.line) for table in _handed(file) for key, value in flat(table, "")}


def base_files(index: Index, path: str) -> Iterator[str]:
    """Files of such classes that those of the file at `path` derive from, the nearest of each."""
    file = index.files.get(path)
    for cls in file.classes.values() if file is not None and any(True for _ in _handed(file)) else ():
        yield from (base.path for base in index.lineage(cls)[1:2] if base.path != path and base.path in index.configs)


def _handed(file: FileFacts) -> Iterator[Expr]:
    if not file.classes or not file.body.source.holds(_BOUND):
        return
    for cls in file.classes.values():
        made = cls.methods.get("__init__", cls.body)
        for event in made.events if made.source.holds(_HANDS) else ():
            for call in event.calls:
                own = call.receiver is not None and call.receiver.text == made.self_name
                given = call.arguments[0] if own and len(call.arguments) == 1 else None
                bound = bindings(file.body).get(given.text, ()) if given is not None and given.kind == "path" else ()
                yield from (one.value for one in bound if one.value is not None and is_table(one.value))
