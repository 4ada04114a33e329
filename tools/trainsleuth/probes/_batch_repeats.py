"""The same examples where others were meant: in a batch, at every step, once per worker."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._batch_views import equal_views
from ._batch_words import NEEDED_BATCHES, entrance_of, failure, latest, loader_of, named

VARIED = 8  # different rows in every batch, where rows hold little each
STANDING = 0.8  # of the batches that enter are the one before; a new one may come with each epoch
STEPS_OF_ONE_BATCH = 15
NEEDED_ROWS = 4  # of a batch whose examples are all the same
NEEDED_CALLS = 10  # of a model whose inputs are compared
REPEATED = 0.2  # of the examples of one pass that came before in it
WITHOUT_ORDER = ("SequentialSampler", "RandomSampler", "DistributedSampler", "_InfiniteConstantSampler")


def alike(trace: Trace) -> Iterator[Finding]:
    """Every batch holds one example over and over."""
    for rows in latest(trace, "rows", "role", "root", "loader"):
        size = rows["rows"] / max(1, rows["read"])
        if (
            rows["role"] != "train"
            or rows["read"] < NEEDED_BATCHES
            or size < NEEDED_ROWS
            or rows["alike"] < rows["read"]
        ):
            continue
        entrance = entrance_of(trace, rows)
        if "shown" not in entrance or (rows["standing"] == rows["read"] - 1 and rows["distinct"] > 1):
            continue
        beside = _is_beside(trace, rows, entrance)
        if _is_mask(entrance):
            continue
        yield failure(
            entrance,
            f"in all {rows['read']} batches read at {shown(entrance)} the {size:.0f} rows of {entrance['main']!r} are "
            "identical; expected different examples"
            + (", but other parts of the same batches differ: are these positions, kinds or marks?" if beside else ""),
            "bad-data-values",
            severity="note" if beside else "error",
            confidence="low" if beside else "high",
            measured={"batches": rows["read"], "rows_per_batch": round(size, 1)},
            next="print two examples of the data set side by side: a buffer that is written over, or an index that is ignored",
        )


def _is_beside(trace: Trace, rows: Event, entrance: Event) -> bool:
    """Whole numbers that never change, where rows differ in what other modules get of the same loader: ids of positions or marks."""
    main: Event = next((tensor for tensor in entrance["tensors"] if tensor["name"] == entrance["main"]), {})
    if rows["distinct"] + rows["poor_distinct"] > 1 or "mean" in main or rows["loader"] is None:
        return False
    return any(
        (way["role"], way["loader"]) == ("train", rows["loader"]) and way["root"] != rows["root"] and not way["alike"]
        for way in latest(trace, "rows", "role", "root", "loader")
    )


def _is_mask(entrance: Event) -> bool:
    """Zeros and ones beside another tensor: rows of a mask may well be the same."""
    main: Event = next((tensor for tensor in entrance["tensors"] if tensor["name"] == entrance["main"]), {})
    low, high = main.get("min"), main.get("max")
    if len(entrance["tensors"]) < 2 or low not in (0.0, 1.0) or high not in (0.0, 1.0):
        return False
    mean, std = main.get("mean"), main.get("std")
    if "mean" not in main:
        return True  # whole numbers
    return isinstance(mean, float) and isinstance(std, float) and abs(std**2 - mean * (1 - mean)) <= 0.01


def standing(trace: Trace) -> Iterator[Finding]:
    """A loader of several batches gives the same examples at every step of a pass."""
    for seen in sorted(trace.events("loader_pass"), key=lambda event: -event["read"]):
        loader = loader_of(trace, seen["loader"])
        if seen["read"] < NEEDED_BATCHES + 2 or seen["standing"] < seen["read"] - 1 or not seen["telling"]:
            continue
        if loader.get("batches") == 1:
            continue
        yield failure(
            loader,
            f"{named(loader)} gave the same {seen['rows'] // seen['read']} examples in all {seen['read']} batches of one "
            "pass; expected new ones",
            "bad-data-values",
            measured={"batches": seen["read"], "distinct": seen["distinct"]},
            next="look at __getitem__ or __iter__ of the data set: the index or the position is ignored",
        )
        return


def standing_between(trace: Trace) -> Iterator[Finding]:
    """The loader gives new examples, and the model gets the same batch at every step."""
    given: dict[int, int] = {}
    for seen in trace.events("loader_pass"):
        given[seen["loader"]] = max(given.get(seen["loader"], 0), seen["sets"])
    evaluating = {rows["loader"] for rows in trace.events("rows") if rows["role"] == "eval"}
    for rows in latest(trace, "rows", "role", "root", "loader"):
        if rows["role"] != "train" or rows["read"] < NEEDED_BATCHES + 2:
            continue
        if not rows["telling"] and rows["varied"] < VARIED:
            continue  # few kinds of rows: equal batches may be chance
        if rows["loader"] in evaluating:
            continue  # it came last, but its batches are not what is trained on
        if rows["standing"] < STANDING * (rows["read"] - 1):
            continue
        entrance = entrance_of(trace, rows)
        gave, loader = given.get(rows["loader"], 0), loader_of(trace, rows["loader"])
        asked_once = rows["standing"] == rows["read"] - 1 >= STEPS_OF_ONE_BATCH and _gives_more(loader)
        if "main" not in entrance or (gave <= 2 * rows["sets"] and not asked_once):
            continue
        more = gave > rows["sets"]
        what = (
            f"while the loader gave {gave} different ones in one pass" if more else f"though {named(loader)} has more"
        )
        yield failure(
            entrance,
            f"{entrance['main']!r} at {shown(entrance)} is one batch over and over, {rows['sets']} different in {rows['read']} "
            f"read, {what}; expected each batch of the loader to reach the model",
            "bad-data-values",
            confidence="high" if gave > 2 * rows["sets"] else "medium",
            measured={"batches": rows["read"], "different": rows["sets"], "given": gave},
            next="look between the loop's head and this line for a variable that keeps the first batch",
        )


def _gives_more(loader: Event) -> bool:
    """Does this loader hold several batches, or a stream of them?"""
    batches = loader.get("batches")
    return bool(loader) and (batches > 1 if batches is not None else loader.get("cls") == "DataLoader")


def repeated(trace: Trace) -> Iterator[Finding]:
    """Examples come several times in one pass of a loader that should give each once."""
    for seen in latest(trace, "loader_pass", "loader"):
        loader = loader_of(trace, seen["loader"])
        if loader.get("replacement") or loader.get("sampler") not in WITHOUT_ORDER:
            continue
        given, distinct, what = seen["telling"], seen["distinct"], "examples"
        is_little = given < seen["rows"] / 2 and seen["varied"] >= VARIED
        if is_little and seen["sets"] >= NEEDED_BATCHES:  # what rows of little cannot tell, whole batches can
            given, distinct, what = seen["read"], seen["sets"], "batches"
        again, of = given - distinct, seen["rows"] if what == "examples" else given
        if seen["read"] < NEEDED_BATCHES or again < REPEATED * of or seen["standing"] >= seen["read"] - 1:
            continue
        times = given / distinct
        workers = loader.get("num_workers") or 0
        if workers < 2 or abs(times - workers) > 0.3:
            continue  # the data may well hold them twice
        yield failure(
            loader,
            f"{named(loader)} gave {again} of {given} {what} again within one pass, each {times:.1f} times, as "
            "often as there are workers; expected each once",
            "bad-data-values",
            measured={what: given, "distinct": distinct, "workers": workers},
            next="split the stream by torch.utils.data.get_worker_info(), or seed each worker on its own",
            claims=("loader-worker-seeds",),
        )


def equal_inputs(trace: Trace) -> Iterator[Finding]:
    """Two of the tensors that a model is given say the same in every call: one was perhaps filled from the other's source."""
    if any(equal_views(trace)):
        return  # told in full
    for event in {event["root"]: event for event in trace.events("equal_inputs")}.values():
        if event["calls"] >= NEEDED_CALLS:
            first, second = event["pairs"][0]
            others = len(event["pairs"]) - 1
            more = f" (and {others} more such {'pair' if others == 1 else 'pairs'})" if others else ""
            yield failure(
                event,
                f"{first!r} and {second!r} that enter {event['cls']} at {shown(event)} hold the same values in all {event['calls']} calls read, though each "
                f"was made by itself{more}: was one of them filled with the other's data, or are two views of an example meant to differ?",
                "bad-data-values",
                severity="note",
                confidence="medium",
                measured={"calls": event["calls"], "pairs": len(event["pairs"])},
                next="look at the two lines that fill them",
            )


def overwritten(trace: Trace) -> Iterator[Finding]:
    seen = trace.events("overwritten")
    if len(seen) >= NEEDED_BATCHES:
        loader = loader_of(trace, seen[0]["loader"])
        yield failure(
            loader,
            f"{named(loader)} writes each batch over the one before: {len(seen)} batches that were still held had the "
            "values of the next one; a program that keeps batches then sees one batch many times",
            "bad-data-values",
            severity="note",
            measured={"overwritten": len(seen)},
            next="copy what the data set returns (clone, numpy copy) unless no batch outlives its step",
        )
