"""Entries of the notes as markdown: a part for people, and one comment that is read back."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone

from trainsleuth.finding import Finding, Number
from trainsleuth.hypothesis import Hypothesis, reference
from trainsleuth.notes.entries import Run
from trainsleuth.notes.escape import code, comment, plain
from trainsleuth.question import Question

TITLE = "# trainsleuth notes\n\nWhat was looked at, what was found, what is still open. \
Write between the entries as you like: trainsleuth only adds at the end.\n"

SAID = 300  # characters of the program's last words


def stamp(when: datetime | None) -> str:
    """UTC to the second, as in 2026-11-21T14:05:33Z."""
    moment = when or datetime.now(timezone.utc)
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def run_text(run: Run) -> str:
    """The heading of a section."""
    about = f" · {code(run.command)}" if run.command else ""
    silent = f"Tests with nothing to tell: {len(run.silent)}.\n\n" if run.silent else ""
    again = f"Seen again, unchanged: {', '.join(run.again)}.\n\n" if run.again else ""
    return f"\n## {run.when}{about}\n\n{comment('run', asdict(run))}\n\n{silent}{again}"


def finding_text(finding: Finding) -> str:
    """One bullet for a finding, with what backs it."""
    words = f"{finding.by}, {finding.severity}, confidence {finding.confidence}"
    place = f" {code(finding.place)}" if finding.place else ""
    first, *rest = finding.message.splitlines() or [""]
    lines = [f"- **{plain(finding.outcome)}**{place} {plain(first)} ({plain(words)}; {reference(finding)})"]
    lines += [f"  > {plain(line)}" for line in rest]
    lines += [f"  - via {code(f'{link.path}:{link.line}')} {plain(link.why)}" for link in finding.chain]
    if finding.measured:
        pairs = ", ".join(f"{plain(name)} {_shown(value)}" for name, value in finding.measured.items())
        lines.append(f"  - measured: {pairs}")
    if finding.said.strip():
        lines.append(f"  - it said: {plain(' '.join(finding.said.split())[-SAID:])}")
    if finding.next:
        lines.append(f"  - next: {plain(finding.next)}")
    if finding.claims:
        lines.append(f"  - claims: {plain(', '.join(finding.claims))}")
    return "\n".join([*lines, f"  {comment('finding', finding.to_dict())}", ""])


def hypothesis_text(hypothesis: Hypothesis) -> str:
    """One bullet for a hypothesis, with the findings that it cites."""
    credence = f"credence {hypothesis.credence}, before {hypothesis.prior}"
    lines = [f"- **{hypothesis.verdict}** {plain(hypothesis.id)}: {plain(hypothesis.statement)} ({credence})"]
    for name, cited in (("for", hypothesis.for_), ("against", hypothesis.against)):
        if cited:
            lines.append(f"  - {name}: {plain(', '.join(cited))}")
    return "\n".join([*lines, f"  {comment('hypothesis', hypothesis.to_dict())}", ""])


def question_text(question: Question) -> str:
    """One bullet with a box, which people may tick or clear."""
    lines = [f"- [{'x' if question.is_answered else ' '}] {plain(question.id)}: {plain(question.text)}"]
    if question.is_answered:
        places = "".join(f" {code(place)}" for place in question.places)
        lines.append(f"  - {plain(question.answer)}{places} ({plain(question.by)})")
    elif question.test:
        lines.append(f"  - to answer it: {code(question.test)}")
    return "\n".join([*lines, f"  {comment('question', question.to_dict())}", ""])


def joined(before: bytes, section: str) -> bytes:
    """The bytes to add after `before`, in its kind of line ends, closing what a broken writer left open."""
    if not before.strip():
        return (TITLE + section).encode()
    last = before.rsplit(b"\n", 1)[-1]
    cut_off = last.lstrip().startswith(b"<!-- trainsleuth:") and b"-->" not in last
    start = (" -->" if cut_off else "") + ("\n" if last else "")
    text = start + section
    return (text.replace("\n", "\r\n") if b"\r\n" in before else text).encode()


def _shown(value: Number) -> str:
    return f"{value:.6g}" if isinstance(value, float) else plain(str(value))
