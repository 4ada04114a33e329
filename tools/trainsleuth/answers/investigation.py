"""What an investigation by a model came to, as text and as JSON."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from trainsleuth.answers.answer import FAILED, FOUND, NOTHING_WRONG, Answer, Section
from trainsleuth.answers.findings import counted, sections
from trainsleuth.answers.hypotheses import hypotheses_section
from trainsleuth.answers.reports import NARROW_PROBE
from trainsleuth.wording import one_line, path_text, visible, wrapped

if TYPE_CHECKING:
    from trainsleuth.agent import Agreement
    from trainsleuth.agent.loop import Report


def investigation_answer(report: Report, agreement: Agreement, model: str, width: int | None = None) -> Answer:
    """The model's words first, then where the notes stand: what it says is a reading, what they hold was measured."""
    case = report.case
    told = [one for one in case.hypotheses if one.for_ or one.verdict != "open"]
    words = [visible(report.answer)] if report.answer else []
    tail = [f"stopped early: {report.ended}; start again to go on from the notes"] if report.ended else []
    tail += [f"{model}: {report.spent}", f"transcript: {path_text(str(report.transcript))}"]
    tail += [f"notes: {path_text(str(report.notes))}"]
    if report.diff is not None:
        diff = shlex.quote(str(report.diff))
        tail.append(f"proven change: {path_text(str(report.diff))} (to make it: git apply {diff})")
    return Answer(
        head=wrapped(f"{one_line(shlex.join(agreement.command))}: {counted(case.findings)}", "", width),
        sections=(
            Section("what the model says:", tuple(words)),
            *sections(case.findings, width, NARROW_PROBE)[:1],
            hypotheses_section(told, width),
        ),
        plain={
            "findings": [finding.to_dict() for finding in case.findings],
            "hypotheses": [one.to_dict() for one in case.hypotheses],
            "answer": report.answer,
            "ended": report.ended,
            "model": model,
            "spent": {**asdict(report.spent), "seconds": round(report.spent.seconds, 1)},
            "transcript": str(report.transcript),
            "notes": str(report.notes),
            "diff": None if report.diff is None else str(report.diff),
        },
        tail="\n".join(tail),
        code=_code(report),
    )


def _code(report: Report) -> int:
    if any(finding.is_alarm for finding in report.case.findings):
        return FOUND
    return FAILED if report.ended or not report.case.findings else NOTHING_WRONG
