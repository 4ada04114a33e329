"""Findings as text: the failures whole, what was ruled out and what stays open on a line each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from trainsleuth.answers.answer import Section
from trainsleuth.finding import Finding
from trainsleuth.hypothesis import reference
from trainsleuth.wording import measured_text, one_line, path_text, quoted, wrapped

MAX_COPIES = 8  # told in the text; JSON has all
_NAMES = re.compile(r"\S*[A-Z0-9.:/]\S*")  # words with capitals, digits or marks: classes, numbers, places
FEW = 4  # checks without a site that the text names


def failure_text(finding: Finding, width: int | None = None) -> str:
    """What failed: the place first on its line, so that terminals and editors can open it."""
    place = f"{path_text(finding.place)}  " if finding.place else ""
    lines = [
        f"{place}{finding.severity}  {one_line(finding.by)}  (confidence {finding.confidence})  [{reference(finding)}]"
    ]
    lines.append(wrapped(one_line(finding.message), "  ", width))
    for link in finding.chain:
        lines.append(wrapped(f"via {path_text(link.path)}:{link.line}  {one_line(link.why)}", "    ", width, "  "))
    if finding.measured:
        lines.append(wrapped(f"measured: {measured_text(finding.measured)}", "  ", width, "  "))
    if finding.said.strip():
        lines.append(quoted(finding.said))
    if finding.next:
        lines.append(wrapped(f"next: {one_line(finding.next)}", "  ", width, "  "))
    if finding.seen_by:
        lines.append(f"  also seen by: {', '.join(map(one_line, finding.seen_by))}")
    if finding.copies:
        lines.append(wrapped(f"the same lines: {_places(finding.copies)}", "  ", width, "  "))
    if finding.grounds:
        lines.append(wrapped(f"record: {one_line(finding.grounds)}", "  ", width, "  "))
    if finding.claims:
        lines.append(f"  claims: {', '.join(map(one_line, finding.claims))}")
    return "\n".join(lines)


def line_text(finding: Finding, width: int | None = None) -> str:
    """A pass, an open question or a skip on one line; the output of the program below it, when it came with any."""
    place = f"{path_text(finding.place)}  " if finding.place else ""
    likewise = f"; likewise at {_places(finding.copies)}" if finding.copies else ""
    text = wrapped(f"{place}{one_line(finding.by)}: {one_line(finding.message, 400)}{likewise}", "  ", width, "  ")
    if finding.outcome != "open":
        return text
    said = [quoted(finding.said, "    ", 12)] if finding.said.strip() else []
    then = [wrapped(f"next: {one_line(finding.next)}", "    ", width, "  ")] if finding.next.strip() else []
    return "\n".join([text, *said, *then])


def asked_once(opened: Sequence[Finding]) -> list[Finding]:
    """Of open questions that differ in names, numbers and places alone the first, with the places of the others."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for one in opened:
        alike.setdefault((one.by, _NAMES.sub("", one.message)), []).append(one)
    return [
        replace(first, copies=tuple(dict.fromkeys(one.place for one in others if one.place)))
        for first, *others in alike.values()
    ]


def sections(findings: Sequence[Finding], width: int | None, narrow: str) -> tuple[Section, ...]:
    """All findings, failures first, in the order in which they were given."""
    failures = tuple(failure_text(f, width) for f in findings if f.outcome == "fail")
    titles = (("pass", "ruled out:"), ("open", "open:"))
    rest = (Section(title, tuple(_lines(findings, outcome, width)), narrow) for outcome, title in titles)
    skips = Section("does not apply:", tuple(_skips(findings, width)), narrow)
    return (Section("", failures, narrow), *rest, skips)


def _places(copies: Sequence[str]) -> str:
    more = len(copies) - MAX_COPIES
    told = ", ".join(path_text(place) for place in copies[:MAX_COPIES])
    return f"{told} and {more} more" if more > 0 else told


def counted(findings: Iterable[Finding]) -> str:
    """How it came out, in half a sentence. What two tests saw at one place is one problem."""
    given = list(findings)
    again = {(finding.place, by) for finding in given for by in finding.seen_by}
    alarms = sum(finding.is_alarm and (finding.place, finding.by) not in again for finding in given)
    notes = sum(finding.outcome == "fail" and not finding.is_alarm for finding in given)
    passes, open_ = (sum(f.outcome == outcome for f in given) for outcome in ("pass", "open"))
    doubts = f"{notes} {'note' if notes == 1 else 'notes'} to look into"
    words = [f"{alarms} {'problem' if alarms == 1 else 'problems'} found"] if alarms else []
    words += [doubts if words else f"no alarm, {doubts}"] if notes else []
    words = words or ["nothing wrong found"]
    words += [f"{passes} ruled out"] if passes else []
    words += [f"{open_} open"] if open_ else []
    words += ["the run was cut short"] if any(f.by == "probe:run" and f.outcome == "open" for f in given) else []
    return ", ".join(words)


def _skips(findings: Sequence[Finding], width: int | None) -> Iterator[str]:
    """The probes with their reasons; the checks by name where they are few, for most find nothing to examine."""
    yield from (line_text(f, width) for f in findings if f.outcome == "skip" and not f.by.startswith("check:"))
    if checks := [one_line(f.by) for f in findings if f.outcome == "skip" and f.by.startswith("check:")]:
        told = ", ".join(checks) if len(checks) <= FEW else f"{len(checks)} checks (the JSON result names them)"
        yield wrapped(f"nothing in this code to examine: {told}", "  ", width, "  ")


def _lines(findings: Iterable[Finding], outcome: str, width: int | None) -> Iterator[str]:
    return (line_text(finding, width) for finding in findings if finding.outcome == outcome)
