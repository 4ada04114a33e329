"""Static checks: one silent bug per file, found by being in this folder.

    report = run_checks(Repository("path/to/project"))
    report.findings        # failures first, then one summary per check
    report.examined        # {"double-softmax": {"sites": 12, "unresolved": 3}, ...}

A check file has a docstring (a title; why the bug is silent; "Cannot see: ..."; Bad and Good examples), SAY
(its `Verdicts`) and `check(index)` that yields exactly one Finding for each site it examined: fail, pass,
or open with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from trainsleuth.facts import (
    Index,
    build_index,
    is_dead,
    is_lesson,
    keep_facts,
    left_blank,
    let_go,
    no_collection,
    overridden_by_all,
    written_for_another,
)
from trainsleuth.finding import Finding, Outcome, best_first
from trainsleuth.kept import answered
from trainsleuth.projects import is_large, projects
from trainsleuth.repository import Repository, Skipped, examined, is_under

from ._verdicts import Verdicts
from ._weighing import weighed
from .docs import Explanation, read_docs, title_of

_NOT_CHECKS = ("docs",)  # nor what starts with an underscore
MAX_UNRESOLVED = 200  # places listed in a report; the counts are always whole


class Check(Protocol):
    """What every file of this folder offers."""

    __doc__: str | None
    SAY: Verdicts

    @staticmethod
    def check(index: Index) -> Iterator[Finding]: ...


@dataclass(frozen=True)
class Unresolved:
    """A site that a check looked at and could not decide."""

    path: str
    line: int
    why: str


@dataclass(frozen=True)
class CheckReport:
    """`findings`: failures best first, then one summary per check. `skipped`: files left out or read in
    part. `unsearched`: how many files of code lie in other projects below the root.
    """

    findings: tuple[Finding, ...]
    examined: dict[str, dict[str, int]]
    unresolved: tuple[Unresolved, ...]
    skipped: tuple[Skipped, ...]
    unsearched: int = 0

    def read(self, sources: Iterable[str]) -> tuple[str, ...]:
        """Those of the files `sources` that were read, if only in part."""
        return examined(sources, {one.path: one.reason for one in self.skipped})


class UnknownCheckError(ValueError):
    """No check has that id; the message lists those there are."""


@cache
def _modules() -> dict[str, Check]:
    names = sorted(
        entry.name for entry in iter_modules(__path__) if entry.name not in _NOT_CHECKS and entry.name[0] != "_"
    )
    return {name.replace("_", "-"): cast(Check, import_module(f"{__name__}.{name}")) for name in names}


def check_ids() -> tuple[str, ...]:
    return tuple(_modules())


def _module(check_id: str) -> Check:
    name = check_id.removeprefix("check:").replace("_", "-")
    if name not in _modules():
        raise UnknownCheckError(f"no check {check_id!r}; there are {', '.join(_modules())}")
    return _modules()[name]


def explain(check_id: str) -> Explanation:
    """Title, text and examples of one check. Raises UnknownCheckError."""
    module = _module(check_id)
    name = check_id.removeprefix("check:").replace("_", "-")
    records = list(module.SAY.records())
    said = "; ".join(f"{what}: {one.words}" if what else one.words for what, one in records) or "it asks by design"
    severity = module.SAY.severity if any(one.speaks for _, one in records) else "note"
    return read_docs(name, module.__doc__ or "", module.SAY.family, severity, f"{said[:1].upper()}{said[1:]}.")


def run_checks(
    project: Repository | Index,
    only: Iterable[str] | None = None,
    paths: Iterable[str] | None = None,
    started: Iterable[str] = (),
) -> CheckReport:
    """Run the checks `only` (all by default) over a whole project; report sites below `paths` (all by
    default).

    The index always holds the whole project: a bug may begin in a file that was not asked about. Below a root with
    several projects each is searched by itself, and of these the ones alone that `paths`, or files that are `started`,
    lie in. Tests are not examined.
    Raises UnknownCheckError for an id in `only`, RepositoryError for a path outside the project.
    """
    chosen = {name: _module(name) for name in only} if only else _modules()
    repository = project.repository if isinstance(project, Index) else project
    scopes = [repository.relative(path) for path in paths] if paths else ["."]
    found: dict[str, list[Finding]] = {name: [] for name in chosen}
    if isinstance(project, Index):
        with no_collection():
            _search(chosen, project, scopes, found)
        return _report(chosen, found, repository)
    begun = tuple(started) if is_large(repository) else ()  # else every command had an answer of its own

    def searched() -> CheckReport:
        parts = projects(repository)
        asked = _asked(repository, parts, scopes, begun)
        for part in asked:
            with no_collection():
                index = build_index(part, tests=False)
                _search(chosen, index, scopes, found)
                keep_facts(index)
                let_go(index)
        return _report(chosen, found, repository, sum(len(part.sources()) for part in parts if part not in asked))

    return answered(repository, ("check", sorted(chosen), scopes, begun), CheckReport, searched)


def _asked(
    repository: Repository, parts: tuple[Repository, ...], scopes: Collection[str], started: Collection[str]
) -> tuple[Repository, ...]:
    """Those of the parts that are to be searched."""
    if len(parts) == 1:
        return parts
    inside = {path for path in repository.files if any(is_under(path, scope) for scope in scopes)}
    held = tuple(part for part in parts if not inside.isdisjoint(part.files))
    return tuple(part for part in held if not set(started).isdisjoint(part.sources())) or held


def _search(
    chosen: Mapping[str, Check], index: Index, scopes: Collection[str], found: Mapping[str, list[Finding]]
) -> None:
    for name, module in chosen.items():
        inside = (f for f in module.check(index) if any(is_under(f.path or "", scope) for scope in scopes))
        found[name].extend(_with_cell(index, _if_it_counts(index, finding)) for finding in inside)


def _report(
    chosen: Mapping[str, Check], found: Mapping[str, list[Finding]], repository: Repository, unsearched: int = 0
) -> CheckReport:
    findings: list[Finding] = []
    examined: dict[str, dict[str, int]] = {}
    unresolved: list[Unresolved] = []
    for name, own in found.items():
        opened = [f for f in own if f.outcome == "open"]
        findings += [f for f in own if f.outcome == "fail"]
        if not own or any(f.outcome != "fail" for f in own):
            findings.append(_summary(chosen[name], name, own))
        examined[name] = {"sites": len(own), "unresolved": len(opened)}
        unresolved += [Unresolved(f.path or "", f.line or 0, f.message) for f in opened]
    return CheckReport(
        tuple(best_first(findings)), examined, tuple(unresolved[:MAX_UNRESOLVED]), repository.skipped, unsearched
    )


def _if_it_counts(index: Index, finding: Finding) -> Finding:
    """A fault in code that never runs is none; one in code that is still to be written is not known; one that is
    shown on purpose is told, and accuses nobody.
    """
    if finding.outcome != "fail":
        return finding
    places = {(finding.path or "", finding.line or 0), *((link.path, link.line) for link in finding.chain)}
    for path, line in sorted(places):
        if is_dead(index, path, line):
            return replace(finding, outcome="pass", message=f"{path}:{line} never runs")
        if (blank := left_blank(index, path, line)) is not None:
            return replace(finding, outcome="open", message=f"{path}:{blank} is left to be filled in")
    if method := overridden_by_all(index, finding.path or "", finding.line or 0):
        said = f"all classes below have a method of their own for {method}(), and nobody makes the class itself"
        return replace(finding, outcome="open", message=said)
    library = written_for_another(index, {path for path, _ in places})
    if library and finding.family != "data":
        return replace(finding, outcome="open", message=f"{finding.path} is written for {library}")
    if not finding.grounds:
        return finding  # a question by design: the place alone cannot answer it
    if finding.is_alarm and is_lesson(index, finding.path or "", finding.line or 0):
        said = f"{finding.message} Names or words around it say that it shows an error on purpose."
        return replace(finding, severity="note", confidence="low", message=said)
    return weighed(index, finding, sorted(places))


def _with_cell(index: Index, finding: Finding) -> Finding:
    """Lines of a notebook count over its joined code cells; the message also names the cell."""
    file = index.files.get(finding.path or "")
    cell = file.cell(finding.line or 0) if file is not None and file.cells else None
    if cell is None:
        return finding
    return replace(finding, message=f"{finding.message} (In the notebook: cell {cell[0]}, line {cell[1]}.)")


def _summary(module: Check, name: str, own: list[Finding]) -> Finding:
    """What the check looked at in all: passing sites are evidence too. It is ruled out where every one is clean."""
    count = {outcome: sum(f.outcome == outcome for f in own) for outcome in ("fail", "pass", "open")}
    title = title_of(module.__doc__ or "")
    outcome: Outcome
    if not own:
        outcome, said = "skip", "nothing in this code for it to examine"
    elif count["pass"]:
        outcome = "pass" if count["pass"] == len(own) else "open"
        said = f"{count['pass']} of {len(own)} sites are clean"
        said += f", {count['fail']} are told above" if count["fail"] else ""
    else:
        outcome, said = "open", f"none of {len(own)} sites could be shown clean"
    if count["open"]:
        said += f", {count['open']} could not be resolved"
    return Finding(
        by=f"check:{name}",
        outcome=outcome,
        message=f"{title} {said[:1].upper()}{said[1:]}.",
        family=module.SAY.family,
        measured={"examined": len(own), "failed": count["fail"], "unresolved": count["open"]},
    )


__all__ = [
    "Check",
    "CheckReport",
    "Explanation",
    "UnknownCheckError",
    "Unresolved",
    "check_ids",
    "explain",
    "run_checks",
]
