"""A named guess about the cause, and how findings are cited for or against it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from trainsleuth.finding import Family, Finding

Verdict = Literal["open", "refuted", "supported", "confirmed"]


def odds(probability: float) -> float:
    """p / (1 - p), kept finite."""
    bounded = min(max(probability, 1e-9), 1 - 1e-9)
    return bounded / (1 - bounded)


def probability(odds: float) -> float:
    """Inverse of `odds`."""
    return odds / (1 + odds)


@dataclass(frozen=True)
class Credence:
    """How likely, in 0..1: `middle` for ranking, `low` to `high` for people."""

    low: float
    middle: float
    high: float

    def moved(self, middle: float) -> Credence:
        """Another middle, the ends moved by the same factor on the odds."""
        factor = odds(middle) / odds(self.middle)
        return Credence(probability(odds(self.low) * factor), middle, probability(odds(self.high) * factor))

    def rounded(self) -> Credence:
        """Four digits, more than any of them is worth."""
        return Credence(round(self.low, 4), round(self.middle, 4), round(self.high, 4))

    def __str__(self) -> str:
        low, high = (f"{value:.2f}" if value >= 0.01 else f"{value:.3f}" for value in (self.low, self.high))
        return low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Hypothesis:
    """`for_` and `against` cite findings by `reference`; a verdict changes only by citing."""

    id: str
    statement: str
    family: Family
    prior: Credence
    credence: Credence
    verdict: Verdict = "open"
    for_: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; `for_` under the name "for"."""
        plain = asdict(self)
        plain["for"] = plain.pop("for_")
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Hypothesis:
        """Inverse of `to_dict`. Unknown keys are dropped, so old notes stay readable."""
        known = {name: plain[name] for name in cls.__dataclass_fields__ if name in plain}
        for name in ("prior", "credence"):
            known[name] = Credence(**plain[name])
        return cls(**{**known, "for_": tuple(plain.get("for", ())), "against": tuple(plain.get("against", ()))})


_TOLD_BESIDE = ("confidence", "grounds", "next", "seen_by", "copies", "said")


def reference(finding: Finding) -> str:
    """Eight hex digits that stand for what the finding says: the same words, the same reference.

    How sure it is, why, and what to do next may change when another test agrees; what was found stays the same.
    """
    found = {name: value for name, value in finding.to_dict().items() if name not in _TOLD_BESIDE}
    plain = json.dumps(found, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:8]


def is_reference(text: str) -> bool:
    """`text` can be what `reference` gave, with or without the brackets of an answer."""
    return re.fullmatch(r"[0-9a-f]{8}", text.strip().strip("[]")) is not None
