"""A reading as an answer: progress, then each pass with its questions, answered ones ticked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trainsleuth.answers.answer import FAILED, NOTHING_WRONG, Answer, Section
from trainsleuth.question import Question
from trainsleuth.wording import one_line, path_text, wrapped

if TYPE_CHECKING:
    from trainsleuth.reading import Reading


def reading_answer(reading: Reading, passes: Mapping[int, str], width: int | None = None) -> Answer:
    """Every question by pass. The exit code says when a run was asked for and showed no training step."""
    seen = reading.observation
    nothing = "" if seen is None or seen.trained else f"; the run showed no training step: {one_line(seen.why, 300)}"
    news = f"; {len(reading.news)} are new or changed" if reading.news else ""
    return Answer(
        head=wrapped(f"{progress(reading.questions)}{news}{nothing}", "", width),
        sections=tuple(_sections(reading.questions, passes, width)),
        plain={
            "notes": str(reading.notes),
            "progress": plain_progress(reading.questions),
            "news": reading.news,
            "questions": [one.to_dict() for one in reading.questions],
            "observed": None if seen is None else seen.to_dict(),
        },
        tail=f"notes: {path_text(str(reading.notes))}",
        code=FAILED if nothing else NOTHING_WRONG,
    )


def progress(questions: Sequence[Question]) -> str:
    """How many are answered, in words."""
    return f"reading: {sum(one.is_answered for one in questions)} of {len(questions)} questions answered"


def reading_section(questions: Sequence[Question], width: int | None = None) -> Section:
    """The questions of the notes, the open ones first: what is left to do."""
    ordered = sorted(questions, key=lambda one: one.is_answered)
    return Section(f"{progress(questions)}:" if questions else "", tuple(_line(one, width) for one in ordered), "read")


def _sections(questions: Sequence[Question], passes: Mapping[int, str], width: int | None) -> Iterator[Section]:
    for stage, name in passes.items():
        asked = [one for one in questions if one.stage == stage]
        done = sum(one.is_answered for one in asked)
        title = f"pass {stage}, {name}, {done} of {len(asked)}:"
        yield Section(title, tuple(_line(one, width) for one in asked), "the notes")


def _line(one: Question, width: int | None) -> str:
    box = "[x]" if one.is_answered else "[ ]"
    lines = [wrapped(f"{box} {one_line(one.id)}: {one_line(one.text)}", "  ", width, "    ")]
    if one.is_answered:
        places = " ".join(path_text(place) for place in one.places)
        lines.append(wrapped(f"{places}  {one_line(one.answer, 400)} ({one_line(one.by)})".strip(), "      ", width))
    elif one.test:
        lines.append(wrapped(f"to answer it: {one_line(one.test)}", "      ", width))
    return "\n".join(lines)


def plain_progress(questions: Sequence[Question]) -> dict[str, Any]:
    """The same as data."""
    return {"answered": sum(one.is_answered for one in questions), "total": len(questions)}
