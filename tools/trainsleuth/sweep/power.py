"""How many runs a difference needs, and what many comparisons cost."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

ALPHA = 0.05
_ENOUGH = 0.8


def runs_needed(effect: float, groups: int, most: int = 10_000) -> int | None:
    """Runs per group that show a difference of `effect` standard deviations with a power of 80%.

    `groups` is 1 for pairs, 2 for two separate groups; None beyond `most`.
    """
    if _power(effect, most, groups) < _ENOUGH:
        return None
    return bisect_left(range(most), _ENOUGH, lo=2, key=lambda count: _power(effect, count, groups))


def holm(values: Sequence[float]) -> list[float]:
    """Holm's correction; nan stays nan and does not count as a test."""
    order = sorted((place for place, p in enumerate(values) if not math.isnan(p)), key=lambda place: values[place])
    told, least = [math.nan] * len(values), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, values[place] * (len(order) - rank)))
        told[place] = least
    return told


def _power(effect: float, count: int, groups: int) -> float:
    """Of a two-sided t test with `count` runs in each group, for a difference of `effect` standard deviations."""
    from scipy import stats

    freedom = groups * (count - 1)
    shift = effect * math.sqrt(count / groups)
    limit = stats.t.ppf(1 - ALPHA / 2, freedom)
    return float(stats.nct.sf(limit, freedom, shift) + stats.nct.cdf(-limit, freedom, shift))
