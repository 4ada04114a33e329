"""The kept cells as one page: RESULTS.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from cells import Cell
from matrix import Fault, Program, faults

Known = Sequence[tuple[Program, dict[str, Cell]]]
SIGNS = {"seen": "●", "other": "○", "silent": "·", "crashed": "x"}


def page(known: Known) -> str:
    filled = [(program, cells) for program, cells in known if cells]
    return "\n\n".join(_parts(filled)) + "\n"


def _parts(known: Known) -> Iterator[str]:
    rows = [(p, f, cells[f.id]) for p, cells in known for f in faults().values() if f.id in p.edits and f.id in cells]
    visible = [row for row in rows if not row[0].why_invisible(row[1])]
    healthy = [(program, cells[""]) for program, cells in known if "" in cells]
    alarms = sum(bool(cell.alarms) for _, cell in healthy)
    cpu = sorted(cell.cpu for _, _, cell in rows)
    yield "# Faults planted into healthy programs"
    yield (
        "Written by `make faults`. Each cell is a healthy program with one fault, planted by an edit of its source, observed in "
        "one run, and asked the experiments of the fault when observing does not see it. CPU, "
        f"{median(cpu) if cpu else 0:.1f} s of CPU time per cell (median; largest {max(cpu, default=0):.0f} s)."
    )
    seen = sum(_verdict(row) == "seen" for row in visible)
    yield (
        f"- **False alarms**: {alarms} of {len(healthy)} healthy programs, under all experiments.\n"
        f"- **Seen**: {seen} of {len(visible)} cells in which a probe can see the fault in principle "
        f"({seen / max(1, len(visible)):.0%}): a failure at warning or above names the planted cause. In "
        f"{sum(_verdict(row) == 'other' for row in visible)} more only another cause is named.\n"
        f"- **Of all {len(rows)} cells**: {sum(_verdict(row) == 'seen' for row in rows)} seen.\n"
        f"- **By reading alone** (the checks, which run nothing): {sum(bool(row[2].checks) for row in rows)} of {len(rows)} cells raise "
        f"a report that the healthy program does not, {sum(bool(row[2].questions) and not row[2].checks for row in rows)} more a "
        "question (a note: its form has no record yet that lets it accuse)."
    )
    yield "## Programs\n\n" + "\n".join(_programs(known))
    yield (
        "## Faults x programs\n\n● seen, ○ another cause was named, · silent; in brackets where no probe can see it in principle, "
        "– where the fault means nothing.\n\n" + "\n".join(_table(known))
    )
    yield "## Faults by what saw them\n\n" + "\n".join(_by_fault(rows))
    missed = [row for row in visible if _verdict(row) != "seen"]
    yield "## Missed\n\n" + ("\n".join(_missed(missed)) or "None.")
    hidden = [row for row in rows if row[0].why_invisible(row[1])]
    yield "## Not visible in principle\n\n" + "\n".join(
        f"- {fault.id}, {program.name} ({_verdict((program, fault, cell))}): {program.why_invisible(fault)}"
        for program, fault, cell in hidden
    )


def _verdict(row: tuple[Program, Fault, Cell]) -> str:
    return row[2].verdict(row[1].suspects)


def _programs(known: Known) -> Iterator[str]:
    yield "| program | shape | healthy | seen of visible |\n|---|---|---|---|"
    for program, cells in known:
        rows = [(program, f, cells[f.id]) for f in faults().values() if f.id in program.edits and f.id in cells]
        visible = [row for row in rows if not program.why_invisible(row[1])]
        alarm = "not run" if "" not in cells else "ALARM" if cells[""].alarms else "silent"
        yield f"| {program.name} | {program.shape} | {alarm} | {sum(_verdict(r) == 'seen' for r in visible)} of {len(visible)} |"


def _table(known: Known) -> Iterator[str]:
    yield "| fault | " + " | ".join(program.name for program, _ in known) + " |"
    yield "|---|" + "---|" * len(known)
    for fault in faults().values():
        yield f"| {fault.id} | " + " | ".join(_sign(program, fault, cells) for program, cells in known) + " |"


def _sign(program: Program, fault: Fault, cells: dict[str, Cell]) -> str:
    if program.why_absent(fault) is not None:
        return "–"
    if fault.id not in cells:
        return "?"
    sign = SIGNS[cells[fault.id].verdict(fault.suspects)]
    return f"({sign})" if program.why_invisible(fault) else sign


def _by_fault(rows: Sequence[tuple[Program, Fault, Cell]]) -> Iterator[str]:
    yield "| fault | what is wrong | seen | by probes | by checks | asked by checks |\n|---|---|---|---|---|---|"
    for fault in faults().values():
        cells = [(p, f, cell) for p, f, cell in rows if f is fault]
        by = _counted(
            {a.by.partition(":")[2] for a in cell.alarms if set(a.suspects) & set(fault.suspects)}
            for _, _, cell in cells
        )
        checks = _counted(set(cell.checks) for _, _, cell in cells)
        questions = _counted(set(cell.questions) for _, _, cell in cells)
        count = sum(_verdict(row) == "seen" for row in cells)
        yield f"| {fault.id} | {fault.what} | {count} of {len(cells)} | {by} | {checks} | {questions} |"


def _counted(sets: Iterator[set[str]]) -> str:
    counts: dict[str, int] = {}
    for names in sets:
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _missed(rows: Sequence[tuple[Program, Fault, Cell]]) -> Iterator[str]:
    for program, fault, cell in rows:
        named = ", ".join(dict.fromkeys(alarm.by for alarm in cell.alarms))
        reason = program.missed.get(fault.id, "not looked into")
        yield f"- {fault.id}, {program.name} ({named or 'silent'}): {reason}"
