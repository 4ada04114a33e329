"""Evaluation examples that were trained on."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._batch_words import entrance_of, failure, latest, loader_of, named

LEAKED = 0.02  # of the distinct evaluation examples; below it chance duplicates of the data are the likelier reason
LEAKED_POOR = 0.1  # the same of examples that hold few values
NEEDED_POOR = 50  # of them
WHOLE = 0.95  # of them: evaluation on the training data themselves, which is usually meant beside another
BY_CHANCE = 1.5  # times the share of training examples that have a copy: as often an example drawn like them is met


def leaked(trace: Trace) -> Iterator[Finding]:
    """Some evaluation examples were trained on, though the two loaders read different data sets."""
    for overlap in latest(trace, "overlap", "root", "eval_loader", "train_loader"):
        shared, distinct, needed, trained = overlap["shared"], overlap["distinct"], LEAKED, overlap["trained"]
        if not distinct:
            shared, distinct, needed = overlap["poor_shared"], overlap["poor_distinct"], LEAKED_POOR
            trained = overlap["trained_poor"]
        share = shared / max(1, distinct)
        if overlap["same_data"] is not False or share < needed or (needed == LEAKED_POOR and distinct < NEEDED_POOR):
            continue
        is_chance = share <= BY_CHANCE * _repeated(trace, overlap["root"], overlap["train_loader"])
        meant = _perhaps_meant(overlap, shared, distinct, trained)
        is_whole = share >= WHOLE
        alone = is_whole and shared < WHOLE * trained and _is_all_that_is_evaluated(trace, overlap["root"])
        is_alarm = (alone or not is_whole) and not is_chance and not meant
        entrance = entrance_of(trace, {"role": "eval", "root": overlap["root"], "loader": overlap["eval_loader"]})
        yield failure(
            entrance,
            f"{shared} of {distinct} evaluation examples at {shown(entrance)} were also trained on "
            f"({share:.1%}), value for value; expected none"
            + (", but the training data hold the same examples several times too" if is_chance else meant)
            + (", and no others were evaluated" if alone and is_alarm else ""),
            "split-leak",
            severity="warning" if is_alarm else "note",
            confidence="low" if not is_alarm else "medium" if alone else "high",
            measured={"shared": shared, "evaluated": distinct, "share": round(share, 4)},
            next="split before copying, augmenting or windowing the data, and compare the hashes of both parts",
            claims=("leakage-is-widespread", "augment-after-split"),
        )


def _perhaps_meant(overlap: Event, shared: int, distinct: int, trained: int) -> str:
    """Why such an overlap may be no leak: the training data are scored too, or everything there is is predicted."""
    if overlap["whole"] and not overlap["mixed"] and overlap["whole"] < overlap["batches"]:
        return f"; all of them stand in {overlap['whole']} of {overlap['batches']} batches that hold no others: is the training data scored as well?"
    if trained and shared >= WHOLE * trained and shared < distinct:
        return "; nearly all that was trained on is among them: is everything there is predicted, or is this the score?"
    return ""


def stored_twice(trace: Trace) -> Iterator[Finding]:
    """The data sets keep the same examples, which augmentation makes differ in the batches."""
    found = {overlap["eval_loader"] for overlap in trace.events("overlap") if overlap["shared"]}
    for stored in trace.events("stored_overlap"):
        share = stored["shared"] / max(1, stored["distinct"])
        repeats = stored["trained"] - stored["trained_distinct"] > LEAKED * stored["trained"]
        is_part = stored["drawn"] and share >= WHOLE and stored["distinct"] < WHOLE * stored["trained_distinct"]
        if stored["eval_loader"] in found or repeats or not (LEAKED <= share < WHOLE or is_part):
            continue
        loader = loader_of(trace, stored["eval_loader"])
        meant = "; or is a part of the training data scored on purpose?" if is_part else ""
        yield failure(
            loader,
            f"{stored['shared']} of {stored['distinct']} examples that {named(loader)} evaluates are kept by "
            f"{named(loader_of(trace, stored['train_loader']))} too, which trains ({share:.1%}, compared in {stored['attribute']!r}, before any "
            f"augmentation); expected none{meant}",
            "split-leak",
            severity="note" if is_part else "warning",
            confidence="medium" if is_part else "high",
            measured={"shared": stored["shared"], "evaluated": stored["distinct"], "share": round(share, 4)},
            next="split before copying or augmenting the data, and compare the indices or paths of both parts",
            claims=("leakage-is-widespread", "augment-after-split"),
        )
        return


def _is_all_that_is_evaluated(trace: Trace, root: int) -> bool:
    """Evaluated more than once while it trains, and each time on examples of which nearly all were trained on."""
    phases = [phase for phase in trace.events("phase") if phase["root"] == root]
    times = {p["n"] for p in phases if not p["grad"] or not (p["training"] or p["backwards"])}
    known = {
        overlap["eval_loader"]
        for overlap in latest(trace, "overlap", "root", "eval_loader", "train_loader")
        if overlap["root"] == root and _share(overlap) >= WHOLE
    }
    evaluated = {rows["loader"] for rows in trace.events("rows") if (rows["role"], rows["root"]) == ("eval", root)}
    return len(times) > 1 and evaluated <= known


def _share(overlap: Event) -> float:
    kinds = ("shared", "distinct") if overlap["distinct"] else ("poor_shared", "poor_distinct")
    return float(overlap[kinds[0]] / max(1, overlap[kinds[1]]))


def _repeated(trace: Trace, root: int, loader: int) -> float:
    """The share of the examples of one pass of training that have a copy in it, at most, for each of two kinds of rows;
    of what this module gets of them too, which may be a part of each example.
    """
    parts = [
        rows["again"] / rows["given"]
        for rows in latest(trace, "rows", "role", "root", "loader")
        if (rows["role"], rows["root"], rows["loader"]) == ("train", root, loader) and rows["given"]
    ]
    passes = [event for event in trace.events("loader_pass") if event["loader"] == loader]
    again = [
        (event[rows] - event[kinds]) / event[rows]
        for event in passes
        for rows, kinds in (("telling", "distinct"), ("poor", "poor_distinct"))
        if event[rows]
    ]
    return 2 * max((share for share in again + parts if share > LEAKED), default=0.0)
