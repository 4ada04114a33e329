"""Rule of loss_contract: the weights of the classes rise with how often a class comes, so that the rare ones count least."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import failure

NEEDED_CALLS = 5
NEEDED_LABELS = 100
APART = 1.5  # between the rarest and the commonest class, and between their weights
ORDERED = 0.9  # rank correlation
LIKE = 0.2  # of the logarithm: how far apart the weights divided by the counts may be
SHOWN = 4


def weighs_the_common(trace: Trace) -> Iterator[Finding]:
    """Proportional to the counts they are counts that were not inverted; where they only rise with them somebody may mean it so."""
    for event in trace.events("class_weights"):
        if event["changed"] or event["calls"] < NEEDED_CALLS or sum(map(sum, event["counts"])) < NEEDED_LABELS:
            continue
        groups = [_kept(weights, counts) for weights, counts in zip(event["weights"], event["counts"], strict=True)]
        ways = {way for group in groups if (way := _way(group))}
        if ways and ways <= {"rises", "counts"}:
            yield _finding(
                event, max(groups, key=lambda group: len(group)), is_count="counts" in ways and not event["drawn"]
            )


def _kept(weights: Sequence[Any], counts: Sequence[int]) -> list[tuple[int, float, int]]:
    """(class, its weight, its count) of the classes that were seen and that count at all."""
    rows = zip(range(len(counts)), weights, counts, strict=True)
    return [(number, w, c) for number, w, c in rows if c and isinstance(w, float) and w > 0]


def _way(group: Sequence[tuple[int, float, int]]) -> str:
    """ "counts" where weights are proportional to counts, "rises" where they rise with them, "falls" otherwise; "" where nothing shows."""
    weights, counts = ([row[part] for row in group] for part in (1, 2))
    if len(group) < 2 or max(counts) < APART * min(counts) or max(weights) < APART * min(weights):
        return ""
    if _correlation(_ranks(weights), _ranks(counts)) < ORDERED:
        return "falls"
    factors = [math.log(w / c) for w, c in zip(weights, counts, strict=True)]
    is_set_by_hand = all(float(f"{weight / min(weights):.2g}") == round(weight / min(weights), 6) for weight in weights)
    return "counts" if max(factors) - min(factors) < LIKE and not is_set_by_hand else "rises"


def _ranks(values: Sequence[float]) -> list[float]:
    """Equal values share the middle of their ranks."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    middle = [sum(one) / len(one) for one in (first, second)]
    apart = [(a - middle[0], b - middle[1]) for a, b in zip(first, second, strict=True)]
    spread = math.sqrt(sum(a * a for a, _ in apart) * sum(b * b for _, b in apart))
    return sum(a * b for a, b in apart) / spread if spread else 0.0


def _finding(event: Event, group: Sequence[tuple[int, float, int]], is_count: bool) -> Finding:
    by_count = sorted(group, key=lambda row: -row[2])
    rows = by_count if len(group) <= SHOWN else [*by_count[: SHOWN // 2], *by_count[-SHOWN // 2 :]]
    told = ", ".join(f"{number} comes {count:,} times and weighs {weight:.3g}" for number, weight, count in rows)
    says = "are in proportion to how often the classes come" if is_count else "rise with how often a class comes"
    asks = (
        "expected rare classes to weigh more, as with the inverse"
        if is_count
        else "is the common class meant to count most?"
    )
    rise = f"the weights of {event['fn']} at {shown(event)} {says} (class {told})"
    return failure(
        event,
        f"{rise}; {asks}" if is_count else f"{rise}. {asks[0].upper()}{asks[1:]}",
        "another-loss-fault",
        severity="warning" if is_count else "note",
        confidence="medium" if is_count else "low",
        measured={"commonest": rows[0][1], "rarest": rows[-1][1]},
        next="print the weights beside the counts of the classes: expected total / (classes * count), or negatives / positives for pos_weight",
    )
