"""Claims and sources by themselves: each has what it needs, and each number of ours a script."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from trainsleuth.evidence.library import Library, Record

OWN = "own-measure"
MAX_ANCHOR = 7  # words
STRENGTHS = ("measured by us", "measured study", "expert consensus", "single expert", "lore")
SEEN = ("text", "excerpt", "no", "")
READ = ("full text", "in part", "not read")
REQUIRED = {"id", "topic", "text", "strength", "sources"}
FIELDS = REQUIRED | {"experiment", "contested", "recounted", "to_measure"}


@dataclass(frozen=True)
class Defect:
    """One thing wrong: its `kind`, `where` (an id, or path:line), and a sentence that says what to do."""

    kind: str
    where: str
    message: str


def defects(library: Library) -> Iterator[Defect]:
    yield from _twice(library)
    known = {source["id"] for source in library.sources}
    for claim in library.claims:
        yield from _claim(claim, library)
        for cited in claim["sources"]:
            yield from _citation(claim["id"], cited, known)
    yield from _sources(library)
    yield from _results(library)


def _twice(library: Library) -> Iterator[Defect]:
    for records in (library.claims, library.sources):
        counted = Counter(record["id"] for record in records)
        for id in (id for id, count in counted.items() if count > 1):
            yield Defect("duplicate-id", id, f"{id} is used {counted[id]} times; rename all but one")


def _claim(claim: Record, library: Library) -> Iterator[Defect]:
    id, script = claim["id"], claim.get("experiment")
    unknown = set(claim) - FIELDS
    if unknown:
        yield Defect("unknown-field", id, f"{', '.join(sorted(unknown))}: a claim has {', '.join(sorted(FIELDS))}")
    if claim["strength"] not in STRENGTHS:
        yield Defect("unknown-strength", id, f"{claim['strength']!r} is none of {', '.join(STRENGTHS)}")
    if not script and not any(cited.get("anchor") for cited in claim["sources"]):
        yield Defect("no-support", id, "neither an experiment nor a source with an anchor; add one, or drop the claim")
    if claim["strength"] == "measured by us" and not script:
        yield Defect("not-measured", id, "said to be measured by us, and no experiment is named")
    if script and script not in library.scripts:
        near = difflib.get_close_matches(script, library.scripts, n=1)
        yield Defect("no-experiment", id, f"evidence/experiments/{script}.py does not exist; nearest: {near or 'none'}")
    elif script and id not in library.experiments.get(script, {}):
        yield Defect("no-result", id, f"the results of {script} do not speak of it; run `make evidence`")


def _citation(claim: str, cited: Record, known: set[str]) -> Iterator[Defect]:
    id, anchor, seen = cited["id"], str(cited.get("anchor", "")), cited.get("seen", "")
    if id not in known:
        yield Defect("unknown-source", claim, f"source {id} is not in sources.yaml")
    if len(anchor.split()) > MAX_ANCHOR:
        yield Defect("long-anchor", claim, f"{len(anchor.split())} words from {id}; at most {MAX_ANCHOR} may be kept")
    if seen not in SEEN or bool(anchor) != (seen in ("text", "excerpt")):
        yield Defect("unclear-anchor", claim, f"anchor {anchor!r} and seen {seen!r} do not go together ({id})")


def _sources(library: Library) -> Iterator[Defect]:
    cited = {one["id"] for claim in library.claims for one in claim["sources"]}
    for source in library.sources:
        if source["id"] not in cited:
            yield Defect("unused-source", source["id"], "no claim cites it; cite it or drop it")
        if source["read"] not in READ:
            yield Defect("unknown-read", source["id"], f"{source['read']!r} is none of {', '.join(READ)}")


def _results(library: Library) -> Iterator[Defect]:
    by_claim = {claim["id"]: claim.get("experiment") for claim in library.claims}
    for script, says in library.experiments.items():
        for id in says:
            if by_claim.get(id) != script:
                yield Defect("unclaimed-result", script, f"it measures {id}, and that claim does not name it")
    for script in library.scripts - set(library.experiments):
        yield Defect("not-run", script, "the script has no result; run `make evidence`")
