"""Probes: each module here puts one question to a live run. Found by being in the folder.

A probe names the EXPERIMENT that it reads (below) and has `probe(trace)`, a pure function from the events
of one process to findings, or `compare(traces)`, one from those of all processes of a run, or of the first
process of each repetition. Probes of one experiment share one run of the user's program. One that is not worth
asking of every program has `can_answer(trace)`, by what another experiment saw. READS names the listeners on
which a pass rests: when one of them failed it is open.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

# What the runtime does in the user's program: its listeners and how long they watch. An experiment that is
# `on_request` runs only for a probe that was asked for by name; one that runs `times` is repeated so often.
EXPERIMENTS: Mapping[str, Mapping[str, Any]] = {
    "observe": {
        "listeners": [
            "teachers",  # first: a backward is not followed, nor what the others read of it
            "trace", "passes", "losses", "parameters", "origins", "nonfinite", "batches", "phases", "layers", "timing", "checksums",
            "inspection", "padding", "views", "target_leaks", "soft_updates", "masks", "next_tokens", "remade", "overwritten", "shares",
            "mispaired", "label_gradients", "constant_values", "left_in_file", "opponents", "class_weights", "batch_axes", "gradient_terms", "picked_axes", "given_answers", "padded_sides", "by_hand",
        ],
        "steps": 200,
        "stop_at_nonfinite": True,
    },
    "overfit": {"listeners": ["overfit", "losses", "origins"], "steps": 150, "intervenes": True},
    "repeat": {"listeners": ["trace", "prints"], "steps": 12, "times": 2, "on_request": True},
    "pairing": {"listeners": ["trace", "pairing"], "steps": 200, "intervenes": True, "on_request": True},
    "resume": {"listeners": ["trace", "resume"], "steps": 20, "intervenes": True, "on_request": True},
    "sweep": {"listeners": ["trace", "sweep"], "steps": 120, "intervenes": True, "on_request": True},
}  # fmt: skip


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


def usual() -> tuple[str, ...]:
    """The experiments that need not be asked for by name."""
    return tuple(name for name, how in EXPERIMENTS.items() if not how.get("on_request"))


def of(experiment: str) -> frozenset[str]:
    """The names of the probes that read this experiment."""
    return frozenset(name for name, module in all_probes().items() if experiment == module.EXPERIMENT)


def judge(experiment: str, trace: Trace, only: frozenset[str] | None = None) -> Iterator[Finding]:
    """Every finding that the probes of one experiment read out of one process."""
    for module in _asked(experiment, only):
        if hasattr(module, "probe"):
            why = _failed_listener(module, trace)
            yield from (_in_doubt(one, why) if why else one for one in module.probe(trace))


def judge_together(experiment: str, traces: Sequence[Trace], only: frozenset[str] | None = None) -> Iterator[Finding]:
    """Every finding that they read out of several processes, or several repetitions, together."""
    for module in _asked(experiment, only):
        if hasattr(module, "compare"):
            yield from module.compare(traces)


def _failed_listener(module: ModuleType, trace: Trace) -> str:
    """Why a listener that this probe reads stopped before the run did; "" when none did."""
    asked = (trace.hooks_missing.get(f"listener {name}", "") for name in getattr(module, "READS", ()))
    return next(filter(None, asked), "")


def _in_doubt(found: Finding, why: str) -> Finding:
    if found.outcome != "pass":
        return found
    message = f"{found.message}; the rest of the run was not seen, for the probe itself failed ({why})"
    return replace(found, outcome="open", message=message)


def _asked(experiment: str, only: frozenset[str] | None) -> Iterator[ModuleType]:
    for name, module in all_probes().items():
        if experiment == module.EXPERIMENT and (only is None or name in only):
            yield module
