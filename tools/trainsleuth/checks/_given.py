"""Who gives an option: code, a configuration, or a command in a script or a README."""

from __future__ import annotations

import re
from collections.abc import Callable

from trainsleuth.facts import Index

from ._imports import imported, is_of_one_program, is_program
from ._options import set_to

_SCRIPTS = (".sh", ".bash", ".md", ".rst", ".txt", ".ipynb", ".yaml", ".yml", ".json")
_STARTED = re.compile(r"([\w./-]*\w)\.py\b|\s-m\s+([\w.]+)")
_OF_LAUNCHERS = ("local_rank", "local-rank")  # which give it without a word
_LAUNCHERS = r"torch\.distributed\.(?:launch|run)\b|\btorchrun\b|\bdeepspeed\b|\baccelerate launch\b"
_REACH = 1500  # characters of a command before the option


def is_given(index: Index, option: str, path: str, counts: Callable[[str], bool], word: str = "") -> bool:
    """Something sets it to a value that `counts`, or a command that may start what stands in `path` gives it; with
    `word`, that one.
    """
    name = re.escape(option.encode())
    written_out = re.compile(rb"(?:[\"']%s[\"'][ \t]*:|\b%s=)[ \t]*([\w.'\"-]+)" % (name, name))
    holding = [file for file in index.files.values() if file.body.source.holds(written_out)]
    near = [file for file in holding if is_of_one_program(index, path, file.path)]
    if any(text == "?" or counts(text) for text in set_to(index, option, path)):
        return True
    texts = (
        text.decode("utf-8", "replace").strip("'\"")
        for one in near or holding
        for text in one.body.source.found(written_out)
    )
    if any(text[:1].isdigit() or text in ("True", "False", "None") or text == word for text in texts if counts(text)):
        return True
    tables = (table.items() for table in index.configs.values())
    if any(key.rpartition(".")[2] == option and counts(value.value) for table in tables for key, value in table):
        return True
    named = re.compile(
        rf"--{re.escape(option).replace('_', '[-_]')}\b" + (rf"[\s=\"',]+{re.escape(word)}\b" if word else "")
    )
    if option in _OF_LAUNCHERS:
        named = re.compile(rf"{named.pattern}|{_LAUNCHERS}")
    written_down = (file for file in index.repository.files if file.endswith(_SCRIPTS))
    return any(_is_in_command(index, index.repository.read(file) or "", named, path) for file in written_down)


def _is_in_command(index: Index, text: str, named: re.Pattern[str], path: str) -> bool:
    """It is given in the text, and not only to other programs that never come to `path`."""
    for found in named.finditer(text):
        before = text[max(0, found.start() - _REACH) : found.start()]
        started = list(_STARTED.finditer(before.rpartition("\n\n")[2]))
        if not started or not is_program(index, path):
            return True
        stem = (started[-1][1] or started[-1][2].replace(".", "/")).lstrip("./")
        programs = [one for one in index.files if f"/{one}".endswith(f"/{stem}.py")]
        if not programs or any(path in imported(index, one) for one in programs):
            return True
    return False
