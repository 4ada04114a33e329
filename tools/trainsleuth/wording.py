"""Text of the user's program, harmless in an answer: visible, on lines that we started."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from trainsleuth.finding import Number, number

# C0 and C1 controls but tab and newline, line separators, marks that turn or hide text, lone surrogates
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
BAR = "| "


def visible(text: str) -> str:
    """`text` with every character that would not be seen, or not be encoded, as its Python escape."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, limit: int = 2_000) -> str:
    """`text` on one line of at most `limit` characters."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= limit else f"{line[: limit - 6]} [cut]"


def path_text(path: str) -> str:
    """A path whose odd characters, line ends too, are visible."""
    return visible(path).replace("\n", "\\n").replace("\t", "\\t")


def quoted(text: str, indent: str = "  ", lines: int = 25) -> str:
    """The last `lines` lines of `text`, each behind a bar, so that none can be taken for ours."""
    shown = visible(text).rstrip().split("\n")
    left_out = [f"[{len(shown) - lines} lines before]"] if len(shown) > lines else []
    return "\n".join(f"{indent}{BAR}{line[:400]}" for line in [*left_out, *shown[-lines:]])


def wrapped(text: str, indent: str, width: int | None, hanging: str = "") -> str:
    """One line of text behind `indent`, folded to `width` columns; None does not fold."""
    if width is None:
        return indent + text
    rest = indent + hanging
    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def shown(value: Any) -> str:
    """A number, a word, or a short collection of them, as people read it."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, float):
        value = number(value)
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{one_line(str(name))} {shown(one)}" for name, one in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        items = [shown(one) for one in value]
        more = f" and {len(items) - 10} more" if len(items) > 10 else ""
        return ", ".join(items[:10]) + more
    return one_line(str(value), 300)


def measured_text(measured: Mapping[str, Number]) -> str:
    """Name and number, pair by pair."""
    return ", ".join(f"{one_line(name)} {shown(value)}" for name, value in measured.items())


def strict(value: Any) -> Any:
    """`value` as plain JSON that every parser takes: no NaN, no lone surrogate, only JSON's own types."""
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if hasattr(value, "to_dict"):
        return strict(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return strict(asdict(value))
    if isinstance(value, Mapping):
        return {strict(str(name)): strict(one) for name, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((strict(one) for one in value), key=str)
    if isinstance(value, list | tuple):
        return [strict(one) for one in value]
    return strict(str(value))
