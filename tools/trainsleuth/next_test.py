"""Which test to run next: what it is expected to tell about the cause, per second that it costs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from trainsleuth.hypothesis import Hypothesis
from trainsleuth.likelihoods import Column, table, test_id

MIN_BITS = 0.001  # below this a test is not worth naming


@dataclass(frozen=True)
class Suggestion:
    """One test worth its time. `separates` are the two likeliest causes that it tells apart best, `steps` what the program
    has of them, where the test would wait for more.
    """

    test: str
    why: str
    separates: tuple[str, str]
    seconds: float
    expected_bits_per_second: float
    steps: int | None = None

    @property
    def command(self) -> str:
        """The command line that runs it."""
        kind, _, name = self.test.partition(":")
        steps = f" --steps {self.steps}" if self.steps else ""
        return f"trainsleuth {kind}{steps} --only {name}" + (" -- COMMAND" if kind == "probe" else "")


def suggest(
    hypotheses: Collection[Hypothesis], done: Collection[str] = (), time_left: float = math.inf
) -> list[Suggestion]:
    """Tests that are not done and fit into `time_left` seconds, most expected bits per second first."""
    ran = {test_id(test) for test in done}
    likely = {one.id: one.credence.middle for one in hypotheses if one.verdict != "refuted"}
    total = sum(likely.values()) or 1.0
    shares = {id: share / total for id, share in sorted(likely.items(), key=lambda pair: -pair[1])}
    offered = [
        _suggestion(column, shares)
        for id, column in table().columns.items()
        if id not in ran and column.seconds <= time_left and expected_bits(column, shares) >= MIN_BITS
    ]
    return sorted(offered, key=lambda one: (-one.expected_bits_per_second, one.test))


def expected_bits(column: Column, shares: Mapping[str, float]) -> float:
    """Mutual information, in bits, between the cause (drawn from `shares`) and what the test will say."""
    said: dict[str, float] = {}
    inside = 0.0
    for cause, share in shares.items():
        outcomes = _outcomes(column, cause)
        inside += share * _entropy(outcomes.values())
        for outcome, p in outcomes.items():
            said[outcome] = said.get(outcome, 0.0) + share * p
    return max(0.0, _entropy(said.values()) - inside)


def _outcomes(column: Column, cause: str) -> dict[str, float]:
    p = column.p_fail(cause)
    if not column.names or cause not in column.fails:
        spread = column.fails if column.names else {"fail": 1.0}
        return {"pass": 1 - p, **{name: p / len(spread) for name in spread}}
    return {"pass": 1 - p, cause: p}


def _entropy(probabilities: Iterable[float]) -> float:
    return -sum(p * math.log2(p) for p in probabilities if p > 0)


def _suggestion(column: Column, shares: Mapping[str, float]) -> Suggestion:
    bits = expected_bits(column, shares)
    pairs = [(a, b) for place, a in enumerate(shares) for b in list(shares)[place + 1 :]]
    one, other = max(pairs, key=lambda pair: _gap(column, shares, *pair), default=("", ""))
    if column.p_fail(one) < column.p_fail(other):
        one, other = other, one
    why = f"{column.question} Expected to fail if {one}, to pass if {other}"
    return Suggestion(column.test, why, (one, other), column.seconds, bits / column.seconds)


def _gap(column: Column, shares: Mapping[str, float], one: str, other: str) -> float:
    return abs(column.p_fail(one) - column.p_fail(other)) * min(shares[one], shares[other])
