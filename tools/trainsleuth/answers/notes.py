"""The notes as an answer: the newest findings, the state of the hypotheses, what could not be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainsleuth.answers.answer import Answer, Section
from trainsleuth.answers.findings import failure_text, line_text
from trainsleuth.answers.hypotheses import hypotheses_section
from trainsleuth.answers.reading import plain_progress, reading_section
from trainsleuth.finding import Finding, Outcome
from trainsleuth.hypothesis import reference
from trainsleuth.wording import one_line, path_text

if TYPE_CHECKING:
    from trainsleuth.notes import Recorded


_ORDER: tuple[Outcome, ...] = ("fail", "open", "pass", "skip")


def notes_answer(recorded: Recorded, path: Path, width: int | None = None) -> Answer:
    """What the notes at `path` hold: what failed, then the rest, each newest first."""
    newest = tuple(reversed(recorded.findings))
    found = tuple(_finding_text(one, width) for kind in _ORDER for one in newest if one.outcome == kind)
    ran = [run for run in recorded.runs if run.command]  # a remark is none
    runs = tuple(f"  {run.when}  {one_line(run.command, 200)}" for run in reversed(ran))
    damaged = tuple(f"  line {one.line}: {one_line(one.why, 200)}" for one in recorded.damaged)
    empty = "" if found or recorded.hypotheses or recorded.questions else "; nothing is in them yet"
    left_out = f"; the first {recorded.left_out} bytes were not read" if recorded.left_out else ""
    return Answer(
        head=f"notes in {path_text(str(path))}: {_counted(len(found), 'finding')}, {_counted(len(runs), 'run')}{empty}{left_out}",
        sections=(
            hypotheses_section(recorded.hypotheses, width),
            Section("findings, failures first, of each kind the newest first:", found, "the file itself"),
            reading_section(recorded.questions, width),
            Section("runs, newest first:", runs, "the file itself"),
            Section("entries that could not be read:", damaged, "the file itself"),
        ),
        plain={
            "notes": str(path),
            "findings": [{**one.to_dict(), "reference": reference(one)} for one in recorded.findings],
            "hypotheses": [one.to_dict() for one in recorded.hypotheses],
            "progress": plain_progress(recorded.questions),
            "questions": [one.to_dict() for one in recorded.questions],
            "runs": recorded.runs,
            "damaged": recorded.damaged,
            "left_out": recorded.left_out,
        },
    )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _finding_text(finding: Finding, width: int | None) -> str:
    if finding.outcome == "fail":
        told = replace(finding, grounds="")  # explain tells it; a case has many findings and an answer little room
        return f"  fail  {failure_text(told, width)}".replace("\n", "\n  ")
    return f"  {finding.outcome}  [{reference(finding)}]  {line_text(finding, width).lstrip()}"
