"""What the notes hold, filled into the page; every word of it is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Template

from trainsleuth.finding import Finding, best_first
from trainsleuth.hypothesis import Hypothesis, reference
from trainsleuth.notes import Recorded
from trainsleuth.wording import measured_text, shown, visible

HERE = Path(__file__).parent
_GROUPS = {"fail": "Found", "open": "Open", "pass": "Ruled out", "skip": "Does not apply"}


def page(recorded: Recorded, case: str, file: str) -> str:
    """The whole page. `case` and `file` are shown as its title."""
    alarms = [one for one in recorded.findings if one.is_alarm]
    return _filled(
        "page",
        case=case,
        file=file,
        when=recorded.runs[-1].when if recorded.runs else "",
        summary=_summary(recorded, len(alarms)),
        hypotheses=_rows(recorded.hypotheses),
        findings=_Html("".join(_groups(recorded.findings))),
        runs=_Html("".join(_filled("run", when=run.when, command=run.command) for run in reversed(recorded.runs))),
    )


class _Html(str):
    """Text that is HTML already."""


def _summary(recorded: Recorded, alarms: int) -> str:
    words = [f"{alarms} {'problem' if alarms == 1 else 'problems'} found in {len(recorded.runs)} runs"]
    if recorded.damaged:
        words.append(f"{len(recorded.damaged)} entries of the notes could not be read")
    if recorded.left_out:
        words.append(f"the first {recorded.left_out} bytes of the notes were not read")
    return "; ".join(words)


def _rows(hypotheses: Iterable[Hypothesis]) -> _Html:
    ordered = sorted(hypotheses, key=lambda one: -one.credence.middle)
    rows = _Html("".join(_filled("hypothesis", **_hypothesis(one)) for one in ordered))
    return _Html(_filled("hypotheses", rows=rows) if ordered else "")


def _hypothesis(one: Hypothesis) -> Mapping[str, str]:
    low, high = (round(100 * end, 1) for end in (one.credence.low, one.credence.high))
    return {
        "id": one.id,
        "statement": one.statement,
        "verdict": one.verdict,
        "credence": str(one.credence),
        "low": str(low),
        "span": str(max(round(high - low, 1), 1.0)),
        "cited": _Html(_citations("for", one.for_) + _citations("against", one.against)),
    }


def _citations(word: str, references: Iterable[str]) -> str:
    links = " ".join(f'<a href="#{html.escape(ref)}">{html.escape(ref)}</a>' for ref in references)
    return f" {word} {links}" if links else ""


def _groups(findings: Iterable[Finding]) -> Iterator[str]:
    ordered = best_first({reference(one): one for one in findings}.values())
    for outcome, title in _GROUPS.items():
        group = [one for one in ordered if one.outcome == outcome]
        if group:
            cards = _Html("".join(_filled("finding", **_finding(one)) for one in group))
            yield _filled("group", title=title, count=str(len(group)), outcome=outcome, cards=cards)


def _finding(one: Finding) -> Mapping[str, str]:
    links = "".join(_filled("link", place=f"{link.path}:{link.line}", why=link.why) for link in one.chain)
    facts = {
        "measured": measured_text(one.measured),
        "it said": one.said,
        "next": one.next,
        "claims": shown(one.claims),
    }
    return {
        "ref": reference(one),
        "kind": f"{one.outcome} {one.severity}",
        "place": one.place,
        "by": one.by,
        "words": f"{one.severity}, confidence {one.confidence}, {one.family}" if one.outcome == "fail" else one.family,
        "message": one.message,
        "chain": _Html(links),
        "facts": _Html("".join(_filled("fact", name=name, text=text) for name, text in facts.items() if text)),
    }


def _filled(part: str, /, **fields: str) -> str:
    escaped = {key: value if isinstance(value, _Html) else html.escape(visible(value)) for key, value in fields.items()}
    return _templates()[part].substitute(escaped)


@cache
def _templates() -> Mapping[str, Template]:
    """Each part of page.html between its marks, by name."""
    parts = (HERE / "page.html").read_text(encoding="utf-8").split("<!-- part: ")[1:]
    named = (part.split(" -->\n", 1) for part in parts)
    return {name: Template(text) for name, text in named}
