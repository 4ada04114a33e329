"""Rule of ranks_agree: each rank walks all of the same data set, in an order of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown


def whole_data_on_each(ranks: Mapping[int, Trace], together: Sequence[Sequence[Event]]) -> Iterator[Finding]:
    """Only where gradients are seen to be exchanged: parameters that change, and are the same on all ranks."""
    if len({row[0]["parameters"] for row in together}) < 2 or any(
        len({event["parameters"] for event in row}) > 1 for row in together
    ):
        return
    shares = [{event["dataset"]: event for event in trace.events("share")} for _, trace in sorted(ranks.items())]
    for number, first in shares[0].items():
        row = [one[number] for one in shares if number in one]
        if len(row) < len(ranks) or not all(event["is_whole"] and event["content"] and event["ended"] for event in row):
            continue
        if len({event["content"] for event in row}) > 1 or {event["world"] for event in row} != {len(ranks)}:
            continue
        if any(len(set(orders)) < len(ranks) for orders in zip(*(event["orders"] for event in row), strict=False)):
            continue  # in one order, so that a part of each batch may be taken
        path, line = place(first.get("site"))
        yield Finding(
            by="probe:ranks_agree", outcome="fail", severity="warning", confidence="high", family="distributed", path=path, line=line,
            message=f"each of {len(ranks)} ranks walks all {first['length']} examples of the same {first['cls']} at {shown(first)}: its loader "
            f"shuffles by itself and no sampler splits them, so an epoch does {len(ranks)} times the work and takes each example "
            f"{len(ranks)} times; expected 1/{len(ranks)} of them on each rank",
            suspects=("ranks-disagree",), measured={"ranks": len(ranks), "examples": first["length"], "passes": first["ended"]},
            next="give the loader sampler=DistributedSampler(dataset) in place of shuffle=True, and call its set_epoch in each epoch",
        )  # fmt: skip
