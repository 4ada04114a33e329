"""The first value of a loss against what chance gives."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import failure

FAR_ABOVE_CHANCE = 1.5  # times chance, plus one nat: default initialisations start 0.4 to 4 % above it
SHARED = 0.1  # of the variance of the scores lies between the rows: they are nearly one
FEW = 8  # classes: of more, one vector of scores shows their scale by itself
USUAL_GAIN = 3.0  # std x sqrt(fan in): about 0.6 by torch's default, 1.4 by He; beyond it outputs grow with depth


def far_above_chance(trace: Trace, calls: list[Event]) -> Iterator[Finding]:
    first = next((call for call in calls if chance_of(call) is not None), None)
    if first is None or first["n"] > 0:
        return
    chance, value = chance_of(first), per_label(first)
    assert chance is not None
    if value is not None and value > FAR_ABOVE_CHANCE * chance + 1.0:
        spread = first["input"].get("std", 0.0)
        large = _largest_scale(trace)
        source = ""
        if large:
            source = f"; {large['name']} has a standard deviation of {large['std']:.3g} over {large['fan_in']} inputs"
            source += f", set at {large['site']}"
        single, scaled = _one_draw(first), _scaled_by_hand(first)
        yield failure(
            {**first, "site": large["site"], "fn": "sets the scale"} if large else first,
            f"the first loss at {shown(first)} is {value:.3g} per label where chance over {first['labels']['classes']} "
            f"classes gives {chance:.3g}: the model starts confidently wrong, its outputs have a standard deviation of "
            f"{spread:.3g}{source}; expected a first loss near chance"
            + (f". {single}, so these few scores are one draw and may be chance" if single else "")
            + (
                f". The scores are multiplied at {scaled}, as cosines are that a margin or a temperature spreads: is it meant so large?"
                if scaled
                else ""
            ),
            "bad-initialisation-scale",
            severity="note" if single or scaled else "warning",
            confidence="low" if single or scaled else "medium",
            measured={"first_loss": value, "chance": round(chance, 4), "output_std": spread},
            next="look at the scale of the inputs and of the last layer's initialisation",
            claims=("init-loss-at-chance",),
        )


def _one_draw(call: Event) -> str:
    """Why the value stands for one vector of few scores: all rows share it, as those of a head that reads the same token
    everywhere, or are asked for the same one of them.
    """
    apart, labels = call.get("apart"), call["labels"]
    if labels["classes"] > FEW:
        return ""
    if isinstance(apart, float) and apart < SHARED:
        return "All rows have nearly the same scores"
    return "All labels that count are of one class" if labels.get("distinct") == 1 else ""


def _scaled_by_hand(call: Event) -> str:
    """Where the scores get their size by a factor, right before the loss; "" where a layer gives it to them."""
    made = call.get("producer") or {}
    return str(made.get("site") or "") if made.get("op") in ("MulBackward0", "DivBackward0") else ""


def _largest_scale(trace: Trace) -> Event | None:
    """The weight that was set larger than any usual initialisation does, with the line that did it."""
    rows = [row for event in trace.events("scales") for row in event["largest"] if row["site"]]
    largest = max(rows, key=lambda row: float(row["gain"]), default=None)
    return largest if largest is not None and largest["gain"] > USUAL_GAIN else None


def chance_of(call: Event) -> float | None:
    """ln C, for the mean or the sum over hard labels."""
    labels = call.get("labels")
    if call["fn"] not in ("cross_entropy", "nll_loss") or not labels or call.get("weighted"):
        return None
    if call.get("reduction") not in ("mean", "sum") or call.get("holds") == "probabilities" or labels["classes"] < 2:
        return None
    return math.log(labels["classes"])


def per_label(call: Event) -> float | None:
    """The loss of one label: frameworks that normalise later call the loss with a sum."""
    value = call["value"]
    if not isinstance(value, float) or not call["labels"]["kept"]:
        return None
    return value / call["labels"]["kept"] if call["reduction"] == "sum" else value
