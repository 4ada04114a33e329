"""The gate in front of every change: no tuning before a test separates the two likeliest causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainsleuth import ledger
from trainsleuth.finding import Finding
from trainsleuth.hypothesis import Hypothesis, odds
from trainsleuth.notes import Notes

from .tool import RefusedError

APART = 3.0  # the odds of the likeliest cause over those of the next, from which they count as separated


@dataclass(frozen=True)
class Standing:
    """Where a case stands by its notes: what each test said last, and what that makes of each cause."""

    findings: tuple[Finding, ...]
    hypotheses: tuple[Hypothesis, ...]

    @property
    def open_causes(self) -> Sequence[Hypothesis]:
        """Those that are neither refuted nor confirmed, likeliest first."""
        return [one for one in self.hypotheses if one.verdict in ("open", "supported")]


def standing(notes: Notes, symptom: str = "") -> Standing:
    """A cause that a change confirmed stays confirmed. Raises NotesError when the notes cannot be read."""
    findings = tuple(finding for said in notes.last_said().values() for finding in said)
    confirmed = {one.id: one for one in notes.read().hypotheses if one.verdict == "confirmed"}
    updated = (confirmed.get(one.id, one) for one in ledger.update(findings, symptom=symptom))
    return Standing(findings, tuple(updated))


def admitted(case: Standing, cause: str) -> Hypothesis:
    """The hypothesis `cause`, when a change may be tried for it. Raises RefusedError with what to test first."""
    known = {one.id: one for one in case.hypotheses}
    if cause not in known:
        raise RefusedError(f"there is no hypothesis {cause!r}; there are {', '.join(known)}")
    asked, ranked = known[cause], case.open_causes
    if asked.verdict in ("confirmed", "refuted"):
        raise RefusedError(f"{cause} is {asked.verdict} already; a change for it would show nothing")
    if not asked.for_:
        raise RefusedError(f"no finding speaks for {cause} yet, so nothing could flip. {_next_test(case)}")
    lead = ranked[0]
    if lead.id != cause:
        raise RefusedError(f"{lead.id} is likelier than {cause}: test or mend that first. {_next_test(case)}")
    if len(ranked) > 1 and odds(lead.credence.middle) < APART * odds(ranked[1].credence.middle):
        raise RefusedError(
            f"no test has separated {lead.id} ({lead.credence}) from {ranked[1].id} ({ranked[1].credence}): "
            f"no change before one does. {_next_test(case)}"
        )
    return asked


def _next_test(case: Standing) -> str:
    done = {finding.by for finding in case.findings}
    suggested = ledger.suggest(case.hypotheses, done)
    if not suggested:
        return "No test is left that would tell more; read the code at the places named."
    best = suggested[0]
    return f"The most telling next test is {best.test} (about {best.seconds:.0f} s): {best.why}"
