"""What the findings so far say about each cause, and which test to run next.

Credences share one doubt, as if there were one cause; verdicts look at each cause alone. After a cause is
mended, run the tests again: the next one may have been hidden behind it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from trainsleuth.finding import Finding
from trainsleuth.hypothesis import Credence, Hypothesis, Verdict, odds, probability, reference
from trainsleuth.likelihoods import Column, Table, priors, table, test_id
from trainsleuth.next_test import Suggestion, suggest

__all__ = ["LedgerError", "Suggestion", "confirm", "suggest", "update"]

# how much of its likelihood a finding keeps: confidence 1 counts it whole, 0 not at all (set by hand)
_WEIGHT = {"high": 1.0, "medium": 0.85, "low": 0.5}
SUPPORTED = 0.5  # credence from which a failure that names the cause supports it
REFUTED = 0.1  # factor on the odds from which passes refute


class LedgerError(ValueError):
    """A verdict that the findings given for it do not carry."""


@dataclass(frozen=True)
class _Evidence:
    """What one test said: the failures that name the same causes count once, passes only without failures.

    `seen` are causes that another probe saw in this run: a pass looked elsewhere or too early to speak against them.
    """

    column: Column
    fails: Mapping[frozenset[str], float]
    passes: float
    seen: frozenset[str]

    def likelihood(self, cause: str) -> float:
        """P(what the test said | cause), tempered by confidence."""
        if not self.fails:
            p_fail = self.column.otherwise if cause in self.seen else self.column.p_fail(cause)
            return math.pow(1 - p_fail, self.passes)
        return math.prod(math.pow(self.column.p_naming(named, cause), weight) for named, weight in self.fails.items())

    def is_against(self, cause: str) -> bool:
        """A silence that this cause would have broken."""
        return not self.fails and cause not in self.seen and self.column.p_fail(cause) > self.column.otherwise

    def about(self, cause: str) -> _Evidence | None:
        """What is left of it when failures that name only other causes are passed over."""
        fails = {named: weight for named, weight in self.fails.items() if cause in named}
        return None if self.fails and not fails else replace(self, fails=fails)


def update(findings: Iterable[Finding], symptom: str = "", many_devices: bool = False) -> list[Hypothesis]:
    """Every hypothesis after these findings, likeliest first; their order does not matter.

    Failures and passes count; open and skip do not. What a test says twice counts once.
    """
    shipped = table()
    given = sorted({reference(finding): finding for finding in findings}.items())
    evidence = _evidence(shipped, [finding for _, finding in given])
    before = priors(symptom, many_devices)
    after = _posterior(before, evidence.values())
    hypotheses = []
    for id, cause in shipped.causes.items():
        for_, against = _cited(shipped, id, given, evidence)
        about = [part for one in evidence.values() if (part := one.about(id)) is not None]
        verdict = _verdict(before[id].middle, _posterior(before, about)[id], for_, against)
        prior, credence = before[id].rounded(), before[id].moved(after[id]).rounded()
        known = Hypothesis(id, cause.statement, cause.family, prior, credence, verdict, for_, against)
        hypotheses.append(known)
    return sorted(hypotheses, key=lambda one: (-one.credence.middle, one.id))


def confirm(hypothesis: Hypothesis, before: Finding, after: Finding) -> Hypothesis:
    """The hypothesis, confirmed by a change made for it that turned a failing probe into a passing one.

    LedgerError says why when the two findings do not show that.
    """
    shipped = table()
    column = shipped.column(before)
    if test_id(before.by) != test_id(after.by) or not before.by.startswith("probe:"):
        raise LedgerError(f"{before.by} before and {after.by} after: give two findings of the same probe")
    if (before.outcome, after.outcome) != ("fail", "pass"):
        raise LedgerError(f"{before.by} went from {before.outcome} to {after.outcome}: expected fail to pass")
    if column is None or hypothesis.id not in shipped.named(before, column):
        raise LedgerError(f"the failure of {before.by} says nothing about {hypothesis.id}; run a probe that does")
    ratio = shipped.flip.fails["cause"] / shipped.flip.otherwise
    after_flip = probability(ratio * odds(hypothesis.credence.middle))
    cited = (*hypothesis.for_, reference(before), reference(after))
    return replace(
        hypothesis,
        verdict="confirmed",
        credence=hypothesis.credence.moved(after_flip).rounded(),
        for_=tuple(dict.fromkeys(cited)),
    )


def _evidence(shipped: Table, findings: Collection[Finding]) -> dict[str, _Evidence]:
    """By the name of the test."""
    seen = frozenset(_seen(shipped, findings))
    heard: dict[str, _Evidence] = {}
    for finding in findings:
        column = shipped.column(finding)
        if column is None or finding.outcome not in ("fail", "pass"):
            continue
        noted = finding.outcome == "fail" and finding.severity == "note"
        weight = _WEIGHT["low" if noted else finding.confidence]
        one = heard.get(column.test, _Evidence(column, {}, 0.0, seen))
        if finding.outcome == "pass":
            heard[column.test] = replace(one, passes=max(one.passes, weight))
            continue
        named = shipped.named(finding, column)
        fails = {**one.fails, named: max(one.fails.get(named, 0.0), weight)}
        known = replace(column, fails={**one.column.fails, **column.fails})
        heard[column.test] = replace(one, column=known, fails=fails)
    return heard


def _seen(shipped: Table, findings: Iterable[Finding]) -> Iterator[str]:
    """Causes that a sure alarm of a probe names alone: it watched them happen."""
    for finding in findings:
        column = shipped.column(finding)
        if column is not None and finding.is_alarm and finding.confidence == "high" and finding.by.startswith("probe:"):
            named = shipped.named(finding, column)
            yield from named if len(named) == 1 else ()


def _cited(
    shipped: Table, cause: str, given: Iterable[tuple[str, Finding]], evidence: Mapping[str, _Evidence]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    for_, against = [], []
    for ref, finding in given:
        column = shipped.column(finding)
        if column is None or cause not in column.fails or column.fails[cause] <= column.otherwise:
            continue
        if finding.outcome == "fail" and cause in shipped.named(finding, column):
            for_.append(ref)
        elif finding.outcome == "pass" and evidence[column.test].is_against(cause):
            against.append(ref)
    return tuple(for_), tuple(against)


def _posterior(before: Mapping[str, Credence], evidence: Iterable[_Evidence]) -> dict[str, float]:
    weights = {id: prior.middle for id, prior in before.items()}
    for one in evidence:
        weights = {id: weight * one.likelihood(id) for id, weight in weights.items()}
    total = sum(weights.values())
    return {id: weight / total for id, weight in weights.items()}


def _verdict(before: float, alone: float, for_: tuple[str, ...], against: tuple[str, ...]) -> Verdict:
    """`alone` is the credence by the tests that speak of this cause, so that two true causes do not
    hide each other."""
    if for_:
        return "supported" if alone >= SUPPORTED else "open"
    return "refuted" if against and odds(alone) <= REFUTED * odds(before) else "open"
