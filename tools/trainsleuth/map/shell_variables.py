"""Variables of a shell script: what its lines assign, put in where a command uses them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_ASSIGNED = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)=([^\s#;]+)")


def keep_assigned(line: str, known: dict[str, str]) -> None:
    """Adds what `line` assigns to `known`, with the variables that it uses itself put in."""
    if (match := _ASSIGNED.match(line)) is not None:
        known[match[1]] = filled(match[2].strip("\"'"), known)


def filled(text: str, known: Mapping[str, str]) -> str:
    """`text` with the variables that are known."""
    return _VARIABLE.sub(lambda match: known.get(match[1], match[0]), text)
