"""How far a rehearsal came, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainsleuth.course import Course


def course_lines(course: Course) -> Iterator[str]:
    """How far it came, what it did not come to, and what a whole epoch would take."""
    if not course.steps:
        return
    came = [
        _number(course.epochs, "epoch"),
        _number(course.evaluations, "evaluation"),
        _number(course.saves, "call") + " of torch.save" if course.saves else "",
    ]
    cut = f"; epochs were cut short from step {course.cut_from} on" if course.cut_from is not None else ""
    end = "; it came to its own end" if course.ended_by_itself else ""
    if course.was_begun_again:
        yield "its epochs cut short, it stopped (below); this is what it did with whole ones"
    yield f"{course.steps} steps in {course.seconds:.1f} s, {', '.join(one for one in came if one) or 'no epoch ended'}{cut}{end}"
    named = {
        "evaluation": course.evaluations,
        "checkpoint by torch.save": course.saves,
        "second epoch": course.epochs > 1 or not course.has_epochs,
    }
    if not course.ended_by_itself and (missed := [name for name, met in named.items() if not met]):
        yield f"not met, so not examined: {', '.join(missed)}"
    if course.step_seconds and course.batches:
        whole = course.step_seconds * course.batches
        yield (
            f"a step takes {1000 * course.step_seconds:.1f} ms under the probes, {course.batches} batches of a whole epoch "
            f"{whole:.3g} s at one step each, without what comes between epochs"
        )


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}" if count else ""
