"""Values that no correct loss has, signs that are flipped, and terms without a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import NEVER_NEGATIVE, TOLERANCE, failure, numbers_of, span

SAME_FACTOR = 1e-3  # relative spread between steps of what is constant
NEEDED_TO_STAND = 30  # steps
ROUNDING = 1e-6  # of the loss
NEEDED_TO_FALL = 30  # steps before a sinking loss is judged
FAR_BELOW = 10.0  # times the first magnitude
BEYOND = 1e4  # times the first magnitude, below zero: no log-likelihood of a batch falls so far
LARGE_NEGATIVE = 1.0  # a first loss below its negative was likely a positive one that lost its sign


def below_bound(call: Event) -> Finding | None:
    value = call["value"]
    if call["fn"] not in NEVER_NEGATIVE or not isinstance(value, float) or value >= -TOLERANCE:
        return None
    if call["fn"] == "cross_entropy" and call.get("weighted"):
        return None  # negative class weights are unusual but legal
    target = call.get("target", {})
    return failure(
        call,
        f"{call['fn']} at {shown(call)} is {value:.4g}, below its lower bound 0: input in [{span(call)}], target in "
        f"[{target.get('min')}, {target.get('max')}]; expected a value of at least 0",
        "loss-below-bound",
        measured=numbers_of(call),
        next="check the sign, and the ranges of input and target, on that line",
    )


def negated(trace: Trace, calls: list[Event]) -> Iterator[Finding]:
    """One non-negative loss for each backward, which starts from its negative, up to one constant factor."""
    by_step: dict[int, list[Event]] = {}
    for op in trace.ops("loss", "backward"):
        by_step.setdefault(op["n"], []).append(op)
    flipped: list[tuple[Event, Event, float]] = []
    for ops in by_step.values():
        losses = [op for op in ops if op["op"] == "loss" and op["grad"] and op["fn"] in NEVER_NEGATIVE]
        backwards = [op for op in ops if op["op"] == "backward"]
        if len(losses) != len(backwards) or not losses:
            return
        for loss, backward in zip(losses, backwards, strict=True):
            if not _is_positive(loss["value"]) or not isinstance(backward["value"], float):
                return
            flipped.append((loss, backward, backward["value"] / loss["value"]))
    factors = [factor for _, _, factor in flipped]
    if len(flipped) >= 2 and max(factors) < 0 and max(factors) - min(factors) <= SAME_FACTOR * -min(factors):
        loss, backward, _ = flipped[0]
        yield failure(
            {**backward, "fn": "backward"},
            f"backward at {shown(backward)} starts from {backward['value']:.4g}, the negative of {loss['fn']} "
            f"({loss['value']:.4g}) at {shown(loss)}"
            + ("" if _close(factors[0], -1.0) else f" times {-factors[0]:.3g}")
            + ": each step makes the loss larger; expected its own sign",
            "loss-below-bound",
            severity="warning",
            measured={"loss": loss["value"], "backward": backward["value"]},
            next="remove the minus sign, or pass maximize=True if a larger value is wanted",
        )


def negated_sum(trace: Trace, graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """Each backward starts from a negative sum in which every loss of torch that cannot be negative has a minus sign."""
    values = [value for tick in trace.events("tick") for value in tick["losses"]]
    if not graphs or len(trace.stepping) != 1 or len(values) < 2 or any(graph.get("signs") != [-1] for graph in graphs):
        return
    if all(isinstance(value, float) and value < 0 for value in values):
        yield failure(
            {**graphs[0], "fn": "backward"},
            f"backward at {shown(graphs[0])} starts from {values[0]:.4g}: the losses of torch in its sum cannot be negative and enter it with a minus "
            "sign, so each step makes them larger; expected them with a plus sign",
            "loss-below-bound",
            severity="warning",
            confidence="medium",
            measured={"backward": values[0], "last": values[-1]},
            next="remove the minus sign, or pass maximize=True if larger losses are wanted",
        )


def _is_positive(value: object) -> bool:
    return isinstance(value, float) and value > 0


def _close(a: object, b: float) -> bool:
    return isinstance(a, float) and abs(a - b) <= 1e-5 * max(1.0, abs(b))


def cut_terms(trace: Trace) -> Iterator[Finding]:
    """A term was computed with a graph, left it, and a number without one is added to the loss."""
    for cut in {event["site"]: event for event in trace.events("term_cut")}.values():
        yield failure(
            {**cut, "fn": "the term leaves its graph"},
            f"a term computed with gradients leaves its graph at {cut['site']}, before a backward that does not go through it, and a "
            f"number without a graph is added to the loss{' at ' + cut['added'] if cut['added'] else ''}: this term trains nothing; "
            "expected it to stay a tensor with its graph",
            "loss-cut-from-graph",
            severity="warning",
            confidence="medium",
            next="add the tensor itself, and take .item() or .detach() of it for the log only",
            claims=("detach-breaks-learning",),
        )


def falls_without_bound(trace: Trace, graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """The value that backward starts from sinks ever faster, by far more than its first magnitude, or beyond all measure."""
    values = [fmean(tick["losses"]) for tick in trace.events("tick") if tick["losses"] and _numbers(tick["losses"])]
    if len(values) < NEEDED_TO_FALL or not graphs:
        return
    third = len(values) // 3
    middle, last = fmean(values[third : 2 * third]), fmean(values[-third:])
    first = fmean(values[:3])
    if first <= 0 and (-first < LARGE_NEGATIVE or len(trace.stepping) > 1):
        return  # policies and densities have losses around zero
    faster = (middle - last) >= (fmean(values[:third]) - middle)
    if first - last < (1 + FAR_BELOW) * abs(first) or not (faster or last < -BEYOND * max(1.0, abs(first))):
        return
    place_of = {"site": graphs[0]["combined"] or graphs[0]["site"], "fn": "the sum of the terms"}
    yield failure(
        place_of,
        f"the loss put together at {shown(place_of)} falls from {first:.4g} to {values[-1]:.4g} in {len(values)} steps"
        f"{' and ever faster' if faster else ''}: one of its terms has no lower bound, as with a wrong sign; expected it to level off",
        "loss-below-bound",
        severity="warning",
        confidence="medium",
        measured={"first": first, "last": values[-1], "steps": len(values)},
        next="print each term of the sum: the one that sinks has the wrong sign",
    )


def stands_still(trace: Trace, graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """The value that backward starts from is the same in every step, but for rounding, whatever is trained."""
    values = [fmean(tick["losses"]) for tick in trace.events("tick") if tick["losses"] and _numbers(tick["losses"])]
    if len(values) < NEEDED_TO_STAND or not graphs:
        return
    low, high = min(values), max(values)
    # terms that cancel each other; or a reward that is still to come, advantages whose mean is 0
    is_nothing = low <= 0 <= high and high - low < ROUNDING
    if high - low > ROUNDING * abs(fmean(values)) and not is_nothing:
        return
    place_of = {"site": graphs[0]["site"], "fn": "the loss"}
    yield failure(
        place_of,
        f"the loss that {shown(place_of)} starts from is {values[0]:.6g} in all {len(values)} steps seen, to six digits: it does not depend on what is "
        "trained; expected it to move with the batches and the weights",
        "loss-cut-from-graph",
        severity="note" if is_nothing else "warning",
        confidence="low" if is_nothing else "medium",
        measured={"value": values[0], "steps": len(values)},
        next="follow the model's output into the loss: a sum or softmax over the wrong axis, or a term that cancels, leaves nothing of it",
    )


def _numbers(values: list[object]) -> bool:
    return all(isinstance(value, float) for value in values)
