"""What is believed before looking, and how much each test tells: evidence/likelihoods.yaml, read once."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainsleuth.content import read_evidence
from trainsleuth.finding import Family, Finding
from trainsleuth.hypothesis import Credence

JUDGED = 4.0  # cells of the fault matrix that a probability set by hand counts for
UNMEASURED = 0.7  # P(it fails | this cause), where a failure names a cause and no row says how often


@dataclass(frozen=True)
class Group:
    """Causes of one kind: their pseudo-count together, and the range of their share."""

    weight: float
    low: float
    high: float
    reason: str


@dataclass(frozen=True)
class Cause:
    """One thing that may be wrong: its pseudo-count, and the claims by which findings name it."""

    id: str
    group: str
    family: Family
    weight: float
    statement: str
    reason: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """One test: P(it fails) under each cause that it can see, and under any other.

    `names` is true when a failure says which of its causes it is. `seconds` is a typical cost.
    """

    test: str
    question: str
    seconds: float
    names: bool
    otherwise: float
    reason: str
    fails: Mapping[str, float]

    def p_fail(self, cause: str) -> float:
        return self.fails.get(cause, self.otherwise)

    def p_naming(self, named: frozenset[str], cause: str) -> float:
        """P(it fails and names these | cause); a false failure names each that it can see alike."""
        if cause in named:
            return self.p_fail(cause)
        return self.otherwise * len(named) / max(len(self.fails), 1)

    def naming(self, suspects: Collection[str]) -> Column:
        """The row with these causes in it: as surely as the least of those that it has, else as where nothing is measured."""
        told = min((self.fails[cause] for cause in suspects if cause in self.fails), default=UNMEASURED)
        return replace(self, fails={**dict.fromkeys(sorted(suspects), told), **self.fails})


@dataclass(frozen=True)
class Symptom:
    """Words of a complaint, and the factors that they put on the weights of causes."""

    words: re.Pattern[str]
    causes: Mapping[str, float]
    reason: str


@dataclass(frozen=True)
class Table:
    """The whole of evidence/likelihoods.yaml."""

    groups: Mapping[str, Group]
    many_devices: Group
    flip: Column
    causes: Mapping[str, Cause]
    columns: Mapping[str, Column]
    symptoms: tuple[Symptom, ...]

    def column(self, finding: Finding) -> Column | None:
        """The test that a finding is the answer of; None when it says nothing about any cause.

        A test that the table does not know counts by what its failures suspect, else by the claims they cite;
        an alarm of one that it knows may name a cause that stands not in its row.
        """
        known = self.columns.get(test_id(finding.by))
        suspected = set(finding.suspects) & set(self.causes)
        if known is not None or finding.outcome != "fail":
            return known.naming(suspected) if known is not None and finding.is_alarm else known
        cited = {
            cause.id: UNMEASURED
            for cause in self.causes.values()
            if (cause.id in suspected if suspected else set(cause.claims) & set(finding.claims))
        }
        name = f"{finding.by} about {', '.join(cited)}"
        return Column(name, "", 0.0, True, 0.05, "", cited) if cited else None

    def named(self, finding: Finding, column: Column) -> frozenset[str]:
        """The causes that a failure speaks of: those it suspects, else by claims, by family, else all it can see."""
        if finding.suspects:
            return frozenset(finding.suspects) & frozenset(self.causes) or frozenset(column.fails)
        candidates = [self.causes[id] for id in column.fails]
        by_claims = frozenset(cause.id for cause in candidates if set(cause.claims) & set(finding.claims))
        by_family = frozenset(cause.id for cause in candidates if cause.family == finding.family)
        return (column.names and (by_claims or by_family)) or frozenset(column.fails)


@functools.cache
def table() -> Table:
    """The table as it is shipped."""
    plain = read_evidence("likelihoods.yaml")
    flip = plain["flip"]
    return Table(
        groups={name: Group(**group) for name, group in plain["groups"].items()},
        many_devices=Group(**plain["many_devices"]),
        flip=Column("flip", "", 0.0, True, flip["otherwise"], flip["reason"], {"cause": flip["cause"]}),
        causes={one["id"]: Cause(**{**one, "claims": tuple(one["claims"])}) for one in plain["causes"]},
        columns={test_id(one["test"]): _column(**one) for one in plain["tests"]},
        symptoms=tuple(
            Symptom(re.compile(one["words"], re.IGNORECASE), one["causes"], one["reason"]) for one in plain["symptoms"]
        ),
    )


def _column(fails: Mapping[str, float], cells: Mapping[str, Sequence[int]] | None = None, **plain: Any) -> Column:
    """`cells` has, for a cause, how many planted faults the test named and how many there were."""
    otherwise = float(plain["otherwise"])
    counted = {
        cause: (seen + JUDGED * fails.get(cause, otherwise)) / (of + JUDGED)
        for cause, (seen, of) in (cells or {}).items()
    }
    return Column(fails={**fails, **counted}, **plain)


def test_id(by: str) -> str:
    """One spelling for a test: `probe:loss-contract` and `probe:loss_contract` are the same."""
    return by.replace("_", "-")


def priors(symptom: str = "", many_devices: bool = False) -> dict[str, Credence]:
    """P(cause) before any test, for every cause; the middles sum to 1.

    Given: something seems wrong, and nothing was raised. `symptom` is the complaint in free words.
    """
    shipped = table()
    plain = {id: cause.weight for id, cause in shipped.causes.items()}
    weights = dict(plain)
    for one in shipped.symptoms:
        if one.words.search(symptom):
            weights.update({id: weights[id] * factor for id, factor in one.causes.items()})
    if many_devices:
        scale = shipped.many_devices.weight / shipped.groups["platform"].weight
        weights.update({c.id: weights[c.id] * scale for c in shipped.causes.values() if c.group == "platform"})
    total = sum(weights.values())
    return {id: _usual(id).moved(weight / total) for id, weight in weights.items()}


def _usual(id: str) -> Credence:
    """The share of a cause on one machine, without a symptom."""
    shipped = table()
    cause = shipped.causes[id]
    group = shipped.groups[cause.group]
    within = cause.weight / group.weight
    total = sum(one.weight for one in shipped.groups.values())
    return Credence(group.low * within, cause.weight / total, group.high * within)
