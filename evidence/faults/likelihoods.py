"""Counts from the kept cells for evidence/likelihoods.yaml: how often each probe named the cause that was planted.

    python evidence/faults/likelihoods.py [--write]

A cell counts for the first cause that its fault suspects, and for a probe only when its experiment was run; the probe
must name a cause that the fault accepts. A cause that is planted in more than two ways is left out: their mixture is ours, not
that of the field; so are causes in the data, and causes that the table does not expect of the probe. With --write the line `cells` of each test is written anew: {cause: [failed and named it, cells]}.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cells import Cell, probes
from matrix import HERE, Fault, faults, programs
from table import kept
from trainsleuth.likelihoods import table, test_id

LIKELIHOODS = HERE.parent / "likelihoods.yaml"
ENOUGH = 10  # cells, to be written down
MOST_WAYS = 2  # faults of one cause
Counts = dict[str, dict[str, tuple[int, int]]]


def rows() -> Iterator[tuple[Fault, Cell]]:
    for program in programs():
        for id, cell in kept(program).items():
            if id in program.edits and id in faults():
                yield faults()[id], cell


def counts() -> Counts:
    """{probe: {cause: (failed and named it, cells)}} for causes with enough cells and at least one seen."""
    found: dict[str, dict[str, list[int]]] = {}
    ways = Counter(fault.suspects[0] for fault in faults().values())
    for fault, cell in rows():
        cause = fault.suspects[0]
        if ways[cause] > MOST_WAYS or table().causes[cause].group == "data":
            continue
        for name, module in probes.all_probes().items():
            expected = (
                table().columns[test_id(f"probe:{name}")].fails if test_id(f"probe:{name}") in table().columns else {}
            )
            if module.EXPERIMENT not in cell.asked or cause not in expected:
                continue
            counted = found.setdefault(f"probe:{name}", {}).setdefault(cause, [0, 0])
            counted[0] += any(a.by == f"probe:{name}" and set(fault.suspects) & set(a.suspects) for a in cell.alarms)
            counted[1] += 1
    return {
        probe: {cause: (seen, of) for cause, (seen, of) in sorted(causes.items()) if of >= ENOUGH and seen}
        for probe, causes in found.items()
    }


def written(text: str, counted: Counts) -> str:
    """The file with the line `cells` of every test of a probe as counted now."""
    text = re.sub(r"\n    cells: \{[^}]*\}", "", text)
    for probe, causes in counted.items():
        start = text.find(f'- test: "{probe}"')
        if start < 0 or not causes:
            continue
        at = text.index("\n    fails:", start)
        told = ", ".join(f"{cause}: [{seen}, {of}]" for cause, (seen, of) in causes.items())
        text = f"{text[:at]}\n    cells: {{{told}}}{text[at:]}"
    return text


def main() -> None:
    counted = counts()
    for probe, causes in sorted(counted.items()):
        for cause, (seen, of) in causes.items():
            print(f"{probe:28}{cause:34}{seen:4} of {of}")
    if "--write" in sys.argv[1:]:
        path = Path(LIKELIHOODS)
        path.write_text(written(path.read_text(encoding="utf-8"), counted), encoding="utf-8")


if __name__ == "__main__":
    main()
