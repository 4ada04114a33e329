"""Trying a change: in a view of the folder, proven by the probe that failed and by one that passed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainsleuth import ledger
from trainsleuth.finding import Finding
from trainsleuth.hypothesis import Hypothesis, reference
from trainsleuth.ledger import LedgerError
from trainsleuth.likelihoods import test_id
from trainsleuth.notes import Notes
from trainsleuth.probing import ProbeReport, Request, run_probes
from trainsleuth.repository import Repository

from .agreement import Agreement
from .edits import Edit, edited
from .gate import Standing, admitted, standing
from .tool import RefusedError


@dataclass(frozen=True)
class Proof:
    """What the failing probe and the control said before and after the edits."""

    hypothesis: Hypothesis
    before: Finding
    after: Finding | None
    control: str
    control_holds: bool
    diff: str

    @property
    def flipped(self) -> bool:
        return self.after is not None and self.after.outcome == "pass" and self.control_holds


@dataclass
class Bench:
    """The changes of one investigation: each is tried together with those that were proven before it."""

    agreement: Agreement
    notes: Notes
    symptom: str
    folder: Path  # where the diff is kept, outside of the repository
    proven: list[Edit] = field(default_factory=list)
    diff: Path | None = None

    def attempt(self, cause: str, edits: Sequence[Edit], cancelled: Callable[[], bool]) -> Proof:
        """Raises RefusedError when the gate is closed, an edit does not fit, or nothing could flip."""
        case = standing(self.notes, self.symptom)
        hypothesis = admitted(case, cause)
        before, control = _failing(case, cause), _control(case)
        whole = [*self.proven, *edits]
        made = edited(Repository(self.agreement.root), whole)
        report = run_probes(self._request(made.after, before, control, cancelled))
        after = _said_after(report, before, cause)
        holds = not control or _said(report, control) == "pass"
        proof = Proof(hypothesis, before, after, control, holds, made.diff)
        if proof.flipped:
            self.proven = whole
            self._record(proof)
        return proof

    def _request(
        self, texts: Mapping[str, str], before: Finding, control: str, cancelled: Callable[[], bool]
    ) -> Request:
        agreed = self.agreement
        return Request(
            agreed.command,
            only=frozenset(by.removeprefix("probe:") for by in (before.by, control) if by),
            seconds=agreed.seconds,
            root=agreed.root,
            cwd=agreed.root / agreed.cwd,
            python=agreed.python or None,
            contain="auto" if agreed.contain == "none" else agreed.contain,  # the user's files are not ours to change
            instead=texts,
            cancelled=cancelled,
        )

    def _record(self, proof: Proof) -> None:
        assert proof.after is not None
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.diff = self.folder / "change.diff"
        self.diff.write_text(proof.diff, encoding="utf-8", errors="surrogateescape", newline="")
        shown = shlex.join(self.agreement.command)
        said = (
            f"With the change in {self.diff}, tried beside the user's files, {proof.before.by} went from fail "
            f"[{reference(proof.before)}] to pass [{reference(proof.after)}]: {proof.after.message}"
        )
        control = f" {proof.control} still passes." if proof.control else " No other probe had passed before."
        note = Finding("reader", "pass", said.rstrip(".") + "." + control, family=proof.hypothesis.family)
        self.notes.add_findings([note], command=shown)
        try:
            confirmed = ledger.confirm(proof.hypothesis, proof.before, proof.after)
        except LedgerError:  # the table knows no probe for this cause: the note above is the proof
            confirmed = replace(proof.hypothesis, verdict="confirmed")
        self.notes.add_hypotheses([confirmed], command=shown)


def _failing(case: Standing, cause: str) -> Finding:
    """The surest probe that speaks for the cause: what a change for it must flip."""
    failures = [f for f in case.findings if f.outcome == "fail" and cause in f.suspects]
    probes = [f for f in failures if f.by.startswith("probe:") and f.by != "probe:run"]
    if not probes:
        where = f" (only {failures[0].by} does, at {failures[0].place})" if failures else ""
        raise RefusedError(f"no probe of the running program fails for {cause}{where}: run one that can, then change")
    return min(probes, key=lambda f: ("error", "warning", "note").index(f.severity))


def _control(case: Standing) -> str:
    """A probe that passes now and must still pass: a change that breaks the training would flip a probe too."""
    failing = {f.by for f in case.findings if f.outcome == "fail"}
    passing = [f.by for f in case.findings if f.outcome == "pass" and f.by.startswith("probe:") and f.by not in failing]
    preferred = ("probe:step_trace", "probe:parameter_table")
    return next((by for by in preferred if by in passing), passing[0] if passing else "")


def _said(report: ProbeReport, by: str) -> str:
    outcomes = {f.outcome for f in report.findings if test_id(f.by) == test_id(by)}
    return next((word for word in ("fail", "open", "pass") if word in outcomes), "")


def _said_after(report: ProbeReport, before: Finding, cause: str) -> Finding | None:
    """What the probe says now: its failure for this cause if there is one, else its pass, else what it left open."""
    if not report.trained:
        return next((f for f in report.findings if f.by == "probe:run"), None)
    own = [f for f in report.findings if test_id(f.by) == test_id(before.by)]
    still = [f for f in own if f.outcome == "fail" and (cause in f.suspects or not f.suspects)]
    rest = sorted(own, key=lambda f: ("pass", "open", "skip", "fail").index(f.outcome))
    return next(iter([*still, *rest]), None)
