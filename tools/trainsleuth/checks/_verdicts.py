"""How a check says what it found: one finding for each site, with everything that is the same for all of them."""

from __future__ import annotations

from dataclasses import dataclass

from trainsleuth.finding import Confidence, Family, Finding, Link, Outcome, Severity


@dataclass(frozen=True)
class Verdicts:
    """`probe` is the question to the running program that confirms or refutes a failure; `look` is what to do
    where no probe can.

    `suspects`: ids of the hypotheses that a failure speaks for; `claims`: the lore behind it.
    """

    id: str
    family: Family
    severity: Severity
    probe: str
    suspects: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    look: str = ""

    def fail(
        self,
        path: str,
        line: int,
        message: str,
        chain: tuple[Link, ...],
        confidence: Confidence = "high",
        severity: Severity | None = None,
    ) -> Finding:
        """`severity`: of this one failure, where it differs from the rest."""
        return Finding(
            by=f"check:{self.id}",
            outcome="fail",
            message=message,
            severity=severity or self.severity,
            confidence=confidence,
            family=self.family,
            path=path,
            line=line,
            chain=chain,
            next=self.look or f"trainsleuth probe --only {self.probe} -- <your command>",
            claims=self.claims,
            suspects=self.suspects,
        )

    def passed(self, path: str, line: int, message: str) -> Finding:
        return self._other("pass", path, line, message)

    def open(self, path: str, line: int, message: str) -> Finding:
        """Looked at, and not decided; the message says why."""
        return self._other("open", path, line, message)

    def _other(self, outcome: Outcome, path: str, line: int, message: str) -> Finding:
        return Finding(f"check:{self.id}", outcome, message, family=self.family, path=path, line=line)
