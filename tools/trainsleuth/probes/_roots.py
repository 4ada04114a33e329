"""Which of the modules that a program calls are models, and which only compute (losses, miners of pairs)."""

from __future__ import annotations

from collections.abc import Iterable

from trainsleuth.trace import Trace


def models_among(roots: Iterable[int], trace: Trace) -> list[int]:
    """Those that hold parameters; all of them when none is known to."""
    given = list(roots)
    tables = trace.events("parameters")
    holding = {row[1] for row in tables[-1]["rows"]} if tables else set()
    return [root for root in given if root in holding] or given
