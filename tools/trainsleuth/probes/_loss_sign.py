"""Values that no correct loss has, signs that are flipped, and terms without a gradient."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import NEVER_NEGATIVE, TOLERANCE, failure, numbers_of, span

SAME_FACTOR = 1e-3  # relative spread between steps of what is constant


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


def constant_penalties(trace: Trace) -> Iterator[Finding]:
    """One number that is made of gradients without a graph is added to the loss: a penalty that punishes nothing."""
    for event in {event["site"]: event for event in trace.events("gradient_term")}.values():
        yield failure(
            {**event, "fn": "autograd.grad"},
            f"the gradients that autograd.grad gives at {event['site']} have no graph, and a number made of them is added to the loss"
            f"{' at ' + event['added'] if event['added'] else ''}: it is a constant there and trains nothing; expected create_graph=True",
            "loss-cut-from-graph",
            severity="warning",
            next="pass create_graph=True to autograd.grad on that line",
            claims=("detach-breaks-learning",),
        )


def compared_terms(trace: Trace) -> Iterator[Finding]:
    """One number that is made of comparisons of an output is added to the loss: it counts, and nothing learns from it."""
    for event in {event["site"]: event for event in trace.events("compared_term")}.values():
        yield failure(
            {**event, "fn": "the comparison"},
            f"a number that is made of a comparison at {event['site']} is added to the loss{' at ' + event['added'] if event['added'] else ''}: what is compared has no "
            "gradient, so this term trains nothing; expected the values themselves, as probabilities in place of a threshold",
            "loss-cut-from-graph",
            severity="warning",
            confidence="medium",
            next="take the outputs as they are in the loss, and the threshold for the measure only",
            claims=("detach-breaks-learning",),
        )
