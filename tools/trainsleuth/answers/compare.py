"""What two runs have in common, and where they part."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from trainsleuth.answers.answer import FAILED, FOUND, NOTHING_WRONG, Answer
from trainsleuth.answers.findings import sections
from trainsleuth.answers.reports import NARROW_PROBE
from trainsleuth.wording import one_line, wrapped

if TYPE_CHECKING:
    from trainsleuth.comparing import Comparison
    from trainsleuth.probing import Request


def compare_answer(found: Comparison, one: Request, other: Request, width: int | None = None) -> Answer:
    """The verdict, then how the runs ended where that matters."""
    verdict = found.findings[0]
    words = {"fail": "they part", "pass": "they do the same", "open": "nothing was compared"}[verdict.outcome]
    where = f" in {other.cwd}" if other.cwd != one.cwd else ""
    head = f"{one_line(shlex.join(one.command))} and {one_line(shlex.join(other.command))}{where}: {words}"
    return Answer(
        head=wrapped(head, "", width),
        sections=sections(found.findings, width, NARROW_PROBE),
        plain={
            "findings": [finding.to_dict() for finding in found.findings],
            "comparison": {name: value for name, value in asdict(found).items() if name not in ("findings", "ran")},
            "ran": found.ran,
        },
        code={"fail": FOUND, "pass": NOTHING_WRONG, "open": FAILED}[verdict.outcome],
    )
