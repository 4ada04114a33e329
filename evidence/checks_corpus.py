"""What all checks report at warning or above on checkouts, next to what a reader said of each report.

    python evidence/checks_corpus.py CHECKOUTS [CHECKOUTS ...] [--only NAME]

CHECKOUTS are folders that hold checkouts of the repositories of check_reports.yaml (the unopened halves) under their
names, at the commits that stand there; one that is not there is left out, and said so. Nothing is fetched.
Exit code 1: a report without a verdict. Reports that no longer come are listed; a cured one should be among them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from first_sight import halves
from trainsleuth.checks import run_checks
from trainsleuth.content import read_evidence
from trainsleuth.repository import Repository

Key = tuple[str, str]  # check, place


def recorded() -> list[dict[str, object]]:
    """The repositories of the unopened halves, each with its `reports`."""
    return [row for half in halves(read_evidence("check_reports.yaml")) for row in half["of"]]


def checkout(name: str, folders: list[Path]) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_dir()), None)


def reports(root: Path, sites: Counter[str]) -> Iterator[Key]:
    """Check and place of each report at warning or above; adds to `sites` what each check examined."""
    report = run_checks(Repository(root))
    sites.update({name: counts["sites"] for name, counts in report.examined.items()})
    for finding in report.findings:
        if finding.outcome == "fail" and finding.severity != "note":
            yield finding.by.removeprefix("check:"), f"{finding.path}:{finding.line}"


def verdicts(row: dict[str, object]) -> dict[Key, str]:
    listed = row.get("reports", [])
    assert isinstance(listed, list)
    return {(one["check"], one["place"]): one["verdict"] for one in listed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--only", help="one repository, by the last part of its name")
    asked = parser.parse_args()
    sites: Counter[str] = Counter()
    counted: Counter[Key] = Counter()
    for row in recorded():
        name = str(row["repository"]).rpartition("/")[2]
        root = checkout(name, asked.checkouts)
        if root is None or (asked.only or name) != name:
            print(f"{name}: {'no checkout, ' if root is None else ''}left out")
            continue
        said = verdicts(row)
        found = set(reports(root / str(row.get("scope", ".")), sites))
        counted.update((check, said.get((check, place), "not read")) for check, place in found)
        for check, place in sorted(found - said.keys()):
            print(f"{name}: not read yet: {check} {place}")
        for check, place in sorted(said.keys() - found):
            print(f"{name}: no longer reported: {check} {place} ({said[check, place]})")
    for check, number in sorted(sites.items()):
        told = ", ".join(f"{word} {counted[check, word]}" for word in ("true", "false", "unsure", "not read"))
        print(f"{check}: {number} sites examined; reported: {told}")
    return 1 if any(word == "not read" for _, word in counted) else 0


if __name__ == "__main__":
    sys.exit(main())
