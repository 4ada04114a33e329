"""Text of the user's repository as markdown that shows it and does nothing else.

It can neither start a line, nor close a comment, nor open a block of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_SPECIAL = re.compile(r"([\\`*\[\]<>|~#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


def plain(text: str) -> str:
    """`text` as one line of markdown that shows it and does nothing else.

    Code between single backticks stays code.
    """
    line = _CONTROL.sub(" ", text).strip()
    pieces = line.split("`")
    if len(pieces) % 2 == 0 or "``" in line or "<!--" in line or "-->" in line:
        return _SPECIAL.sub(r"\\\1", line).replace("&", "&amp;")
    return "`".join(
        piece if place % 2 else _SPECIAL.sub(r"\\\1", piece).replace("&", "&amp;") for place, piece in enumerate(pieces)
    )


def code(text: str) -> str:
    """`text` as a code span, with a fence longer than any run of backticks in it."""
    line = _CONTROL.sub(" ", text).strip()
    if "<!--" in line or "-->" in line:  # harmless in a code span, but not to those who search for comments
        return plain(line)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    gap = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{gap}{line}{gap}{fence}" if line else ""


def comment(kind: str, content: Mapping[str, Any]) -> str:
    """One comment that `entries` reads back, whatever its content says; empty fields are left out."""
    filled = {name: value for name, value in content.items() if value not in (None, (), [], {})}
    compact = json.dumps(filled, ensure_ascii=True, separators=(",", ":"))
    for taken, safe in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("--", "-\\u002d")):
        compact = compact.replace(taken, safe)
    return f"<!-- trainsleuth:{kind} {compact} -->"
