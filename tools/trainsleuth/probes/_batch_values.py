"""Values of inputs and labels: another scale in evaluation, numbers that are none, one class, one target."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._batch_words import entrance_of, failure, latest, loader_of, named
from ._loss_inputs import BINARY
from ._roots import models_among

OTHER_SCALE = 4.0  # ratio of the standard deviations of evaluation and training inputs
OTHER_PLACE = 3.0  # distance of their means in standard deviations
OTHER_UNIT = 20.0  # times as large, or as small
SINGLE_CLASS_BATCHES = 5
SAME = 1e-4  # of a loss: rounding of its parts
SINGLE_CLASS_SHARE = 0.6  # of the batches; where two classes meet, a sorted batch holds both


def other_scale(trace: Trace) -> Iterator[Finding]:
    """Inputs of evaluation lie elsewhere than those of training."""
    by_root: dict[int, dict[str, list[Event]]] = {}
    for event in trace.events("entered"):
        main: Event = next((t for t in event["tensors"] if t["name"] == event["main"]), {})
        if isinstance(main.get("std"), float) and isinstance(main.get("mean"), float) and main.get("finite"):
            facts = {**main, "event": event}
            by_root.setdefault(event["root"], {}).setdefault(event["role"], []).append(facts)
    for root in models_among(by_root, trace):
        for evaluated in by_root[root].get("eval", []):
            train = [one for one in by_root[root].get("train", []) if one["name"] == evaluated["name"]]
            if evaluated["event"]["loader"] is None or not train or len(evaluated["shape"]) < 2:
                continue
            if any(not _is_elsewhere(evaluated, one) for one in train):
                continue
            one, event = train[0], evaluated["event"]
            is_sorted = one["event"].get("in_order", False)  # as a series is: its beginning lies elsewhere than its end
            yield failure(
                event,
                f"what is evaluated at {shown(event)} has mean {evaluated['mean']:.3g} and standard deviation "
                f"{evaluated['std']:.3g} where "
                + ("the first training inputs, which come in the order of the data," if is_sorted else "training inputs")
                + f" have {one['mean']:.3g} and {one['std']:.3g}; "
                + ("is the preparation the same for both?" if is_sorted else "expected the same preparation for both"),
                "preprocessing-mismatch",
                severity="note" if is_sorted else "warning",
                confidence="low" if is_sorted else "medium",
                measured={"train_mean": one["mean"], "train_std": one["std"], "eval_mean": evaluated["mean"],
                          "eval_std": evaluated["std"]},
                next="compare the transforms of the two data sets line by line",
                claims=("visualise-right-before-model",),
            )  # fmt: skip
            break


def other_targets(trace: Trace) -> Iterator[Finding]:
    """A part of the batches that no model is given, as its targets are, lies on another scale where it evaluates. It may be
    meant: scores are often told in the units of the data.
    """
    for number, name, evaluated, trained in _parts_of_both(trace):
        size, usual = max(-evaluated[0], evaluated[1]), max(-trained[0], trained[1])
        is_apart = min(size, usual) > 0 and not 1 / OTHER_UNIT < size / usual < OTHER_UNIT
        if is_apart and not _is_given(trace.events("entered"), number, size):
            loader = loader_of(trace, number)
            yield failure(
                loader,
                f"part {name!r} of the batches of {named(loader)}, which evaluates, lies in [{evaluated[0]:.4g}, {evaluated[1]:.4g}], and in "
                f"[{trained[0]:.4g}, {trained[1]:.4g}] where it trains: are the predictions brought to that scale before they are compared?",
                "preprocessing-mismatch",
                severity="note",
                confidence="medium",
                measured={"evaluated": size, "trained": usual},
                next="print one target of each loader beside its prediction",
            )
            return


def _parts_of_both(trace: Trace) -> Iterator[tuple[int, str, tuple[float, float], tuple[float, float]]]:
    """(loader that evaluates, name, its range there, its range where it trains) of parts that are fractional in training."""
    entered = trace.events("entered")
    evaluating, training = ({e["loader"] for e in entered if e["role"] == role} - {None} for role in ("eval", "train"))
    parts = {event["loader"]: event["parts"] for event in trace.events("loader_parts")}
    for number, other in product(sorted(evaluating - training), sorted(training - evaluating)):
        for name, (_, axes, *span) in parts.get(number, {}).items():
            kind, known_axes, *known = parts.get(other, {}).get(name, ("", 0))
            are_numbers = all(isinstance(one, float) for one in (*span, *known))  # not "inf"
            if axes == known_axes and "float" in kind and are_numbers:
                yield number, name, (span[0], span[1]), (known[0], known[1])


def _is_given(entered: tuple[Event, ...], loader: int, size: float) -> bool:
    """A model gets numbers as large: then the scale is judged as that of inputs."""
    given = [one for event in entered if event["loader"] == loader for one in event["tensors"]]
    sizes = (
        max(-one["min"], one["max"])
        for one in given
        if isinstance(one.get("min"), float) and isinstance(one.get("max"), float)
    )
    return any(size / 2 <= one <= 2 * size for one in sizes)


def _is_elsewhere(one: Event, other: Event) -> bool:
    low, high = sorted((one["std"], other["std"]))
    if high == 0.0:
        return False
    if abs(one["mean"] - other["mean"]) > OTHER_PLACE * high:
        return True
    return high > OTHER_SCALE * low and _are_rows_apart(one, other)


def _are_rows_apart(one: Event, other: Event) -> bool:
    """On another scale each row is, too: neighbours in a series differ less than rows of all of it."""
    rows = [row for event in (one, other) if isinstance(row := event.get("row_std"), float)]
    return len(rows) < 2 or max(rows) > OTHER_SCALE * min(rows)


def spoilt(trace: Trace) -> Iterator[Finding]:
    """Rows of NaN or inf are evaluated, where none is trained on: a model that can deal with them meets them there too."""
    ways = latest(trace, "rows", "role", "root", "loader")
    for rows in ways:
        trained = [way for way in ways if (way["role"], way["root"]) == ("train", rows["root"])]
        enough = sum(way["rows"] for way in trained) >= rows["rows"]
        if rows["role"] != "eval" or not rows["spoilt"] or any(way["spoilt"] for way in trained) or not enough:
            continue
        event = entrance_of(trace, rows)
        yield failure(
            event,
            f"{rows['spoilt']} of {rows['rows']} rows that are evaluated at {shown(event)} hold NaN or inf, and no row of training does: "
            "what is averaged over them is NaN as well; expected the same cleaning for both",
            "bad-data-values",
            measured={"nonfinite_rows": rows["spoilt"], "rows": rows["rows"]},
            next="look for missing values in the data of evaluation",
            claims=("look-at-data-first",),
        )


def single_class(trace: Trace) -> Iterator[Finding]:
    """Each batch holds examples of one class only."""
    counted = latest(trace, "label_counts", "fn", "site", "lib", "classes")
    calls_per_step = sum(event["calls"] for event in counted) / max(1, trace.steps)
    if len(trace.stepping) > 1 or calls_per_step > 1.5:
        return  # a discriminator sees one class at a time
    for labels in counted:
        several = len(labels["single_labels"]) > 1
        needed = SINGLE_CLASS_SHARE if several or labels["distinct"] == 1 else 1.0  # few of a batch may count
        if labels["batches"] < SINGLE_CLASS_BATCHES or labels["classes"] < 2:
            continue
        if labels["single"] < needed * labels["batches"]:
            continue
        if not several and labels["given"] < labels["single"]:
            continue  # the program makes them itself: a contrastive loss asks for the positive in one column
        what, then = "all of one class", "count the labels of the data set"
        if several:
            what = "each of a single class: the data are sorted by label and not shuffled"
            then = "pass shuffle=True to the loader, or shuffle the list of examples once"
        elif labels.get("ignored"):
            index, count = labels["ignored"][0]
            what = f"all of one class but for {count} labels {index}, which ignore_index={index} leaves out"
            then = f"leave ignore_index out where {index} is a class like any other"
        yield failure(
            labels,
            f"the labels at {shown(labels)} are {what}, in {labels['single']} of {labels['batches']} batches of {labels['batch']}; expected a "
            f"mixture of the {labels['classes']} classes",
            "too-little-or-unbalanced-data",
            measured={"batches": labels["batches"], "classes": labels["classes"], "distinct": labels["distinct"]},
            next=then,
            claims=("class-imbalance-accuracy",),
        )  # fmt: skip


def constant_targets(trace: Trace) -> Iterator[Finding]:
    """The loader's targets are one value, in every batch. Not where another line has the other class: then they are made, for real and for
    generated examples, and the labels of a folder of pictures are alike by chance.
    """
    told = latest(trace, "targets", "fn", "site", "lib")
    for targets in told:
        if (
            targets["fn"] in BINARY
            and len({value for one in told if one["fn"] in BINARY for value in one["values"]}) > 1
        ):
            continue
        if targets["read"] < SINGLE_CLASS_BATCHES or len(targets["values"]) != 1:
            continue
        if targets["given"] < targets["read"]:
            if targets["ends"] >= targets["read"]:
                yield _constant_end(targets)
            continue
        yield failure(
            targets,
            f"the targets of {targets['fn']} at {shown(targets)} are {targets['values'][0]:g} throughout, in all {targets['read']} "
            "batches read; expected targets that differ",
            "too-little-or-unbalanced-data",
            measured={"batches": targets["read"], "value": targets["values"][0]},
            next="print the targets of the data set before and after their preparation",
        )


def _constant_end(targets: Event) -> Finding:
    """What is compared may as well be made: zeros, to which something is to be held."""
    return failure(
        targets,
        f"the targets of {targets['fn']} at {shown(targets)} are {targets['values'][0]:g} in all {targets['read']} batches read, as is the first or the last "
        "place of a tensor of the loader that no model gets whole: are they cut from it, and were they to differ?",
        "too-little-or-unbalanced-data",
        severity="note",
        confidence="low",
        measured={"batches": targets["read"], "value": targets["values"][0]},
        next="print the batch beside the targets: is the window shifted by one, so that its end is filled up?",
    )


def one_class_made(trace: Trace) -> Iterator[Finding]:
    """Every loss that is trained on tells two classes apart, and the program itself makes targets of one class for all."""
    told = [one for one in latest(trace, "targets", "fn", "site", "lib") if one["fn"] in BINARY]
    values = {value for one in told for value in one["values"]}
    read = sum(one["read"] for one in told)
    if len(values) != 1 or not values <= {0.0, 1.0} or read < SINGLE_CLASS_BATCHES or not _only_binary(trace):
        return
    if any(one["given"] or one["constant"] < one["read"] for one in told):
        return  # of the loader's targets constant_targets speaks
    (value,) = values
    names, places = " and ".join(sorted({one["fn"] for one in told})), ", ".join(shown(one) for one in told)
    yield failure(
        told[0],
        f"the targets of {names} at {places} are {value:g} in all {read} calls read, and nothing else is trained on: a model that always "
        f"says {value:g} is right; expected targets of both classes, as 1 for real and 0 for generated examples",
        "bad-data-values",
        measured={"calls": read, "value": value},
        next="print the targets where they are made: one of the terms should ask for the other class",
    )


def _only_binary(trace: Trace) -> bool:
    """Each backward starts from the sum, or the mean, of calls of these losses."""
    losses: list[Event] = []
    judged = 0
    for op in trace.ops("loss", "backward"):
        if op["op"] == "loss":
            losses += [op] if op["grad"] else []
            continue
        numbers = [one["value"] for one in losses]
        if any(one["fn"] not in BINARY for one in losses) or not _is_made_of(op["value"], numbers):
            return False
        losses, judged = [], judged + 1
    return judged >= SINGLE_CLASS_BATCHES


def _is_made_of(value: object, numbers: list[object]) -> bool:
    floats = [one for one in numbers if isinstance(one, float)]
    if not floats or len(floats) < len(numbers) or not isinstance(value, float):
        return False
    return any(math.isclose(value, one, rel_tol=SAME) for one in (math.fsum(floats), math.fsum(floats) / len(floats)))
