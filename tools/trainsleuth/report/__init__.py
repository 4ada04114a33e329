"""The report: the notes of a case as one HTML page that needs nothing else, for people without the tool."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from trainsleuth.notes import Notes, NotesError
from trainsleuth.notes.lock import home_folder
from trainsleuth.report.page import page


def write_report(notes: Notes, output: Path | None = None) -> Path:
    """Writes the page to `output`, by default outside of the user's repository, and returns where it is.

    Raises NotesError when there are no notes, or the page cannot be written.
    """
    path = notes.path.resolve()
    if not path.exists():
        raise NotesError(f"there are no notes at {notes.path}; `trainsleuth triage -- COMMAND` writes them")
    target = (output or _default(path)).absolute()
    html = page(notes.read(), case=path.parent.name, file=path.name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        part.write_text(html, encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise NotesError(f"{target} cannot be written ({error.strerror}); name another file with -o") from error
    return target


def _default(notes: Path) -> Path:
    """One page for each notes file, replaced by the next."""
    key = hashlib.sha256(os.fsencode(notes)).hexdigest()[:8]
    name = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in notes.parent.name)
    return home_folder() / "reports" / f"{name[:40] or 'case'}-{key}.html"
