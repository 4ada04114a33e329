"""The baseline: findings that were there when the checks came in, so that only new ones stop a change.

An entry holds the check, the file and the text of the line, not its number: code above may grow. Equal lines
are counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trainsleuth.finding import Finding
from trainsleuth.repository import Repository

VERSION = 1


class BaselineError(ValueError):
    """The file is no baseline; the message says what is wrong and how to write one."""


class Entry(NamedTuple):
    check: str
    path: str
    text: str  # of the line, without the space around it


@dataclass(frozen=True)
class Baseline:
    entries: tuple[Entry, ...]

    def counted(self) -> Counter[Entry]:
        """How many findings each entry still accepts."""
        return Counter(self.entries)

    def takes(self, repository: Repository, finding: Finding, left: Counter[Entry]) -> bool:
        """An entry of `left` is for this finding; it is used up."""
        entry = _entry(repository, finding)
        if left[entry] <= 0:
            return False
        left[entry] -= 1
        return True


def _entry(repository: Repository, finding: Finding) -> Entry:
    lines = (repository.read(finding.path) or "").split("\n") if finding.path else []
    number = finding.line or 0
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return Entry(finding.by.removeprefix("check:"), finding.path or "", text)


def read_baseline(path: Path) -> Baseline:
    """Raises BaselineError when the file is not there or is no baseline."""
    again = "write it with: trainsleuth check --write-baseline FILE"
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if plain["version"] != VERSION:
            raise BaselineError(f"{path} is a baseline of version {plain['version']}, expected {VERSION}; {again}")
        return Baseline(tuple(Entry(one["check"], one["path"], one["text"]) for one in plain["findings"]))
    except OSError as error:
        raise BaselineError(f"the baseline {path} cannot be read: {error.strerror}; {again}") from error
    except KeyError as error:
        raise BaselineError(f"{path} is no baseline: it has no {error}; {again}") from error
    except (ValueError, TypeError) as error:
        if isinstance(error, BaselineError):
            raise
        raise BaselineError(f"{path} is no baseline: {error}; {again}") from error


def _was_baseline(path: Path) -> bool:
    """Of any version."""
    try:
        plain = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and {"version", "findings"} <= set(plain)


def write_baseline(path: Path, repository: Repository, findings: Iterable[Finding]) -> int:
    """Write every failure among `findings`, sorted; returns how many.

    Raises BaselineError when another file would be lost, or it cannot be written.
    """
    if path.is_file() and path.stat().st_size and not _was_baseline(path):
        raise BaselineError(f"{path} holds something else than a baseline, and would be lost; name a new file")
    entries = sorted(_entry(repository, one) for one in findings if one.outcome == "fail")
    plain = {"version": VERSION, "findings": [entry._asdict() for entry in entries]}
    try:
        path.write_text(json.dumps(plain, indent=2, ensure_ascii=True) + "\n", encoding="utf-8")
    except OSError as error:
        raise BaselineError(f"the baseline {path} cannot be written: {error.strerror}; name another file") from error
    return len(entries)
