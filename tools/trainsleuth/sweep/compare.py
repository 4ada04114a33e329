"""Variants against a baseline, by t tests in pairs and across seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Literal

from trainsleuth.sweep.power import ALPHA, holm, runs_needed
from trainsleuth.sweep.runs import Group, SweepError

Verdict = Literal["better", "worse", "not separable", "too few runs"]


@dataclass(frozen=True)
class Comparison:
    """One variant against the baseline, in the direction in which more is better.

    `pairs` is the number of seeds that both have; `paired_p` is nan below three pairs, `cross_p` below two runs each.
    `p` is the one that counts, corrected for the number of variants by Holm's method. `credible` is the smallest
    gain that these numbers of runs could have told from chance (two-sided, 5%); `needed` the runs per variant, or
    pairs, that would show the gain seen with a power of 80%, None when there is no gain to speak of.
    """

    name: str
    gain: float
    low: float
    high: float
    pairs: int
    paired_p: float
    cross_p: float
    p: float
    correlation: float
    credible: float
    needed: int | None
    verdict: Verdict


def compare(groups: Sequence[Group], baseline: str | None = None, *, lower_is_better: bool = False) -> list[Comparison]:
    """Every other variant against the baseline (default: the first one), in the order of the table."""
    try:
        import scipy  # noqa: F401
    except ImportError as error:
        raise SweepError("this needs scipy: pip install 'trainsleuth[sweeps]'") from error
    by_name = {one.name: one for one in groups}
    base = by_name.get(groups[0].name if baseline is None else baseline)
    if base is None:
        raise SweepError(f"no variant is called {baseline!r}; there are {', '.join(by_name)}")
    others = [one for one in groups if one is not base]
    if not others:
        raise SweepError(f"only one variant, {base.name!r}: there is nothing to compare it with")
    tests = [_Test(base, one, -1.0 if lower_is_better else 1.0) for one in others]
    return [test.comparison(p) for test, p in zip(tests, holm([test.p for test in tests]), strict=True)]


class _Test:
    """Both tests of one variant against the baseline."""

    def __init__(self, base: Group, other: Group, sign: float) -> None:
        from scipy import stats

        self.base, self.other, self.sign = base, other, sign
        self.shared = sorted(set(base.scores) & set(other.scores))
        self.differences = [sign * (other.scores[seed] - base.scores[seed]) for seed in self.shared]
        self.is_paired = len(self.shared) >= 3 and len(self.shared) * 2 > max(len(base.scores), len(other.scores))
        ours, theirs = ([sign * value for value in one.scores.values()] for one in (other, base))
        enough = min(len(ours), len(theirs)) > 1
        self.cross = stats.ttest_ind(ours, theirs, equal_var=False) if enough and _varies(ours + theirs) else None
        self.paired = stats.ttest_1samp(self.differences, 0.0) if self.is_paired and _varies(self.differences) else None
        self.used = self.paired or self.cross
        self.p = float(self.used.pvalue) if self.used is not None else math.nan

    @property
    def gain(self) -> float:
        return fmean(self.differences) if self.paired else self.sign * (self.other.mean - self.base.mean)

    def comparison(self, p: float) -> Comparison:
        low, high = self.used.confidence_interval(1 - ALPHA) if self.used is not None else (math.nan, math.nan)
        return Comparison(
            self.other.name, self.gain, float(low), float(high), len(self.shared), _p(self.paired), _p(self.cross), p,
            self._correlation(), self._credible(), self._needed(), self._verdict(p),
        )  # fmt: skip

    def _verdict(self, p: float) -> Verdict:
        if self.used is None:
            return "too few runs"
        return "not separable" if not p < ALPHA else "better" if self.gain > 0 else "worse"

    def _correlation(self) -> float:
        if len(self.shared) < 3:
            return math.nan
        pairs = [[one.scores[seed] for seed in self.shared] for one in (self.base, self.other)]
        if not all(map(_varies, pairs)):
            return math.nan
        from scipy import stats

        return float(stats.pearsonr(*pairs).statistic)

    def _credible(self) -> float:
        """Half the width of the interval: a smaller gain would have included zero."""
        if self.used is None:
            return math.nan
        low, high = self.used.confidence_interval(1 - ALPHA)
        return float(high - low) / 2

    def _needed(self) -> int | None:
        if self.used is None or self.gain == 0:
            return None
        if self.paired:
            effect, groups = abs(self.gain) / stdev(self.differences), 1
        else:
            pooled = math.sqrt((self.base.spread**2 + self.other.spread**2) / 2)
            effect, groups = abs(self.gain) / pooled, 2
        return runs_needed(effect, groups)


def _varies(values: Sequence[float]) -> bool:
    return max(values) > min(values)


def _p(test: Any) -> float:
    return math.nan if test is None else float(test.pvalue)
