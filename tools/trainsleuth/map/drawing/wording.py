"""Text of the repository as text of an answer."""

from __future__ import annotations

import re

from trainsleuth.secrets import hide

TEXT_WIDTH = 66  # characters of a source line that are shown


_FILE = re.compile(r"/[^\s/()\[\]{},]+$")  # how a path or URL ends


def clean(text: str, width: int = TEXT_WIDTH) -> str:
    """A line as one short printable line: text of the repository never shapes the answer.

    One that is too long and ends in a path keeps the last part of it. What is written for a password or a key is hidden.
    """
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    words = hide(words)
    if len(words) <= width:
        return words
    end = found[0] if (found := _FILE.search(words)) is not None else ""
    if len(end) > width - 2:
        return f"…{words[1 - width :]}"
    return f"{words[: width - 1 - len(end)]}…{end}"
