"""One id explained: a check, a probe, a hypothesis, a claim, a source or a finding; near matches for a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from trainsleuth import checks, lore, probes
from trainsleuth.accepted import ABOUT_COMMENTS
from trainsleuth.answers.answer import Answer, Section
from trainsleuth.answers.findings import failure_text, line_text
from trainsleuth.answers.lore import entry_dict, lore_answer
from trainsleuth.entry import as_text
from trainsleuth.finding import Finding
from trainsleuth.hypothesis import is_reference, reference
from trainsleuth.likelihoods import table
from trainsleuth.likelihoods import test_id as one_spelling
from trainsleuth.lore import Claim, Source
from trainsleuth.wording import one_line, wrapped


class ExplainError(LookupError):
    """Nothing has this id; the message names the nearest ones."""


def explain(asked: str, findings: Callable[[], Iterable[Finding]] = tuple) -> Answer:
    """What stands behind an id. Raises ExplainError.

    `findings` gives those that are kept, called only for what can be the reference of one.
    """
    kind, _, name = asked.strip().strip("[]").rpartition(":")
    known = dict(_known())
    if is_reference(asked):
        known["finding"] = {reference(one): partial(_finding, one) for one in findings()}
    meant = [
        build()
        for known_kind, builds in known.items()
        for id, build in builds.items()
        if kind in ("", known_kind) and one_spelling(id) == one_spelling(name)
    ]
    if meant:
        return _joined(meant)
    if is_reference(asked):
        raise ExplainError(
            f"no finding in the notes has the id {asked!r}; triage keeps what it finds there, probe with --notes"
        )
    if " " in name.strip():  # a symptom in words: what look_up_folklore answers
        return lore_answer(lore.look_up(asked, WORDS), asked)
    ids = sorted({id for builds in known.values() for id in builds})
    near = difflib.get_close_matches(name, ids, n=4, cutoff=0.45)
    hint = f"did you mean {', '.join(near)}?" if near else "`trainsleuth explain` alone lists the tests"
    raise ExplainError(f"nothing has the id {asked!r}; {hint}")


WORDS = 5  # entries of the lore for a question in words


def everything(width: int | None = None) -> Answer:
    """Every test and every hypothesis with the first line of what it says; the lore is too long to list."""
    tests = {
        "checks (search the code):": {id: checks.explain(id).title for id in checks.check_ids()},
        "probes (ask the running program):": {id: probes.question(id) for id in probes.all_probes()},
        "hypotheses:": {id: cause.statement for id, cause in table().causes.items()},
    }
    told = tuple(
        Section(title, tuple(wrapped(f"{id}  {one_line(text)}", "  ", width, "    ") for id, text in one.items()))
        for title, one in tests.items()
    )
    plain = {title.split()[0].rstrip(":"): one for title, one in tests.items()}
    return Answer(head="", sections=told, plain=plain, tail="and the claims and sources that answers cite")


def _check_text(id: str) -> str:
    told = checks.explain(id)
    return f"{told.text}\nReports so far: {told.record}\n"


def _known() -> Mapping[str, Mapping[str, Callable[[], Answer]]]:
    causes = table().causes
    return {
        "check": {
            **{id: partial(_test, "check", id, _check_text) for id in checks.check_ids()},
            "ignore-comment": partial(_test, "check", "ignore-comment", lambda _: ABOUT_COMMENTS),
        },
        "probe": {id: partial(_test, "probe", id, probes.explain) for id in probes.all_probes()},
        "hypothesis": {id: partial(_hypothesis, causes[id]) for id in causes},
        "claim": {id: partial(_entry, claim) for id, claim in lore.claims().items()},
        "source": {id: partial(_entry, source) for id, source in lore.sources().items()},
    }


def _joined(answers: Sequence[Answer]) -> Answer:
    """One answer where an id names several things: a check and the hypothesis that it tests."""
    first, *others = answers
    return Answer(
        head="\n\n".join(answer.text() for answer in answers),
        sections=(),
        plain={**first.plain, **({"also": [other.plain for other in others]} if others else {})},
    )


def _test(kind: str, id: str, explained: Callable[[str], str]) -> Answer:
    text = explained(id)
    return Answer(head=f"{kind}:{id}\n\n{text}", sections=(), plain={"what": kind, "id": id, "text": text})


def _hypothesis(cause: Any) -> Answer:
    seen_by = [column for column in table().columns.values() if cause.id in column.fails]
    rows = tuple(
        f"  {one.test}  fails in {one.fails[cause.id]:.2f} of such cases, else in {one.otherwise:.2f}"
        for one in seen_by
    )
    head = f"hypothesis {cause.id} ({cause.family}): {cause.statement}\n  {cause.reason}"
    return Answer(
        head=head,
        sections=(Section("tests that can see it (estimates, set by hand):", rows),),
        plain={
            "what": "hypothesis", "id": cause.id, "statement": cause.statement, "family": cause.family,
            "reason": cause.reason, "claims": cause.claims,
            "tests": {one.test: {"fails": one.fails[cause.id], "otherwise": one.otherwise} for one in seen_by},
        },
    )  # fmt: skip


def _finding(finding: Finding) -> Answer:
    is_fail = finding.outcome == "fail"
    text = failure_text(finding) if is_fail else f"{finding.outcome}{line_text(finding)}"
    plain = {"what": "finding", "id": reference(finding), **finding.to_dict()}
    return Answer(head=text, sections=(), plain=plain)


def _entry(entry: Claim | Source) -> Answer:
    return Answer(head=as_text(entry), sections=(), plain=entry_dict(entry))
