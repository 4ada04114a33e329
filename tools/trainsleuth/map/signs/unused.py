"""Names that are bound and never asked: a criterion that is made, where the network makes its loss itself."""

from __future__ import annotations

import re

from trainsleuth.facts import Event, Function


def is_unused(function: Function, event: Event) -> bool:
    """The only name that the statement binds stands nowhere else in the code around it."""
    name = event.targets[0].text if event.kind == "assign" and len(event.targets) == 1 else ""
    said = function.source.found(re.compile(rb"\b%s\b" % name.encode())) if name.isidentifier() else ()
    return sum(1 for _ in said) == 1
