"""One id explained: a check, a probe, a hypothesis, a claim or a source; near matches for a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from trainsleuth import checks, lore, probes
from trainsleuth.answers.answer import Answer, Section
from trainsleuth.answers.lore import entry_dict, entry_text
from trainsleuth.likelihoods import table
from trainsleuth.likelihoods import test_id as one_spelling
from trainsleuth.lore import Claim, Source
from trainsleuth.wording import one_line, wrapped


class ExplainError(LookupError):
    """Nothing has this id; the message names the nearest ones."""


def explain(asked: str, width: int | None = None) -> Answer:
    """What stands behind an id. Raises ExplainError."""
    kind, _, name = asked.strip().strip("[]").rpartition(":")
    for known_kind, known in _known(width).items():
        spelled = {one_spelling(id): id for id in known}
        if kind in ("", known_kind) and one_spelling(name) in spelled:
            return known[spelled[one_spelling(name)]]()
    ids = sorted({id for known in _known(width).values() for id in known})
    near = difflib.get_close_matches(name, ids, n=4, cutoff=0.45)
    hint = f"did you mean {', '.join(near)}?" if near else "`trainsleuth explain` alone lists the tests"
    raise ExplainError(f"nothing has the id {asked!r}; {hint}")


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
    return checks.explain(id).text


def _known(width: int | None) -> Mapping[str, Mapping[str, Callable[[], Answer]]]:
    causes = table().causes
    return {
        "check": {id: _lazy(_test, "check", id, _check_text) for id in checks.check_ids()},
        "probe": {id: _lazy(_test, "probe", id, probes.explain) for id in probes.all_probes()},
        "hypothesis": {id: _lazy(_hypothesis, causes[id]) for id in causes},
        "claim": {id: _lazy(_entry, claim, width) for id, claim in lore.claims().items()},
        "source": {id: _lazy(_entry, source, width) for id, source in lore.sources().items()},
    }


def _lazy(build: Callable[..., Answer], *arguments: Any) -> Callable[[], Answer]:
    return lambda: build(*arguments)


def _test(kind: str, id: str, explained: Callable[[str], str]) -> Answer:
    text = explained(id)
    return Answer(head=f"{kind}:{id}\n\n{text}", sections=(), plain={"kind": kind, "id": id, "text": text})


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
            "kind": "hypothesis", "id": cause.id, "statement": cause.statement, "family": cause.family,
            "reason": cause.reason, "claims": cause.claims,
            "tests": {one.test: {"fails": one.fails[cause.id], "otherwise": one.otherwise} for one in seen_by},
        },
    )  # fmt: skip


def _entry(entry: Claim | Source, width: int | None) -> Answer:
    return Answer(head=entry_text(entry, width), sections=(), plain=entry_dict(entry))
