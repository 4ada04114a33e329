"""What the people of a repository have decided about findings: comments in the code, a baseline, settings.

    review = reviewed(Repository("."))
    review.report.findings   # what is left, and what is wrong with the decisions themselves
    review.accepted          # what was decided, with the reason and where it stands

A decision never hides in silence: each accepted finding is listed, a comment without a reason does not count,
and one that accepts nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from trainsleuth.checks import CheckReport, check_ids, run_checks
from trainsleuth.finding import Finding, best_first
from trainsleuth.repository import Repository

from .baseline import Baseline, BaselineError, read_baseline, write_baseline
from .comments import ABOUT_COMMENTS, Comment, comments, remarks
from .settings import Settings, SettingsError, read_settings


@dataclass(frozen=True)
class Accepted:
    """A finding that somebody has accepted: `how` is "comment", "setting" or "baseline"."""

    finding: Finding
    how: str
    reason: str


@dataclass(frozen=True)
class Review:
    """`report` without what was accepted; `fixed`: entries of the baseline that are found no more."""

    report: CheckReport
    accepted: tuple[Accepted, ...]
    fixed: int = 0


def reviewed(
    repository: Repository,
    only: Iterable[str] | None = None,
    paths: Iterable[str] | None = None,
    baseline: Path | None = None,
) -> Review:
    """Run the checks and take away what was accepted. `only`, `paths` and `baseline` go before the settings.

    Raises SettingsError, BaselineError, and what `run_checks` raises.
    """
    settings = read_settings(repository, check_ids())
    asked = list(only) if only else list(settings.only)
    report = run_checks(repository, only=asked or None, paths=paths)
    given = baseline if baseline is not None else settings.baseline
    known = read_baseline(given) if given is not None else Baseline(())
    return judged(repository, report, settings, known, paths)


def judged(
    repository: Repository,
    report: CheckReport,
    settings: Settings,
    baseline: Baseline,
    paths: Iterable[str] | None = None,
) -> Review:
    """Each failure against comments first, then settings, then the baseline."""
    found = tuple(comments(repository, paths))
    accepted: list[Accepted] = []
    left: list[Finding] = []
    used: set[tuple[Comment, str]] = set()
    open_entries = baseline.counted()
    for finding in report.findings:
        comment = next((one for one in found if one.accepts(finding)), None)
        if finding.outcome != "fail":
            left.append(finding)
        elif comment is not None:
            used.add((comment, finding.by.removeprefix("check:")))
            accepted.append(Accepted(finding, "comment", comment.reason))
        elif reason := settings.accepts(finding):
            accepted.append(Accepted(finding, "setting", reason))
        elif baseline.takes(repository, finding, open_entries):
            accepted.append(Accepted(finding, "baseline", "was there when the baseline was written"))
        else:
            left.append(finding)
    left += remarks(found, used, tuple(report.examined), check_ids())
    return Review(replace(report, findings=tuple(best_first(left))), tuple(accepted), sum(open_entries.values()))


__all__ = [
    "ABOUT_COMMENTS",
    "Accepted",
    "Baseline",
    "BaselineError",
    "Review",
    "Settings",
    "SettingsError",
    "judged",
    "read_baseline",
    "read_settings",
    "reviewed",
    "write_baseline",
]
