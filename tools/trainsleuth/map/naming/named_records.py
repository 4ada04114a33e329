"""What code says of a name that a setting gives: OptimInfo(name="adamq", opt_class=AdamQ, defaults={"alpha": 0.9})."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, written

from .named_choice import NO_NAMES

_HOLDS = re.compile(rb"\bname ?= ?[\"']")
_RECORD = re.compile(r"_?[A-Z]\w*|register\w*|add_\w+")
LEAST = 3  # letters of a name
WIDTH = 48  # characters of what is told


class Record(NamedTuple):
    function: Function
    call: Expr

    def __str__(self) -> str:
        """All that is short, but the name."""
        given = (part for part in self.call.parts[1:] if part.kind == "keyword" and part.text != "name")
        said = (f"{part.text}={written(part.parts[0])}" for part in given)
        return f"{self.call.last} {', '.join(text for text in said if len(text) <= WIDTH)}"


def records_in(functions: Iterable[Function]) -> Mapping[str, Record]:
    """By their names, the calls that tell more of a name; none that two calls have."""
    found: dict[str, Record | None] = {}
    for function in functions:
        if not function.source.holds(_HOLDS):
            continue
        for call in (call for event in function.events for call in event.calls):
            name = call.keyword("name")
            if name is None or name.kind != "string" or not _RECORD.fullmatch(call.last) or not _tells(call):
                continue
            if len(name.text) >= LEAST and name.text.lower() not in NO_NAMES:
                found[name.text] = None if name.text in found else Record(function, call)
    return {name: one for name, one in found.items() if one is not None}


def _tells(call: Expr) -> bool:
    """It names something of the project or a library, not texts and numbers alone."""
    given = (part.parts[0] for part in call.parts[1:] if part.kind == "keyword" and part.text != "name")
    return any(one.kind in ("path", "call") for one in given)
