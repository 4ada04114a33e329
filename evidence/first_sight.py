"""How often each form of a check was right on code that it had not been tuned on: the figures that ship with the checks.

    python evidence/first_sight.py     check_reports.yaml -> tools/trainsleuth/checks/first_sight.json

A repository counts once for each form, by all reports of it there, and by its notes where they were read (`notes`): a
form that asks earns its voice by what it asked rightly. Left out are reports whose form was made a note
since (`noted`): they say nothing of what still accuses; and notes that say themselves why they do not count (`weighed`,
known from the thirty-seventh half on): nothing comes to the place, the program stops before.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trainsleuth.content import read_evidence

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "tools" / "trainsleuth" / "checks" / "first_sight.json"


def halves(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """The sets of repositories that nothing was tuned on, in the order in which they were searched."""
    return [half for name, half in recorded.items() if name.endswith("unopened")]


def figures(recorded: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """{check: {"sites": number, "reports": {form: {right, wrong, cured, unsure: repositories}}}}"""
    sites: Counter[str] = Counter()
    for half in halves(recorded):
        sites.update(half["sites"])
    said: defaultdict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for repository, report in _reports(recorded):
        if not (report.get("noted") or report.get("weighed")):
            said[report["check"], report.get("form", ""), repository].append(report)
    found: dict[str, dict[str, Any]] = {check: {"sites": number, "reports": {}} for check, number in sites.items()}
    for (check, form, _), reports in said.items():
        counted = found.setdefault(check, {"sites": 0, "reports": {}})["reports"]
        counted[form] = dict(Counter(counted.get(form, {})) + Counter(_judged(reports)))
    return {check: found[check] for check in sorted(found)}


def _reports(recorded: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(repository, report) of each one that was judged at first sight."""
    rows = [row for half in halves(recorded) for row in half["of"]]
    rows += [row for batch in recorded["third_tuning"]["batches"] for row in batch["reported"]]
    for row in rows:
        for report in [*row["reports"], *row.get("notes", ())]:
            yield row["repository"], report


def _judged(reports: Iterable[dict[str, Any]]) -> Iterator[str]:
    """What one repository counts as."""
    verdicts = {one["verdict"] for one in reports}
    if "false" in verdicts:
        yield "wrong"
        if all(one.get("cured") for one in reports if one["verdict"] == "false"):
            yield "cured"
    else:
        yield "right" if verdicts == {"true"} else "unsure"


def shipped(recorded: dict[str, Any]) -> str:
    return json.dumps(figures(recorded), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(shipped(read_evidence("check_reports.yaml")), encoding="utf-8")
