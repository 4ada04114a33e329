"""Fills the matrix: healthy programs x planted faults x probes. Writes results/PROGRAM.json and RESULTS.md.

    python evidence/faults/table.py [--program NAME ...] [--fault ID ...] [--healthy] [--missing] [--only-table] [--minutes N]

Cells that were not asked for keep what they have. One program at a time, one process at a time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Container, Iterator
from pathlib import Path

from cells import Cell, Runner, from_plain, to_plain
from matrix import HERE, Fault, Program, faults, programs
from results import page

RESULTS = HERE / "results"


def kept(program: Program) -> dict[str, Cell]:
    """What is known of this program, by fault; "" is the healthy one."""
    path = RESULTS / f"{program.name}.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {row["fault"]: from_plain(row) for row in known}


def keep(program: Program, cells: dict[str, Cell]) -> None:
    order = ["", *faults()]
    rows = [to_plain(cells[fault]) for fault in order if fault in cells and (not fault or fault in program.edits)]
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{program.name}.json").write_text(text, encoding="utf-8")


def asked(program: Program, given: argparse.Namespace, known: Container[str]) -> Iterator[Fault | None]:
    if given.healthy or not (given.fault or (given.missing and "" in known)):
        yield None
    for fault in faults().values():
        if given.missing and fault.id in known:
            continue
        if fault.id in program.edits and not given.healthy and (not given.fault or fault.id in given.fault):
            yield fault


def fill(program: Program, given: argparse.Namespace, runner: Runner, until: float) -> None:
    cells = kept(program)
    for fault in asked(program, given, set(cells)):
        if time.monotonic() > until:
            break
        cell = runner.cell(program, fault, cells.get(""))
        cells[cell.fault] = cell
        told = cell.verdict(fault.suspects) if fault else "ALARM" if cell.alarms else "silent"
        by = ", ".join(f"{alarm.by.partition(':')[2]}[{'/'.join(alarm.suspects)}]" for alarm in cell.alarms)
        print(f"{program.name:12} {told:8}{cell.cpu:6.1f}s {cell.fault or 'healthy':24} {by}", flush=True)
        keep(program, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", help="only these programs")
    parser.add_argument("--fault", action="append", help="only these faults")
    parser.add_argument("--healthy", action="store_true", help="only the programs without a fault")
    parser.add_argument("--missing", action="store_true", help="only cells that are not kept yet")
    parser.add_argument("--only-table", action="store_true", help="run nothing, write RESULTS.md from what is kept")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no further cell after this time")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    if not given.only_table:
        for program in programs():
            if not given.program or program.name in given.program:
                runner = Runner(program.preload)
                fill(program, given, runner, until)
                runner.close()
    Path(HERE, "RESULTS.md").write_text(page([(p, kept(p)) for p in programs()]), encoding="utf-8")


if __name__ == "__main__":
    main()
