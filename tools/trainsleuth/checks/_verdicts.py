"""How a check says what it found: one finding for each site, with everything that is the same for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import get_args

from trainsleuth.finding import Confidence, Family, Finding, Link, Outcome, Severity

from ._record import Record, record


@dataclass(frozen=True)
class Verdicts:
    """`probe` is the question to the running program that confirms or refutes a failure; `look` is what to do
    where no probe can.

    `suspects`: ids of the hypotheses that a failure speaks for; `claims`: the lore behind it. `forms`: kinds of
    failure with a record of their own, each with what it is. `sure`: those ("" is the only one) whose fault follows
    from what is written; once seen right they accuse where the check was silent often enough (see `Record`).
    """

    id: str
    family: Family
    severity: Severity
    probe: str
    suspects: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    look: str = ""
    forms: Mapping[str, str] = field(default_factory=dict)
    sure: tuple[str, ...] = ()

    def records(self) -> Iterator[tuple[str, Record]]:
        """(what it is, how often it was right) of each form that accuses; "" where there is only one."""
        for form, what in (self.forms or {"": ""}).items() if self.severity != "note" else ():
            yield what, self.record(form)

    def record(self, form: str) -> Record:
        return record(self.id, form, form in self.sure)

    def fail(
        self,
        path: str,
        line: int,
        message: str,
        chain: tuple[Link, ...],
        confidence: Confidence = "high",
        severity: Severity | None = None,
        form: str = "",
    ) -> Finding:
        """`severity`: of this one failure, where it differs from the rest. A form that was not right often enough
        on code not seen before is a note.
        """
        meant = severity or self.severity
        accuses = meant != "note"
        measured = self.record(form)
        if accuses and self.forms and form not in self.forms:
            raise ValueError(f"{self.id} has no form {form!r}; there are {', '.join(self.forms)}")
        if accuses:
            confidence = max(confidence, measured.confidence, key=get_args(Confidence).index)  # the lesser
        return Finding(
            by=f"check:{self.id}",
            outcome="fail",
            message=message,
            severity=meant if measured.speaks else "note",
            confidence=confidence,
            family=self.family,
            path=path,
            line=line,
            chain=chain,
            next=self.look or f"trainsleuth probe --only {self.probe} -- <your command>",
            claims=self.claims,
            suspects=self.suspects,
            grounds=measured.words if accuses else "",
        )

    def passed(self, path: str, line: int, message: str) -> Finding:
        return self._other("pass", path, line, message)

    def open(self, path: str, line: int, message: str) -> Finding:
        """Looked at, and not decided; the message says why."""
        return self._other("open", path, line, message)

    def _other(self, outcome: Outcome, path: str, line: int, message: str) -> Finding:
        return Finding(f"check:{self.id}", outcome, message, family=self.family, path=path, line=line)
