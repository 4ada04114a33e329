"""Failures of checks as SARIF 2.1.0, for code scanning and editors.

Passes are left out: readers that do not know SARIF's `kind` would show them as alarms.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from trainsleuth import __version__
from trainsleuth.finding import Finding
from trainsleuth.hypothesis import reference
from trainsleuth.wording import one_line, strict

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RANK = {"high": 90.0, "medium": 60.0, "low": 30.0}  # SARIF: 0 to 100, for sorting


def sarif(findings: Iterable[Finding], unresolved: Iterable[str], explained: Callable[[str], str]) -> str:
    """One run with a result for each failure, and a notification for what stays open.

    `explained` gives the documentation of a check by its id.
    """
    failures = [finding for finding in findings if finding.outcome == "fail"]
    ids = list(dict.fromkeys(finding.by.partition(":")[2] for finding in failures))
    rules = [_rule(id, explained(id)) for id in ids]
    notifications = [{"level": "note", "message": {"text": one_line(text)}} for text in unresolved]
    run = {
        "tool": {"driver": {"name": "trainsleuth", "version": __version__, "rules": rules}},
        "results": [_result(finding, ids) for finding in failures],
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps(strict({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}), indent=2, allow_nan=False)


def _rule(id: str, text: str) -> dict[str, Any]:
    title, _, rest = text.partition("\n")
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
    region = {"region": {"startLine": line}} if line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}, **region}}
