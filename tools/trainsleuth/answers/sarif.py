"""Failures of checks as SARIF 2.1.0, for code scanning and editors.

Passes are left out: readers that do not know SARIF's `kind` would show them as alarms.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from trainsleuth import __version__
from trainsleuth.accepted import ABOUT_COMMENTS, Accepted, Review
from trainsleuth.checks import check_ids, explain
from trainsleuth.finding import Finding
from trainsleuth.hypothesis import reference
from trainsleuth.repository import is_notebook
from trainsleuth.wording import one_line, strict

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RANK = {"high": 90.0, "medium": 60.0, "low": 30.0}  # SARIF: 0 to 100, for sorting


def sarif(review: Review, unresolved: Iterable[str]) -> str:
    """One run with a result for each failure, accepted ones marked as such, and a notification for what stays open."""
    failures = [finding for finding in review.report.findings if finding.outcome == "fail"]
    every = [*failures, *(one.finding for one in review.accepted)]
    ids = list(dict.fromkeys(finding.by.partition(":")[2] for finding in every))
    notifications: list[dict[str, Any]] = [
        {"level": "note", "message": {"text": one_line(text)}} for text in unresolved
    ]
    for one in review.report.skipped:
        said = f"{one_line(one.path)}: {one_line(one.reason)}"
        notifications.append({"level": "warning", "message": {"text": said}, "locations": [_location(one.path, None)]})
    run = {
        "tool": {"driver": {"name": "trainsleuth", "version": __version__, "rules": [_rule(id) for id in ids]}},
        "results": [
            *(_result(finding, ids) for finding in failures),
            *({**_result(one.finding, ids), "suppressions": [_suppression(one)]} for one in review.accepted),
        ],
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps(strict({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}), indent=2, allow_nan=False)


def _suppression(accepted: Accepted) -> dict[str, str]:
    kind = "inSource" if accepted.how == "comment" else "external"
    return {"kind": kind, "justification": one_line(accepted.reason)}


def _rule(id: str) -> dict[str, Any]:
    title, _, rest = (explain(id).text if id in check_ids() else ABOUT_COMMENTS).partition("\n")
    return {
        "id": id,
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": rest.strip() or title},
    }


def _result(finding: Finding, ids: list[str]) -> dict[str, Any]:
    id = finding.by.partition(":")[2]
    then = f" Next: {one_line(finding.next)}" if finding.next else ""
    result: dict[str, Any] = {
        "ruleId": id,
        "ruleIndex": ids.index(id),
        "level": finding.severity,
        "rank": _RANK[finding.confidence],
        "message": {"text": one_line(finding.message) + then},
        "partialFingerprints": {"trainsleuth/v1": reference(finding)},
        "properties": {"confidence": finding.confidence, "family": finding.family, "measured": finding.measured},
    }
    if finding.path is not None:
        result["locations"] = [_location(finding.path, finding.line)]
    if finding.chain:
        result["relatedLocations"] = [
            {"id": number, **_location(link.path, link.line), "message": {"text": one_line(link.why)}}
            for number, link in enumerate(finding.chain)
        ]
    return result


def _location(path: str, line: int | None) -> dict[str, Any]:
    uri = quote(path.encode("utf-8", "surrogateescape"))
    region = (
        {"region": {"startLine": line}} if line and not is_notebook(path) else {}
    )  # its lines are those of its JSON
    return {"physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}, **region}}
