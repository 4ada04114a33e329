"""Launch scripts that are written in Python: os.system("python train.py --config a.yaml")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import FileFacts, Index

_STARTS = re.compile(rb"\bos\.system\(|\bsubprocess\.(?:run|call|check_call|Popen)\(")
MAX_LINES = 80  # of a file that does nothing but start another
MAX_TEXT = 4000  # characters of a command


def launch_lines(index: Index) -> Iterator[tuple[str, int, str]]:
    """(path, line, text) of the commands in short Python files that define nothing and start a program."""
    for body in (file.body for file in index.files.values() if _only_starts(file)):
        if body.source.holds(_STARTS):
            for event in body.events:
                for part in event.value.walk() if event.value is not None else ():
                    if part.kind == "string" and " " in part.text.strip() and len(part.text) <= MAX_TEXT:
                        yield body.path, part.line, part.text


def _only_starts(file: FileFacts) -> bool:
    """It is short and defines nothing."""
    return file.body.end_line <= MAX_LINES and not file.classes and len(file.functions) == 1
