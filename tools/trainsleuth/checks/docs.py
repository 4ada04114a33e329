"""The docstring of a check, read into its parts, so that help texts and tests use the very same examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import dedent

_BLOCK = re.compile(r"^(Bad|Good)(?: \(([^)]*)\))?:$", re.MULTILINE)
_FILE = re.compile(r"^# file: (\S+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A small project: file name to source. `is_bad`: the check must find the bug in it."""

    is_bad: bool
    what: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class Explanation:
    id: str
    title: str
    text: str  # the whole docstring, dedented
    family: str
    severity: str
    cannot_see: str
    examples: tuple[Example, ...]
    record: str  # how often it was right on code not seen before, a sentence for each of its forms


def read_docs(check_id: str, docstring: str, family: str, severity: str, record: str) -> Explanation:
    text = dedent(docstring).strip() + "\n"
    title = title_of(docstring)
    limits = re.search(r"^Cannot see: (.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    cannot_see = " ".join(limits[1].split()) if limits else ""
    return Explanation(check_id, title, text, family, severity, cannot_see, tuple(_examples(text)), record)


def title_of(docstring: str) -> str:
    """Its first paragraph, on one line."""
    return " ".join(docstring.strip().partition("\n\n")[0].split())


def _examples(text: str) -> Iterator[Example]:
    """Indented code after a line `Bad:` or `Good:`, up to the next line that is not indented."""
    for head in _BLOCK.finditer(text):
        lines = []
        for line in text[head.end() :].lstrip("\n").split("\n"):
            if line and not line.startswith(" "):
                break
            lines.append(line)
        yield Example(head[1] == "Bad", head[2] or "", dict(files_of(dedent("\n".join(lines)).strip() + "\n")))


def files_of(code: str) -> Iterator[tuple[str, str]]:
    """(file name, source) of a program written as one text, with `# file: name` lines; train.py without
    any.
    """
    parts = _FILE.split(code)
    if parts[0].strip():
        yield "train.py", parts[0]
    yield from zip(parts[1::2], parts[2::2], strict=True)
