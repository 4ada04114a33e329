"""Do all ranks hold the same parameters, and does each see its own share of the data?

At a few steps every rank writes down an exact code of its parameters and of its batch; afterwards they are
compared. No collective is used, so the program's own ones stay in step.

Fails on: parameters that differ between ranks of a model that is not sharded; the same batches on all ranks; a loader of each
rank that walks all of the same data set to its end, in an order of its own.
A pass rules both out for the steps seen by all. Parameters that were not seen to change, and batches that were not
seen or not different on each rank, leave it open.
Cost: a sample of the parameters at ten steps. Cannot see: sharded parameters (FSDP, DTensor), ranks on other
machines, tensor and pipeline parallel groups (their ranks rightly differ: open); whether data sets are the same, where what
they hold cannot be looked into or their code speaks of ranks.

Bad:
    loader = DataLoader(dataset, shuffle=True)

Good:
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from trainsleuth.finding import Finding, Outcome
from trainsleuth.trace import Event, Trace, place, shown

from ._ranks_share import whole_data_on_each

EXPERIMENT = "observe"
NEEDED_STEPS = 2  # with the same batches on all ranks
WRAPPERS = ("DistributedDataParallel",)


def compare(traces: Sequence[Trace]) -> Iterator[Finding]:
    """Findings about all processes of one run together."""
    ranks = {trace.rank: trace for trace in traces if trace.rank is not None}
    if len(ranks) < 2:
        yield Finding(
            by="probe:ranks_agree",
            outcome="skip",
            family="distributed",
            message="one process trains: no ranks to compare",
        )
        return
    sums = [{event["n"]: event for event in trace.events("checksum")} for _, trace in sorted(ranks.items())]
    steps = sorted(set.intersection(*(set(one) for one in sums)))
    together = [[one[step] for one in sums] for step in steps]
    first = ranks[min(ranks)]
    if not steps or any(
        event["sharded"] or event["elements"] != row[0]["elements"] for row in together for event in row
    ):
        yield _finding(first, "open", f"whether {len(ranks)} ranks agree stays open: parameters are sharded, differ in number, "
                       "or no step was seen by all")  # fmt: skip
        return
    failed = [*_parameters_differ(first, steps, together), *_same_batches(first, steps, together)]
    failed = failed or [*whole_data_on_each(ranks, together)]
    yield from failed
    if not failed:
        yield _agreement(first, steps, together)


def _agreement(first: Trace, steps: Sequence[int], together: Sequence[Sequence[Event]]) -> Finding:
    """A pass where both were seen: parameters that were trained, and batches that differ."""
    ranks = len(together[0])
    same = f"{ranks} ranks hold the same {together[0][0]['elements']} parameters at steps {', '.join(map(str, steps))}"
    measured = {"ranks": ranks, "steps": len(steps)}
    why = ""
    if len({row[0]["parameters"] for row in together}) < 2:
        why = "they were not seen to change in between, so ranks that do not exchange gradients would look the same"
    elif not any(all(event["batch"] for event in row) for row in together):
        why = "no batch of plain tensors entered a model on all of them, so whether each has its own is not known"
    elif not any(len({event["batch"] for event in row}) == ranks for row in together):
        why = "at no step looked at had each a batch of its own"
    if why:
        return _finding(first, "open", f"whether {ranks} ranks agree stays open: {same}, but {why}", measured=measured)
    return _finding(first, "pass", f"{same}, and each has batches of its own", confidence="high", measured=measured)


def _trained_on(trace: Trace) -> Event | None:
    """The batch, or else the forward, from which the first backward starts: what is evaluated before has other lines."""
    before = list(takewhile(lambda op: op["op"] != "backward", trace.ops()))
    batches = [op for op in before if op["op"] == "batch"]
    return next(reversed(batches or [op for op in before if op["op"] == "forward" and op["grad"]]), None)


def _finding(trace: Trace, outcome: Outcome, message: str, at: Event | None = None, **more: Any) -> Finding:
    path, line = place((at or next(iter(trace.ops("step")), {})).get("site"))
    return Finding(
        by="probe:ranks_agree", outcome=outcome, family="distributed", path=path, line=line, message=message, **more
    )


def _parameters_differ(first: Trace, steps: Sequence[int], together: Sequence[Sequence[Event]]) -> Iterator[Finding]:
    apart = [step for step, row in zip(steps, together, strict=True) if len({event["parameters"] for event in row}) > 1]
    if not apart:
        return
    wrapped = any(name in WRAPPERS for name in together[0][0]["roots"])
    site: Event = first.ops("step")[0] if first.ops("step") else {}
    why = (
        "though the model is wrapped in DistributedDataParallel"
        if wrapped
        else "and no call of DistributedDataParallel was seen"
    )
    yield _finding(
        first, "fail",
        f"parameters differ between {len(together[0])} ranks after step {apart[0]} (at {len(apart)} of {len(steps)} steps looked at), "
        f"{why}: each rank trains its own model with the step at {shown(site)}; expected the same on all",
        severity="error", confidence="high" if not wrapped else "medium", suspects=("ranks-disagree",),
        measured={"ranks": len(together[0]), "first_step": apart[0], "steps_apart": len(apart)},
        next="wrap the model before building the optimizer, call the wrapper (not .module), seed all ranks alike",
        claims=("bypass-ddp-wrapper",),
    )  # fmt: skip


def _same_batches(first: Trace, steps: Sequence[int], together: Sequence[Sequence[Event]]) -> Iterator[Finding]:
    known = [row for row in together if all(event["batch"] for event in row)]
    same = [row for row in known if len({event["batch"] for event in row}) == 1]
    if len(same) < NEEDED_STEPS or len(same) < len(known):
        return
    yield _finding(
        first, "fail",
        f"all {len(same[0])} ranks trained on exactly the same batches at all {len(same)} steps looked at: {len(same[0])} times the "
        "work for one gradient; expected each rank to have its own share",
        at=_trained_on(first), severity="warning", confidence="high", suspects=("ranks-disagree",),
        measured={"ranks": len(same[0]), "steps": len(same)},
        next="use a DistributedSampler (and set_epoch), or shard the stream by rank",
    )  # fmt: skip
