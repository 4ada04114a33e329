"""What enters a loss: logits, probabilities, targets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._loss_shapes import ELEMENTWISE
from ._loss_words import TOLERANCE, failure, made_at, numbers_of, operation, span

BINARY = frozenset({"binary_cross_entropy", "binary_cross_entropy_with_logits"})
WANT_LOGARITHMS = frozenset({"nll_loss", "ctc_loss"})
NEEDED_CALLS = 3
DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


def wrong_input(call: Event) -> Finding | None:
    fn, holds, producer = call["fn"], call.get("holds"), call.get("producer") or {}
    made_by = operation(producer)
    if fn == "cross_entropy" and _classes(call) == 1:
        return _one_class(call)
    if fn == "cross_entropy" and holds == "probabilities":
        return _double_softmax(call, producer)
    if fn == "binary_cross_entropy_with_logits" and holds in ("unit-interval", "probabilities"):
        return _double_sigmoid(call, producer) if made_by in ("sigmoid", "softmax") else None
    if fn in ("cross_entropy", "binary_cross_entropy_with_logits") and made_by == "relu":
        return _rectified(call, producer)
    if fn in WANT_LOGARITHMS and holds in ("probabilities", "unbounded") and call["input"]["max"] > TOLERANCE:
        got = "probabilities" if holds == "probabilities" else "unnormalised values"
        instead = (
            "use cross_entropy on logits, or log_softmax before nll_loss"
            if fn == "nll_loss"
            else f"log_softmax before {fn}"
        )
        return failure(call, f"{fn} at {shown(call)} gets {got}{made_at(producer)} in [{span(call)}]; "
                     "expected log-probabilities (log_softmax), all at most 0", "double-normalised-loss",
                     measured=numbers_of(call), next=instead, claims=("nll-wants-log-probs",))  # fmt: skip
    if fn == "kl_div" and holds == "probabilities":
        return failure(call, f"kl_div at {shown(call)} gets probabilities{made_at(producer)} as its first argument; "
                     "expected log-probabilities there", "double-normalised-loss", measured=numbers_of(call),
                     next="pass log_softmax(...) as the first argument", claims=("kl-argument-order",))  # fmt: skip
    return None


def against_itself(calls: Iterable[Event]) -> Iterator[Finding]:
    """A distance that is exactly 0 from its first call on, between two views of one tensor that is not all one value. Between two
    tensors a copy of the model may not have parted from it yet.
    """
    by_place: dict[object, list[Event]] = {}
    for call in calls:
        if call["fn"] in DISTANCES:
            by_place.setdefault((call["fn"], call["site"]), []).append(call)
    for given in by_place.values():
        first = given[0]
        if len({one["n"] for one in given}) >= NEEDED_CALLS and all(
            one.get("one_storage") and one["value"] == 0.0 and (one["input"].get("std") or 0) > 0 for one in given
        ):
            yield failure(
                first,
                f"{first['fn']} at {shown(first)} is exactly 0 in each of the first {len(given)} steps: its targets are its input, cut out of the same "
                "tensor, so it teaches nothing; expected targets of the data",
                "wrong-loss-choice",
                severity="warning",
                measured=numbers_of(first),
                next="look at where the targets of this loss come from: is a prediction cut where the labels were meant?",
            )


def _classes(call: Event) -> int:
    shape = call["input"]["shape"]
    return int(shape[1 if len(shape) > 1 else 0]) if shape else 0


def _one_class(call: Event) -> Finding:
    return failure(
        call,
        f"cross_entropy at {shown(call)} gets scores of shape {tuple(call['input']['shape'])}: one class, whose softmax is 1 whatever the "
        "model says, so the loss and its gradient are zero; expected a score for each class",
        "wrong-loss-choice",
        measured={"classes": 1},
        next="give the last layer one output for each class, or use binary_cross_entropy_with_logits for a single yes or no",
    )


def _double_softmax(call: Event, producer: Event) -> Finding:
    classes = int(call.get("labels", {}).get("classes") or _classes(call))
    floor = math.log(1 + (classes - 1) / math.e)
    proven = operation(producer) == "softmax"
    return failure(
        call,
        f"cross_entropy at {shown(call)} gets probabilities{made_at(producer)}: every row sums to 1, values in "
        f"[{span(call)}]; expected unnormalised logits. With {classes} classes this loss cannot fall below {floor:.3f}",
        "double-normalised-loss",
        severity="error" if proven else "warning",
        confidence="high" if proven else "medium",
        measured={**numbers_of(call), "classes": classes, "reachable_floor": round(floor, 4)},
        next="return logits from the model (softmax only for metrics) and overfit one batch: the loss then goes below the floor",
        claims=("softmax-before-ce", "softmax-before-ce-floor"),
    )


def _double_sigmoid(call: Event, producer: Event) -> Finding:
    return failure(
        call,
        f"binary_cross_entropy_with_logits at {shown(call)} gets values in [{span(call)}]{made_at(producer)}; "
        f"expected logits: it applies a sigmoid itself, so a prediction never leaves [0.5, 0.73]",
        "double-normalised-loss",
        measured=numbers_of(call),
        next="drop the sigmoid before the loss (keep it for metrics) and run this probe again",
        claims=("bce-with-logits",),
    )


def _rectified(call: Event, producer: Event) -> Finding:
    return failure(
        call,
        f"{call['fn']} at {shown(call)} gets numbers that are never negative{made_at(producer)}, in [{span(call)}]; expected logits, which "
        "have both signs",
        "wrong-loss-choice",
        measured=numbers_of(call),
        next="hand the output of the last layer to the loss as it is",
        claims=("relu-before-loss",),
    )


def target_out_of_range(call: Event) -> Finding | None:
    """A target of binary cross-entropy that is no probability."""
    target = call.get("target", {})
    low, high = target.get("min"), target.get("max")
    if call["fn"] not in BINARY or low is None or (low >= -TOLERANCE and high <= 1 + TOLERANCE):
        return None
    if call.get("reduction") == "none" or call.get("weighted"):
        return None  # a mask may take out the labels that are missing (-1)
    return failure(
        call,
        f"{call['fn']} at {shown(call)} gets targets in [{low:.3g}, {high:.3g}]; expected probabilities in [0, 1]: outside of them "
        "it has no lower bound",
        "loss-below-bound",
        measured={**numbers_of(call), "target_min": low, "target_max": high},
        next="map the targets to 0 and 1 (for labels of -1 and 1: (y + 1) / 2)",
    )


def blank_in_target(call: Event) -> Finding | None:
    """A label of ctc_loss that is its blank stands for no label at all."""
    blanks, labels = call.get("blanks", (0, 0))
    if not blanks:
        return None
    return failure(
        call,
        f"{blanks} of {labels} labels that ctc_loss at {shown(call)} gets are its blank, which is read as no label: no decoding "
        "gives it back; expected labels that leave the blank free",
        "bad-data-values",
        severity="warning",
        measured={**numbers_of(call), "blanks": blanks, "labels": labels},
        next="number the labels so that none is the blank, or pass the blank's own number to ctc_loss; look at target_lengths too",
    )


def squashed_twice(graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """What is squashed twice on its way to the loss keeps to a small part of the range."""
    found = {event["site"]: event for graph in graphs for event in graph["twice"]}
    placed = {operation(event) for site, event in found.items() if site}
    for twice in found.values():
        name = operation(twice)
        if not twice["site"] and name in placed:
            continue  # the same in a later graph, of which no lines are known
        yield failure(
            {**twice, "fn": name},
            f"{name} at {shown(twice)} is given what another {name} has made, on the way to the loss: its values keep to a small part of "
            f"[0, 1]; expected one {name}",
            "double-normalised-loss",
            next="drop one of the two, and look which part of the program expects probabilities",
            claims=("softmax-before-ce",) if name == "softmax" else (),
        )


def _by_site(graphs: tuple[Event, ...], name: str) -> dict[str | None, Event]:
    """The first graph of each place that is told under `name`; None is the same in a later graph, of which no lines are known."""
    found = {site: graph for graph in reversed(graphs) for site in graph.get(name, ())}
    return {site: graph for site, graph in found.items() if site or not any(found)}


def softmax_over_one(graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """It is 1, and nothing learns through it. Of several lengths in turn one may be 1: then it is so in some graphs alone."""
    is_always = all(graph.get("over_one") for graph in graphs)
    for site, graph in _by_site(graphs, "over_one").items() if is_always else ():
        yield failure(
            {**graph, "site": site or graph["site"], "fn": "softmax"},
            f"a softmax at {site or shown(graph)} runs over an axis of length 1, so it gives 1 whatever it gets, and what it gets never learns "
            "from it; is another axis meant, or is there one thing to choose from in this run?",
            "wrong-axis-or-mask",
            severity="note",
            confidence="medium",
            next="print the shape on that line, and name the axis that is to sum to 1",
        )


def extremes_of_examples(graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """The best or worst of a batch in each column is all that learns; of a table of examples and candidates the other axis is meant."""
    for site, graph in _by_site(graphs, "over_rows").items():
        yield failure(
            {**graph, "site": site or graph["site"], "fn": "the maximum"},
            f"on its way to the loss a maximum or minimum is taken over the axis of the examples at {site or shown(graph)}, not over the other one: of "
            "each batch only the chosen examples learn; is the axis of the candidates meant?",
            "wrong-axis-or-mask",
            severity="note",
            confidence="medium",
            next="print the shape on that line, and take the axis along which each example has its own candidates",
        )


def unlogged(graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """Minus the sum of targets times probabilities: a cross entropy, but for its logarithm. A reward may be meant."""
    for site, graph in _by_site(graphs, "unlogged").items():
        yield failure(
            {**graph, "site": site or graph["site"], "fn": "the product"},
            f"the loss falls with the probabilities of a softmax that the targets pick or weigh at {site or shown(graph)}, and no logarithm is "
            "between: its gradient is next to nothing where the model is surely wrong; is log_softmax meant?",
            "wrong-loss-choice",
            severity="note",
            confidence="medium",
            next="use log_softmax for softmax, or cross_entropy(logits, targets), which takes distributions as well",
        )


def constant_target(trace: Trace, calls: list[Event]) -> Iterator[Finding]:
    """The one regression of the program is given the same target everywhere. Zero is left alone: a residual has it."""
    targets = [call.get("target", {}) for call in calls]
    values = {target.get(end) for target in targets for end in ("min", "max")}
    sites = {call["site"] for call in calls}
    if len(calls) < NEEDED_CALLS or len(sites) != 1 or len(values) != 1 or len(trace.stepping) != 1:
        return
    value = values.pop()
    if calls[0]["fn"] in ELEMENTWISE and isinstance(value, float) and value and math.prod(targets[0]["shape"]) > 1:
        yield failure(
            calls[0],
            f"all targets of {calls[0]['fn']} at {shown(calls[0])} are {value:.4g}, in {len(calls)} calls of {math.prod(targets[0]['shape'])}; "
            "expected targets that differ between examples",
            "bad-data-values",
            severity="warning",
            confidence="medium",
            measured={"target": value, "calls": len(calls)},
            next="print ten targets as the data set returns them, and follow them to this line",
        )
