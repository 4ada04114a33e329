"""Two views of each example that are no two: a contrast between them has nothing to tell apart."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._batch_words import failure, latest

NEEDED_BACKWARDS = 5
NEXT = "print the largest difference between the two views: is the transform applied once, is it deterministic, is one view used twice?"
HOW = {
    "calls": "is called twice with exactly the same {rows} rows",
    "halves": "gets batches of {rows} rows whose second half repeats the first exactly",
    "neighbours": "gets batches of {rows} rows each of which comes twice in a row",
}


def equal_views(trace: Trace) -> Iterator[Finding]:
    """A module gets everything twice, says the same of both, and learns the same from both."""
    found = [
        one
        for one in latest(trace, "equal_views", "root", "module")
        if one["always"] and one["rounds"] >= NEEDED_BACKWARDS and (one["how"] == "calls" or one["sets"] > 1)
    ]
    for one in sorted(found, key=_depth)[:1]:
        name = f" ({one['module']})" if one["module"] else ""
        yield failure(
            one,
            f"{one['cls']}{name} at {shown(one)} {HOW[one['how']].format(rows=one['rows'])}, gives the same outputs for both and gets the "
            f"same gradients for both, in all {one['rounds']} backwards seen: the second view adds nothing, and what compares the two "
            "is given the answer; expected two views that differ, or dropout that makes their outputs differ",
            "bad-data-values",
            measured={"backwards": one["rounds"], "rows": one["rows"]},
            next=NEXT,
            claims=("look-at-data-first",),
        )
    if not found:
        yield from _symmetric_scores(trace)


def _symmetric_scores(trace: Trace) -> Iterator[Finding]:
    for one in latest(trace, "symmetric_scores", "site", "lib"):
        if one["calls"] >= NEEDED_BACKWARDS:
            yield failure(
                one,
                f"cross_entropy at {shown(one)} asks each example for its own number among all of the batch, and the scores are symmetric "
                f"in all {one['calls']} calls: the same vectors stand on both sides, so each is compared with itself; expected two "
                "views that differ",
                "bad-data-values",
                measured={"calls": one["calls"]},
                next=NEXT,
                claims=("look-at-data-first",),
            )
            return


def _depth(event: Event) -> int:
    """Of a module below the one that the program calls."""
    return str(event["module"]).count(".") + bool(event["module"])
