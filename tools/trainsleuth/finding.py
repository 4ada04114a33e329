"""The one record that checks, probes and readers return, and everything after them reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

Outcome = Literal["fail", "pass", "open", "skip"]
Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)  # the worst first
Confidence = Literal["high", "medium", "low"]
Family = Literal[
    "data",
    "loss",
    "training-procedure",
    "optimizer",
    "architecture",
    "numerical",
    "eval",
    "distributed",
    "rl",
    "pinn",
]
Number = float | int | str  # str only for "nan", "inf", "-inf": JSON has no such numbers
COMMAND_SHOWN = 160  # characters of a command that is said more than once


@dataclass(frozen=True)
class Link:
    """One place on the way from cause to symptom."""

    path: str
    line: int
    why: str


@dataclass(frozen=True)
class Finding:
    """What one check, probe or reader said, once.

    `by` is "check:<id>", "probe:<id>" or "reader". `path` is relative to the root that was given, else to
    the folder where the search or the run began, with forward slashes; `line` counts from 1. `message`
    says what, where, expected and got in one sentence. `next` is the cheapest thing that would confirm or refute it. `suspects` are the ids of
    the hypotheses (ledger) that a failure speaks for: the finding itself knows, nobody has to guess
    from its words. `grounds`: what the confidence rests on, where it was measured. `seen_by`: other tests
    that fail for the same cause. `doubt`: why it accuses nobody though it would, the last of the message, where the
    program as it stands may not come to it; `undoubted` is the severity that it has where the program does.
    `copies`: other places where the same lines hold the same fault. `said`: the last words of the program, or its
    traceback.
    """

    by: str
    outcome: Outcome
    message: str
    severity: Severity = "note"
    confidence: Confidence = "medium"
    family: Family = "training-procedure"
    path: str | None = None
    line: int | None = None
    chain: tuple[Link, ...] = ()
    measured: Mapping[str, Number] = field(default_factory=dict)
    next: str = ""
    claims: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    grounds: str = ""
    seen_by: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    said: str = ""
    doubt: str = ""
    undoubted: Severity = "note"

    @property
    def place(self) -> str:
        """`path:line`, or "" when the finding has no place."""
        if self.path is None:
            return ""
        return self.path if self.line is None else f"{self.path}:{self.line}"

    @property
    def is_alarm(self) -> bool:
        """A failure at warning or above: what makes a command exit with 1."""
        return self.outcome == "fail" and self.severity != "note"

    def told_for(self, command: str) -> Finding:
        """With the user's command in its advice, if that is short."""
        short = len(command) <= COMMAND_SHOWN
        return replace(self, next=self.next.replace("<your command>", command)) if short else self

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only; non-finite numbers as strings."""
        plain = asdict(self)
        plain["measured"] = {name: number(value) for name, value in self.measured.items()}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Finding:
        """Inverse of `to_dict`. Unknown keys are dropped, so old notes stay readable."""
        known = {name: plain[name] for name in cls.__dataclass_fields__ if name in plain}
        known["chain"] = tuple(Link(**link) for link in plain.get("chain", ()))
        known["claims"] = tuple(plain.get("claims", ()))
        known["suspects"] = tuple(plain.get("suspects", ()))
        known["seen_by"] = tuple(plain.get("seen_by", ()))
        known["copies"] = tuple(plain.get("copies", ()))
        return cls(**known)


def number(value: Number) -> Number:
    """A number that survives JSON: NaN and infinities become "nan", "inf", "-inf"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


_ORDER: dict[str, int] = {word: place for place, word in enumerate(("fail", "open", "pass", "skip"))}
_SEVERITY: dict[str, int] = {word: place for place, word in enumerate(SEVERITIES)}
_CONFIDENCE: dict[str, int] = {word: place for place, word in enumerate(get_args(Confidence))}


def best_first(findings: Iterable[Finding]) -> list[Finding]:
    """Failures first, the severest and surest of them at the top; otherwise a stable order."""
    return sorted(
        findings,
        key=lambda f: (
            _ORDER[f.outcome],
            _SEVERITY[f.severity],
            _CONFIDENCE[f.confidence],
            f.path or "~",
            f.line or 0,
            f.by,
        ),
    )
