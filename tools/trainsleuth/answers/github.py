"""Failures of checks as workflow commands of GitHub: they show at their lines in a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from trainsleuth.finding import Finding
from trainsleuth.repository import Skipped, is_notebook
from trainsleuth.wording import one_line

_LEVEL = {"error": "error", "warning": "warning", "note": "notice"}


def workflow_commands(findings: Iterable[Finding], skipped: Iterable[Skipped] = ()) -> str:
    """One line for each failure: `::error file=train.py,line=7,title=double-softmax::message`; one for each file that was
    left out. The lines of a notebook are those of its JSON, which nobody reads: the message names cell and line.
    """
    left = (f"::notice file={_property(one.path)},title=left out::{_data(one_line(one.reason))}" for one in skipped)
    return "\n".join([*(_annotation(finding) for finding in findings if finding.outcome == "fail"), *left])


def _annotation(finding: Finding) -> str:
    given = {
        "file": finding.path or "",
        "line": "" if is_notebook(finding.path or "") else str(finding.line or ""),
        "title": finding.by.partition(":")[2],
    }
    properties = ",".join(f"{name}={_property(value)}" for name, value in given.items() if value)
    then = f" Next: {one_line(finding.next)}" if finding.next else ""
    return f"::{_LEVEL[finding.severity]} {properties}::{_data(one_line(finding.message) + then)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
