"""A comparison of variants as an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

from trainsleuth.answers.answer import Answer, Section
from trainsleuth.sweep import Comparison, Group, repeated

_MEANING = {
    "better": "a credible gain",
    "worse": "a credible loss",
    "not separable": "not separable from chance",
    "too few runs": "too few runs to say",
}


def sweep_answer(groups: Sequence[Group], comparisons: Sequence[Comparison], baseline: str) -> Answer:
    rows = tuple(f"  {one.name}: n {len(one.scores)}, mean {one.mean:.6g}, std {one.spread:.3g}" for one in groups)
    plain = [{"name": one.name, "n": len(one.scores), "mean": one.mean, "std": one.spread} for one in groups]
    doubts = tuple(repeated(groups))
    return Answer(
        head=f"{len(groups)} variants against {baseline!r}",
        sections=(
            Section("variants:", rows),
            Section("comparisons (gain is in the better direction):", tuple(map(_line, comparisons))),
            Section("doubts:", tuple(f"  {one}" for one in doubts)),
        ),
        plain={
            "baseline": baseline, "variants": plain, "comparisons": [asdict(one) for one in comparisons],
            "doubts": list(doubts), "claims": ["paired-seeds", "characterise-trial-variance"],
        },
        tail="5% two-sided; p is corrected for the number of variants (Holm); claims paired-seeds, characterise-trial-variance",
    )  # fmt: skip


def _line(one: Comparison) -> str:
    lines = [f"  {one.name}: {_MEANING[one.verdict]}; gain {one.gain:.3g}{_interval(one)}"]
    if not math.isnan(one.p):
        lines.append(f"    p {one.p:.3g}; {_tests(one)}")
        lines.append(f"    smallest gain that these runs could show: {one.credible:.3g}{_more(one)}")
    return "\n".join(lines)


def _interval(one: Comparison) -> str:
    return "" if math.isnan(one.low) else f" (95% interval {one.low:.3g} to {one.high:.3g})"


def _tests(one: Comparison) -> str:
    cross = "too few runs across seeds" if math.isnan(one.cross_p) else f"across seeds {one.cross_p:.3g} (Welch)"
    if math.isnan(one.paired_p):
        return f"{cross}; {one.pairs} seeds in common, not enough to pair"
    return f"{one.pairs} same-seed pairs {one.paired_p:.3g}, {cross}; pairs correlate at {one.correlation:.2f}"


def _more(one: Comparison) -> str:
    if one.needed is None or one.verdict != "not separable":
        return ""
    kind = "pairs" if not math.isnan(one.paired_p) else "runs of each"
    return f"; about {one.needed} {kind} would show the gain seen, if it is real"
