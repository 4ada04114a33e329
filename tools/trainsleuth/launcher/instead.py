"""Files that the command finds with another text than the user's, in a view of the folder that is thrown away."""

from __future__ import annotations

import os
from collections.abc import Mapping

Texts = Mapping[str, str]  # by path relative to the root; bytes that are not UTF-8 as surrogates


def put(root: str, texts: Texts) -> None:
    """Writes the texts below `root`, which must not be the user's own folder. Raises OSError, also for a link."""
    for relative, text in texts.items():
        descriptor = os.open(os.path.join(root, relative), os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
