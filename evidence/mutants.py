"""Measure what the checks find: injected faults, and silence on the healthy originals.

    python evidence/mutants.py                        the programs of tests/checks/cases
    python evidence/mutants.py --code CHECKOUTS       public code: a folder with one checkout for each repository

The programs were written together with the checks and are tests as well, so their recall says little more than
that the tests pass; their worth is the silence on the originals, with all checks at once. The faults put into
public code (mutations.yaml) are simple changes of text at places that no check was asked about; each was judged
to be a fault by the pattern alone. Prints a table in markdown.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import yaml
from trainsleuth.checks import check_ids, run_checks
from trainsleuth.checks.docs import files_of
from trainsleuth.facts import is_test
from trainsleuth.repository import Repository

HERE = Path(__file__).parent
MAX_FILES = 60  # larger repositories would take minutes for each mutant
PER_REPOSITORY, PER_MUTATION = 3, 15


class Mutation(NamedTuple):
    """Text of one line that becomes a fault. `needs`: what the repository must hold for it to be one."""

    check: str
    pattern: re.Pattern[str]
    becomes: str
    needs: re.Pattern[str]


class Mutant(NamedTuple):
    mutation: Mutation
    repository: str
    path: str
    line: int
    text: str


def failures(root: Path, only: list[str] | None = None) -> list[tuple[str, str]]:
    """(check, severity) of each failure."""
    report = run_checks(Repository(root), only=only)
    return [(f.by.removeprefix("check:"), f.severity) for f in report.findings if f.outcome == "fail"]


def is_alarm(failure: tuple[str, str]) -> bool:
    """At warning or above; a note asks and does not accuse."""
    return failure[1] != "note"


def in_folder(files: dict[str, str], only: list[str] | None = None) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        for name, source in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return failures(Path(folder), only)


def programs(only: list[str]) -> None:
    sys.path.insert(0, str(HERE.parent))
    print(
        "| check | faults | found | as an alarm | healthy | own alarms | alarms of any check |\n|---|---|---|---|---|---|---|"
    )
    totals = [0] * 6
    for check in (one for one in check_ids() if not only or one in only):
        cases = import_module(f"tests.checks.cases.{check.replace('-', '_')}")
        found = [in_folder(dict(files_of(source)), [check]) for source in cases.FAILS.values()]
        told = [sum(map(bool, found)), sum(any(is_alarm(one) for one in said) for said in found)]
        silent = [in_folder(dict(files_of(source))) for source in cases.SILENT.values()]
        own = sum(any(by == check for by, _ in one) for one in silent)
        any_alarm = sum(any(is_alarm(one) for one in said) for said in silent)
        row = [len(cases.FAILS), *told, len(silent), own, any_alarm]
        totals = [total + one for total, one in zip(totals, row, strict=True)]
        print(f"| {check} | {' | '.join(map(str, row))} |", flush=True)
    print(f"| **all** | {' | '.join(map(str, totals))} |")


def mutations() -> list[Mutation]:
    rows = yaml.safe_load((HERE / "mutations.yaml").read_text(encoding="utf-8"))
    return [
        Mutation(row["check"], re.compile(row["line"]), row["becomes"], re.compile(row.get("needs", "")))
        for row in rows
    ]


def sources(checkout: Path) -> dict[str, str]:
    """Python files of a small repository; none of a large one."""
    paths = [path for path in sorted(checkout.rglob("*.py")) if path.is_file()]
    if len(paths) > MAX_FILES:
        return {}
    return {str(path.relative_to(checkout)): path.read_text(encoding="utf-8", errors="replace") for path in paths}


def mutants(mutation: Mutation, repositories: dict[str, dict[str, str]]) -> Iterator[Mutant]:
    """At most PER_REPOSITORY of each repository, spread over its files."""
    for name, files in repositories.items():
        if not mutation.needs.search("\n".join(files.values())):
            continue
        places = [
            Mutant(mutation, name, path, number, mutation.pattern.sub(mutation.becomes, line))
            for path, source in files.items()
            if not is_test(path)
            for number, line in enumerate(source.split("\n"))
            if not line.lstrip().startswith("#") and mutation.pattern.search(line)
        ]
        yield from places[:: max(1, len(places) // PER_REPOSITORY)][:PER_REPOSITORY]


def counted(files: dict[str, str], check: str) -> tuple[int, int]:
    """Failures of a check, and those of them that are alarms."""
    said = in_folder(files, [check])
    return len(said), sum(map(is_alarm, said))


def is_found(mutant: Mutant, files: dict[str, str], before: tuple[int, int]) -> tuple[bool, bool]:
    """Does the check say more of the mutant than before, and does it as an alarm?"""
    lines = files[mutant.path].split("\n")
    lines[mutant.line] = mutant.text
    now = counted({**files, mutant.path: "\n".join(lines)}, mutant.mutation.check)
    return now[0] > before[0], now[1] > before[1]


def public_code(checkouts: Path, only: list[str], misses: bool) -> None:
    repositories = {path.name: sources(path) for path in sorted(checkouts.iterdir()) if path.is_dir()}
    repositories = {name: files for name, files in repositories.items() if files}
    print("| check | fault | mutants | found | as an alarm |\n|---|---|---|---|---|")
    for mutation in (one for one in mutations() if not only or one.check in only):
        chosen = list(mutants(mutation, repositories))
        chosen = chosen[:: max(1, len(chosen) // PER_MUTATION)][:PER_MUTATION]
        known: dict[str, tuple[int, int]] = {}
        found = alarms = 0
        for one in chosen:
            files = repositories[one.repository]
            if one.repository not in known:
                known[one.repository] = counted(files, mutation.check)
            hit, alarm = is_found(one, files, known[one.repository])
            found, alarms = found + hit, alarms + alarm
            if misses and not hit:
                print(f"missed {one.repository}/{one.path}:{one.line + 1} {one.text.strip()[:100]}", file=sys.stderr)
        shown = mutation.pattern.pattern.replace("|", "\\|")
        print(f"| {mutation.check} | `{shown}` | {len(chosen)} | {found} | {alarms} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="CHECK", help="only these")
    parser.add_argument("--misses", action="store_true", help="with --code: name what was not found")
    chosen = parser.parse_args()
    if chosen.code is None:
        programs(chosen.only)
    else:
        public_code(chosen.code, chosen.only, chosen.misses)


if __name__ == "__main__":
    main()
