"""Text of the repository as text of an answer."""

from __future__ import annotations

TEXT_WIDTH = 66  # characters of a source line that are shown


def clean(text: str, width: int = TEXT_WIDTH) -> str:
    """A line as one short printable line: text of the repository never shapes the answer."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= width else words[: width - 1] + "…"
