"""Probes: each module here puts one question to a live run. Found by being in the folder.

A probe names the EXPERIMENT that it reads (below) and has `probe(trace)`, a pure function from the events
of one process to findings. Probes of one experiment share one run of the user's program.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

# What the runtime does in the user's program: its listeners and how long they watch.
EXPERIMENTS: Mapping[str, Mapping[str, Any]] = {
    "observe": {
        "listeners": ["trace", "losses", "parameters", "origins", "nonfinite", "batches", "phases", "inspection"],
        "steps": 200,
        "stop_at_nonfinite": True,
    },
    "overfit": {"listeners": ["overfit", "losses", "origins"], "steps": 150, "intervenes": True},
}


@cache
def all_probes() -> Mapping[str, ModuleType]:
    """Every probe by name, in alphabetical order."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            found[info.name] = importlib.import_module(f"{__name__}.{info.name}")
    return found


def explain(name: str) -> str:
    """The documentation of one probe. KeyError when there is none of that name."""
    return inspect.getdoc(all_probes()[name]) or ""


def question(name: str) -> str:
    """The first line of its documentation: what it asks."""
    return explain(name).partition("\n")[0]


def judge(experiment: str, trace: Trace, only: frozenset[str] | None = None) -> Iterator[Finding]:
    """Every finding that the probes of one experiment read out of one process."""
    for name, module in all_probes().items():
        if experiment == module.EXPERIMENT and (only is None or name in only):
            yield from module.probe(trace)
