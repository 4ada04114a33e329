"""What a run says of the findings of a search: which of them are about this program, and which lines it came to."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import CodeType

from trainsleuth.finding import Finding
from trainsleuth.launcher import Run
from trainsleuth.repository import Repository
from trainsleuth.trace import traces

Place = tuple[str, int]
MOST_LINES = 400  # that a run is asked about


@dataclass(frozen=True)
class Asked:
    """Lines by path that a run is asked about; those `outside` of functions run once, when their file is loaded."""

    lines: Mapping[str, Sequence[int]] = field(default_factory=dict)
    outside: frozenset[Place] = frozenset()


@dataclass(frozen=True)
class Seen:
    """What the runs showed of the files: those `loaded`, and which of the `asked` lines were `visited`. Asked are those
    alone that could be told: in functions, or behind a line of their file that was told (listening begins with torch).
    """

    loaded: frozenset[str] = frozenset()
    asked: frozenset[Place] = frozenset()
    visited: frozenset[Place] = frozenset()
    has_forked: bool = False
    """Did a process fork? What its children came to was not observed."""

    def is_about(self, finding: Finding) -> bool:
        """Is it about this program? All that a run says is, and all where no run told which files it loaded."""
        return not self.loaded or is_of_run(finding) or finding.path in self.loaded

    def came_to(self, finding: Finding) -> bool:
        """Did the program execute every line of the finding that could be asked about, its own place among them?"""
        mine = self.asked.intersection(_places(finding))
        return bool(mine) and (finding.path, finding.line) in self.visited and mine <= self.visited

    def passed_by(self, finding: Finding) -> bool:
        """Did the program never execute the finding's own line? Links of its chain may stand for other ways there."""
        return not self.has_forked and (finding.path, finding.line) in self.asked - self.visited


def started(command: Sequence[str], root: Path, cwd: Path | None = None) -> Iterator[str]:
    """Files below the root that the command, or a shell script in it, may name, by themselves or as modules."""
    here, repository = (cwd or Path.cwd()).resolve(), Repository(root)
    scripts = [(here / word).resolve() for word in command if word.endswith(".sh")]
    inside = (one.relative_to(root).as_posix() for one in scripts if one.is_relative_to(root) and one.is_file())
    written = (word for script in inside for word in (repository.read(script) or "").split())
    for word in (*command, *written):
        for named in (word, f"{word.replace('.', '/')}.py", f"{word.replace('.', '/')}/__main__.py"):
            try:
                yield (here / named).resolve().relative_to(root).as_posix()
            except (OSError, RuntimeError, ValueError):
                continue  # no path, or none below the root


def unsearched(files: int, root: Path) -> Iterator[str]:
    """What is said of files of other projects below the root."""
    if files:
        yield f"{files} files of code of other projects below {root}: nothing that the command names lies in one of them"


def lines_to_visit(findings: Iterable[Finding], repository: Repository) -> Asked:
    """The lines of failures of the search that a run can be asked about: those that hold code."""
    wanted: dict[str, set[int]] = {}
    for path, line in (place for finding in findings if not is_of_run(finding) for place in _places(finding)):
        wanted.setdefault(path, set()).add(line)
    left, told, outside = MOST_LINES, {}, set()
    for path, lines in sorted(wanted.items()):
        code = _code(repository, path)
        inside = set(_lines_in_functions(code)) if code else set()
        held = sorted(lines & {*inside, *_own_lines(code)})[:left] if code else []
        if held:
            told[path] = held
            outside |= {(path, line) for line in held if line not in inside}
            left -= len(held)
    return Asked(told, frozenset(outside))


def seen(runs: Iterable[Run], asked: Asked) -> Seen:
    """What the events of the runs say. Without a process that watched its lines none counts as asked."""
    told = [trace for run in runs for trace in traces(run.events)]
    loaded = {path for trace in told for event in trace.events("modules") for path in event["loaded"]}
    visited = {(event["path"], int(event["line"])) for trace in told for event in trace.events("visited")}
    watched = any(not event["why"] for trace in told for event in trace.events("watches_lines"))
    told_from: dict[str, int] = {}
    for path, line in visited & asked.outside:
        told_from[path] = min(line, told_from.get(path, line))
    places = {(path, line) for path, lines in asked.lines.items() for line in lines} if watched else set()
    deaf = {place for place in asked.outside if place[1] < told_from.get(place[0], place[1] + 1)}
    has_forked = any(trace.events("forked") for trace in told)
    return Seen(frozenset(loaded), frozenset(places - deaf), frozenset(visited), has_forked)


def of_this_program(findings: Iterable[Finding], shown: Seen, is_whole: bool = False) -> list[Finding]:
    """Failures of a search weighed by a run: those in files that it did not load are notes, or dropped where they only
    ask; a doubt whether the program comes to a place goes where it did. `is_whole`: the run came to its own end, so
    that what it never came to accuses nobody.
    """
    return list(_weighed(findings, shown, is_whole))


def _weighed(findings: Iterable[Finding], shown: Seen, is_whole: bool) -> Iterator[Finding]:
    for finding in findings:
        if is_of_run(finding):
            yield finding
        elif not shown.is_about(finding):
            if finding.is_alarm:
                yield _in_another(finding)
        elif shown.came_to(finding):
            yield _without_doubt(finding)
        elif is_whole and finding.is_alarm and shown.passed_by(finding):
            said = f"{finding.message} (this run came to its own end, but not to this line)"
            yield replace(finding, severity="note", confidence="low", message=said)
        else:
            yield finding


def is_of_run(finding: Finding) -> bool:
    """About this program whatever it loaded: all but the failures of a search."""
    return finding.outcome != "fail" or not finding.by.startswith("check:")


def _in_another(finding: Finding) -> Finding:
    said = f"{finding.message} (in a file that this command did not load)"
    then = "probe the command that loads it" if finding.next.startswith("trainsleuth probe ") else finding.next
    return replace(finding, severity="note", confidence="low", message=said, next=then)


def _without_doubt(finding: Finding) -> Finding:
    grounds = f"{finding.grounds}; this run came to these lines" if finding.grounds else "this run came to these lines"
    if not finding.doubt:
        return replace(finding, grounds=grounds)
    return replace(finding, message=finding.message.replace(f" {finding.doubt}", "", 1), grounds=grounds, doubt="",
                   severity=finding.undoubted, confidence="medium")  # fmt: skip


def _places(finding: Finding) -> Iterator[Place]:
    if finding.path is not None and finding.line is not None:
        yield finding.path, finding.line
    yield from ((link.path, link.line) for link in finding.chain)


def _code(repository: Repository, path: str) -> CodeType | None:
    """A file as Python would run it; None for what it cannot read, and for notebooks."""
    text = repository.read(path) if path.endswith(".py") else None
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(text or "", path, "exec", dont_inherit=True)
    return None


def _own_lines(code: CodeType) -> Iterator[int]:
    return (line for _, _, line in code.co_lines() if line)


def _lines_in_functions(code: CodeType) -> Iterator[int]:
    """Lines of functions and what is in them; bodies of classes run with their file."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & CO_NEWLOCALS:
                yield from _own_lines(one)
            yield from _lines_in_functions(one)
