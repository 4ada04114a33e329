"""A fault that stands in several copies of the same lines is one fault: told once, with the places of the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from trainsleuth.finding import Finding
from trainsleuth.repository import Repository


def folded(repository: Repository, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in their order; a failure whose check, severity and lines, those of its chain with it, read the
    same as those of one at another place before it stands among the `copies` of that one.
    """
    lines = _Lines(repository)
    first: dict[object, int] = {}
    kept: list[Finding] = []
    for finding in findings:
        if finding.outcome == "fail" and finding.path:
            told = first.setdefault((finding.by, finding.severity, lines.of(finding)), len(kept))
            if told < len(kept) and finding.place not in (kept[told].place, *kept[told].copies):
                kept[told] = replace(kept[told], copies=(*kept[told].copies, finding.place))
                continue
        kept.append(finding)
    return tuple(kept)


class _Lines:
    """The text of lines, without the space around them; a file is read once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._files: dict[str, list[str]] = {}

    def of(self, finding: Finding) -> tuple[str, ...]:
        """The line of a failure and those of its chain; where one cannot be read its place stands for it."""
        places = ((finding.path or "", finding.line or 0), *((link.path, link.line) for link in finding.chain))
        return tuple(self._text(path, line) or f"{path}:{line}" for path, line in places)

    def _text(self, path: str, line: int) -> str:
        if path not in self._files:
            self._files[path] = (self._repository.read(path) or "").split("\n")
        lines = self._files[path]
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""
