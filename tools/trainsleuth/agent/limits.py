"""How much an investigation may spend, and what it has spent."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Limits:
    """`turns` are replies of the model; `tokens` count input (cached or not) and output of all of them."""

    turns: int = 30
    tokens: int = 400_000
    seconds: float = 900.0

    def __str__(self) -> str:
        return f"{self.turns} turns, {self.tokens:,} tokens, {self.seconds:g} s"


@dataclass
class Room:
    """What the results of one reply's calls may still hold together, in characters."""

    whole: int
    left: int = 0

    def renew(self) -> None:
        self.left = self.whole

    def fitted(self, text: str) -> str:
        """`text`, cut to what is left."""
        shown = text if len(text) <= self.left else f"{text[: self.left]}\n[cut]"
        self.left -= min(len(text), self.left)
        return shown


@dataclass
class Spent:
    """Grows with every reply."""

    turns: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.cached_tokens + self.output_tokens

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def add(self, usage: Any) -> None:
        """`usage` of one reply, as the API counts it."""
        self.turns += 1
        self.output_tokens += usage.output_tokens or 0
        self.input_tokens += (usage.input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        self.cached_tokens += usage.cache_read_input_tokens or 0

    def over(self, limits: Limits) -> str:
        """Which limit is reached, in words; "" while none is."""
        if self.turns >= limits.turns:
            return f"the limit of {limits.turns} turns was reached"
        if self.tokens >= limits.tokens:
            return f"the limit of {limits.tokens:,} tokens was reached"
        if self.seconds >= limits.seconds:
            return f"the limit of {limits.seconds:g} s was reached"
        return ""

    def __str__(self) -> str:
        return (
            f"{self.turns} turns, {self.input_tokens:,} input, {self.cached_tokens:,} cached and "
            f"{self.output_tokens:,} output tokens, {self.seconds:.0f} s"
        )
