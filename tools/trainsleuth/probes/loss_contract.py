"""Does the loss get what it expects, and is its first value what chance gives?

Reads what enters each loss function of torch.nn.functional (range, whether rows are probabilities, which
operation made them, shapes) and the graph of the first step for losses written by hand.

Fails on: probabilities or log-probabilities where logits belong, and the reverse; values squashed twice; shapes
that broadcast to an outer product; a loss below its mathematical lower bound; targets that are no probabilities, or
one constant; a first loss far above chance; a loss that is negated before backward, or sinks without bound; a term
of the loss that lost its graph.
A pass rules these out for the calls seen. A plausible first loss does not prove that labels are right.
Cost: the first three calls of each loss. Cannot see: losses written by hand, other than their shapes and sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

from trainsleuth.finding import Finding, Link, Number, Severity
from trainsleuth.trace import Event, Trace, place, shown

EXPERIMENT = "observe"
# Losses of torch that cannot be negative, whatever the target, as long as inputs obey their contract.
NEVER_NEGATIVE = frozenset({
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "hinge_embedding_loss", "huber_loss", "l1_loss", "margin_ranking_loss",
    "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "nll_loss", "smooth_l1_loss", "soft_margin_loss",
    "triplet_margin_loss",
})  # fmt: skip
BINARY = frozenset({"binary_cross_entropy", "binary_cross_entropy_with_logits"})
ELEMENTWISE = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss"})
FAR_ABOVE_CHANCE = 1.5  # times chance, plus one nat: default initialisations start 0.4 to 4 % above it
TOLERANCE = 1e-4
NEEDED_CALLS = 3
SAME_FACTOR = 1e-3  # relative spread between steps of what is constant
USUAL_GAIN = 3.0  # std x sqrt(fan in): about 0.6 by torch's default, 1.4 by He; beyond it outputs grow with depth
NEEDED_TO_FALL = 30  # steps before a sinking loss is judged
FAR_BELOW = 10.0  # times the first magnitude
LARGE_NEGATIVE = 1.0  # a first loss below its negative was likely a positive one that lost its sign


def probe(trace: Trace) -> Iterator[Finding]:
    calls = [call for call in trace.events("loss") if call["training"]]
    graphs = trace.events("graph")
    rules: tuple[Callable[[Event], Finding | None], ...] = (
        _wrong_input,
        _target_out_of_range,
        _below_bound,
        _elementwise_broadcast,
    )
    found: dict[tuple[str, object], Finding] = {}
    for call in calls:
        for rule in rules:
            finding = rule(call)
            if finding is not None:
                found.setdefault((rule.__name__, call["site"]), finding)
                break
    failures = list(found.values()) + list(_outer_products(graphs))
    failures += list(_negated(trace, calls)) or list(_negated_sum(trace, graphs))
    failures += _squashed_twice(graphs)
    failures += [*_constant_target(trace, calls), *_cut_terms(trace)]
    if not failures:
        failures += [*_far_above_chance(trace, calls), *_falls_without_bound(trace, graphs)]
    yield from failures
    if calls and not [f for f in failures if f.is_alarm]:
        yield from _passes(calls)
    elif not calls and not failures:
        yield _nothing_seen(trace, graphs)


def _fail(call: Event, message: str, suspect: str, severity: Severity = "error", **more: Any) -> Finding:
    path, line = place(call.get("site"))
    producer = call.get("producer") or {}
    chain = []
    made_path, made_line = place(producer.get("site"))
    if made_path and made_line:
        chain.append(Link(made_path, made_line, f"makes what enters the loss ({_op(producer)})"))
    if path and line:
        chain.append(Link(path, line, str(call.get("fn", "the loss"))))
    more.setdefault("confidence", "high")
    return Finding(by="probe:loss_contract", outcome="fail", severity=severity, family="loss", message=message,
                   path=path, line=line, chain=tuple(chain), suspects=(suspect,), **more)  # fmt: skip


def _op(producer: Event) -> str:
    """ "SoftmaxBackward0" as the operation that a reader knows: "softmax"."""
    name = str(producer.get("op", "")).split("Backward")[0]
    return {"LogSoftmax": "log_softmax"}.get(name, name.lower())


def _at(producer: Event) -> str:
    return f" (made by {_op(producer)} at {producer['site']})" if producer.get("site") else ""


# -- what enters ---------------------------------------------------------------------------


def _wrong_input(call: Event) -> Finding | None:
    fn, holds, producer = call["fn"], call.get("holds"), call.get("producer") or {}
    made_by = _op(producer)
    if fn == "cross_entropy" and holds == "probabilities":
        return _double_softmax(call, producer)
    if fn == "binary_cross_entropy_with_logits" and holds in ("unit-interval", "probabilities"):
        return _double_sigmoid(call, producer) if made_by in ("sigmoid", "softmax") else None
    if fn == "nll_loss" and holds in ("probabilities", "unbounded") and call["input"]["max"] > TOLERANCE:
        got = "probabilities" if holds == "probabilities" else "unnormalised values"
        return _fail(call, f"nll_loss at {shown(call)} gets {got}{_at(producer)} in [{_range(call)}]; "
                     "expected log-probabilities (log_softmax), all at most 0", "double-normalised-loss",
                     measured=_measured(call), next="use cross_entropy on logits, or log_softmax before nll_loss",
                     claims=("nll-wants-log-probs",))  # fmt: skip
    if fn == "kl_div" and holds == "probabilities":
        return _fail(call, f"kl_div at {shown(call)} gets probabilities{_at(producer)} as its first argument; "
                     "expected log-probabilities there", "double-normalised-loss", measured=_measured(call),
                     next="pass log_softmax(...) as the first argument", claims=("kl-argument-order",))  # fmt: skip
    return None


def _double_softmax(call: Event, producer: Event) -> Finding:
    classes = int(
        call.get("labels", {}).get("classes") or call["input"]["shape"][1 if len(call["input"]["shape"]) > 1 else 0]
    )
    floor = math.log(1 + (classes - 1) / math.e)
    proven = _op(producer) == "softmax"
    return _fail(
        call,
        f"cross_entropy at {shown(call)} gets probabilities{_at(producer)}: every row sums to 1, values in "
        f"[{_range(call)}]; expected unnormalised logits. With {classes} classes this loss cannot fall below {floor:.3f}",
        "double-normalised-loss",
        severity="error" if proven else "warning",
        confidence="high" if proven else "medium",
        measured={**_measured(call), "classes": classes, "reachable_floor": round(floor, 4)},
        next="return logits from the model (softmax only for metrics) and overfit one batch: the loss then goes below the floor",
        claims=("softmax-before-ce", "softmax-before-ce-floor"),
    )


def _double_sigmoid(call: Event, producer: Event) -> Finding:
    return _fail(
        call,
        f"binary_cross_entropy_with_logits at {shown(call)} gets values in [{_range(call)}]{_at(producer)}; "
        f"expected logits: it applies a sigmoid itself, so a prediction never leaves [0.5, 0.73]",
        "double-normalised-loss",
        measured=_measured(call),
        next="drop the sigmoid before the loss (keep it for metrics) and run this probe again",
        claims=("bce-with-logits",),
    )


def _target_out_of_range(call: Event) -> Finding | None:
    """A target of binary cross-entropy that is no probability."""
    target = call.get("target", {})
    low, high = target.get("min"), target.get("max")
    if call["fn"] not in BINARY or low is None or (low >= -TOLERANCE and high <= 1 + TOLERANCE):
        return None
    if call.get("reduction") == "none" or call.get("weighted"):
        return None  # a mask may take out the labels that are missing (-1)
    return _fail(
        call,
        f"{call['fn']} at {shown(call)} gets targets in [{low:.3g}, {high:.3g}]; expected probabilities in [0, 1]: outside of them "
        "it has no lower bound",
        "loss-below-bound",
        measured={**_measured(call), "target_min": low, "target_max": high},
        next="map the targets to 0 and 1 (for labels of -1 and 1: (y + 1) / 2)",
    )


def _elementwise_broadcast(call: Event) -> Finding | None:
    if call["fn"] not in ELEMENTWISE or "target" not in call:
        return None
    given, target = call["input"]["shape"], call["target"]["shape"]
    if given == target or math.prod(given) == 1 or math.prod(target) == 1:
        return None
    result = _broadcast(given, target)
    if result is None or math.prod(result) <= max(math.prod(given), math.prod(target)):
        return None
    return _fail(
        call,
        f"{call['fn']} at {shown(call)} gets shapes {tuple(given)} and {tuple(target)}, which broadcast to "
        f"{tuple(result)}: every prediction is compared with every target; expected equal shapes",
        "broadcast-in-loss",
        measured={"compared": math.prod(result), "expected": max(math.prod(given), math.prod(target))},
        next="squeeze or unsqueeze one side so that both shapes are equal",
        claims=("shape-broadcast-loss",),
    )


def _broadcast(a: list[int], b: list[int]) -> list[int] | None:
    width = max(len(a), len(b))
    pairs = list(zip([1] * (width - len(a)) + a, [1] * (width - len(b)) + b, strict=True))
    if any(x != y and 1 not in (x, y) for x, y in pairs):
        return None
    return [max(pair) for pair in pairs]


def _outer_products(graphs: tuple[Event, ...]) -> Iterator[Finding]:
    seen = set()
    for graph in graphs:
        for outer in graph["outer"]:
            if outer["site"] in seen or outer["site"] is None:
                continue
            seen.add(outer["site"])
            n = outer["to"][0]
            yield _fail(
                outer,
                f"at {shown(outer)} an operand of shape {tuple(outer['from'])} broadcasts to {tuple(outer['to'])} on the way to "
                f"the loss: each of {n} predictions meets all {n} targets; expected elementwise {n} against {n}",
                "broadcast-in-loss",
                measured={"compared": n * n, "expected": n},
                next="print both shapes on that line; squeeze or unsqueeze one side",
                claims=("shape-broadcast-loss",),
            )


# -- its value -----------------------------------------------------------------------------


def _below_bound(call: Event) -> Finding | None:
    value = call["value"]
    if call["fn"] not in NEVER_NEGATIVE or not isinstance(value, float) or value >= -TOLERANCE:
        return None
    if call["fn"] == "cross_entropy" and call.get("weighted"):
        return None  # negative class weights are unusual but legal
    target = call.get("target", {})
    return _fail(
        call,
        f"{call['fn']} at {shown(call)} is {value:.4g}, below its lower bound 0: input in [{_range(call)}], target in "
        f"[{target.get('min')}, {target.get('max')}]; expected a value of at least 0",
        "loss-below-bound",
        measured=_measured(call),
        next="check the sign, and the ranges of input and target, on that line",
    )


def _negated(trace: Trace, calls: list[Event]) -> Iterator[Finding]:
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
        yield _fail(
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


def _negated_sum(trace: Trace, graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """Each backward starts from a negative sum in which every loss of torch that cannot be negative has a minus sign."""
    values = [value for tick in trace.events("tick") for value in tick["losses"]]
    if not graphs or len(trace.stepping) != 1 or len(values) < 2 or any(graph.get("signs") != [-1] for graph in graphs):
        return
    if all(isinstance(value, float) and value < 0 for value in values):
        yield _fail(
            {**graphs[0], "fn": "backward"},
            f"backward at {shown(graphs[0])} starts from {values[0]:.4g}: the losses of torch in its sum cannot be negative and enter it with a minus "
            "sign, so each step makes them larger; expected them with a plus sign",
            "loss-below-bound",
            severity="warning",
            confidence="medium",
            measured={"backward": values[0], "last": values[-1]},
            next="remove the minus sign, or pass maximize=True if larger losses are wanted",
        )


def _squashed_twice(graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """What is squashed twice on its way to the loss keeps to a small part of the range."""
    for twice in {event["site"]: event for graph in graphs for event in graph["twice"]}.values():
        name = _op(twice)
        yield _fail(
            {**twice, "fn": name},
            f"{name} at {shown(twice)} is given what another {name} has made, on the way to the loss: its values keep to a small part of "
            f"[0, 1]; expected one {name}",
            "double-normalised-loss",
            next="drop one of the two, and look which part of the program expects probabilities",
            claims=("softmax-before-ce",) if name == "softmax" else (),
        )


def _cut_terms(trace: Trace) -> Iterator[Finding]:
    """A term was computed with a graph, left it, and a number without one is added to the loss."""
    for cut in {event["site"]: event for event in trace.events("term_cut")}.values():
        yield _fail(
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


def _constant_target(trace: Trace, calls: list[Event]) -> Iterator[Finding]:
    """The one regression of the program is given the same target everywhere. Zero is left alone: a residual has it."""
    targets = [call.get("target", {}) for call in calls]
    values = {target.get(end) for target in targets for end in ("min", "max")}
    sites = {call["site"] for call in calls}
    if len(calls) < NEEDED_CALLS or len(sites) != 1 or len(values) != 1 or len(trace.stepping) != 1:
        return
    value = values.pop()
    if calls[0]["fn"] in ELEMENTWISE and isinstance(value, float) and value and math.prod(targets[0]["shape"]) > 1:
        yield _fail(
            calls[0],
            f"all targets of {calls[0]['fn']} at {shown(calls[0])} are {value:.4g}, in {len(calls)} calls of {math.prod(targets[0]['shape'])}; "
            "expected targets that differ between examples",
            "bad-data-values",
            severity="warning",
            confidence="medium",
            measured={"target": value, "calls": len(calls)},
            next="print ten targets as the data set returns them, and follow them to this line",
        )


def _is_positive(value: object) -> bool:
    return isinstance(value, float) and value > 0


def _close(a: object, b: float) -> bool:
    return isinstance(a, float) and abs(a - b) <= 1e-5 * max(1.0, abs(b))


def _falls_without_bound(trace: Trace, graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """The value that backward starts from sinks ever faster, by far more than its first magnitude."""
    values = [fmean(tick["losses"]) for tick in trace.events("tick") if tick["losses"] and _numbers(tick["losses"])]
    if len(values) < NEEDED_TO_FALL or not graphs:
        return
    third = len(values) // 3
    middle, last = fmean(values[third : 2 * third]), fmean(values[-third:])
    first = fmean(values[:3])
    if first <= 0 and (-first < LARGE_NEGATIVE or len(trace.stepping) > 1):
        return  # policies and densities have losses around zero
    if first - last < (1 + FAR_BELOW) * abs(first) or (middle - last) < (fmean(values[:third]) - middle):
        return
    place_of = {"site": graphs[0]["combined"] or graphs[0]["site"], "fn": "the sum of the terms"}
    yield _fail(
        place_of,
        f"the loss put together at {shown(place_of)} falls from {first:.4g} to {values[-1]:.4g} in {len(values)} steps and "
        "ever faster: one of its terms has no lower bound, as with a wrong sign; expected it to level off",
        "loss-below-bound",
        severity="warning",
        confidence="medium",
        measured={"first": first, "last": values[-1], "steps": len(values)},
        next="print each term of the sum: the one that sinks has the wrong sign",
    )


def _numbers(values: list[object]) -> bool:
    return all(isinstance(value, float) for value in values)


def _far_above_chance(trace: Trace, calls: list[Event]) -> Iterator[Finding]:
    first = next((call for call in calls if _chance(call) is not None), None)
    if first is None or first["n"] > 0:
        return
    chance, value = _chance(first), _per_label(first)
    assert chance is not None
    if value is not None and value > FAR_ABOVE_CHANCE * chance + 1.0:
        spread = first["input"].get("std", 0.0)
        large = _largest_scale(trace)
        source = ""
        if large:
            source = f"; {large['name']} has a standard deviation of {large['std']:.3g} over {large['fan_in']} inputs"
            source += f", set at {large['site']}"
        yield _fail(
            {**first, "site": large["site"], "fn": "sets the scale"} if large else first,
            f"the first loss at {shown(first)} is {value:.3g} per label where chance over {first['labels']['classes']} "
            f"classes gives {chance:.3g}: the model starts confidently wrong, its outputs have a standard deviation of "
            f"{spread:.3g}{source}; expected a first loss near chance",
            "bad-initialisation-scale",
            severity="warning",
            confidence="medium",
            measured={"first_loss": value, "chance": round(chance, 4), "output_std": spread},
            next="look at the scale of the inputs and of the last layer's initialisation",
            claims=("init-loss-at-chance",),
        )


def _largest_scale(trace: Trace) -> Event | None:
    """The weight that was set larger than any usual initialisation does, with the line that did it."""
    rows = [row for event in trace.events("scales") for row in event["largest"] if row["site"]]
    largest = max(rows, key=lambda row: float(row["gain"]), default=None)
    return largest if largest is not None and largest["gain"] > USUAL_GAIN else None


def _chance(call: Event) -> float | None:
    """ln C, for the mean or the sum over hard labels."""
    labels = call.get("labels")
    if call["fn"] not in ("cross_entropy", "nll_loss") or not labels or call.get("weighted"):
        return None
    if call.get("reduction") not in ("mean", "sum") or call.get("holds") == "probabilities" or labels["classes"] < 2:
        return None
    return math.log(labels["classes"])


def _per_label(call: Event) -> float | None:
    """The loss of one label: frameworks that normalise later call the loss with a sum."""
    value = call["value"]
    if not isinstance(value, float) or not call["labels"]["kept"]:
        return None
    return value / call["labels"]["kept"] if call["reduction"] == "sum" else value


# -- passes --------------------------------------------------------------------------------


def _passes(calls: list[Event]) -> Iterator[Finding]:
    told = set()
    for call in calls:
        if call["site"] in told:
            continue
        told.add(call["site"])
        path, line = place(call.get("site"))
        chance = _chance(call)
        value = call["value"] if chance is None else _per_label(call)
        against = f" per label, chance {chance:.3g}" if chance is not None else ""
        yield Finding(
            by="probe:loss_contract", outcome="pass", confidence="high", family="loss", path=path, line=line,
            message=f"{call['fn']} at {shown(call)} gets {_kind(call)} in [{_range(call)}]"
            f"{_at(call.get('producer') or {})}; first value {value if not isinstance(value, float) else f'{value:.4g}'}{against}",
            measured={**_measured(call), **({"chance": round(chance, 4)} if chance is not None else {})},
        )  # fmt: skip


def _nothing_seen(trace: Trace, graphs: tuple[Event, ...]) -> Finding:
    path, line = place(graphs[0]["site"]) if graphs else (None, None)
    if graphs:
        ops = ", ".join(graphs[0]["ops"][:4])
        shapes = "no outer product on its way" if graphs[0]["shapes_known"] else "shapes are not told by this torch"
        message = f"the loss is written by hand (last operations: {ops}): {shapes}, its inputs were not judged"
    else:
        message = "no loss function was called in training and no backward was seen"
    return Finding(by="probe:loss_contract", outcome="open", family="loss", path=path, line=line, message=message,
                   next="compare the loss of one batch with the value for a constant prediction by hand")  # fmt: skip


def _kind(call: Event) -> str:
    holds = str(call.get("holds", "values"))
    return holds if holds.endswith("probabilities") else "values"


def _range(call: Event) -> str:
    low, high = call["input"].get("min"), call["input"].get("max")
    return f"{low:.3g}, {high:.3g}" if isinstance(low, float) and isinstance(high, float) else "unreadable"


def _measured(call: Event) -> dict[str, Number]:
    facts = {
        "loss": call["value"],
        "input_min": call["input"].get("min"),
        "input_max": call["input"].get("max"),
    }
    return {name: value for name, value in facts.items() if value is not None}
