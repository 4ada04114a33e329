"""A finding about batches; loaders, ways into the model and tensors in words."""

from __future__ import annotations

from typing import Any

from trainsleuth.finding import Family, Finding, Severity
from trainsleuth.trace import Event, Trace, place

NEEDED_BATCHES = 3


def failure(site: Event, message: str, suspect: str, severity: Severity = "warning", **more: Any) -> Finding:
    path, line = place(site.get("site"))
    more.setdefault("confidence", "high")
    family: Family = "data"
    return Finding(by="probe:batch_as_seen", outcome="fail", severity=severity, family=family, message=message,
                   path=path, line=line, suspects=(suspect,), **more)  # fmt: skip


def latest(trace: Trace, kind: str, *keys: str) -> list[Event]:
    """The last event of this kind for each combination of these fields."""
    latest = {tuple(event[key] for key in keys): event for event in trace.events(kind)}
    return list(latest.values())


def entrance_of(trace: Trace, rows: Event) -> Event:
    """How the batches of this way into the model looked; where they entered."""
    same = [e for e in trace.events("entered") if (e["role"], e["root"]) == (rows["role"], rows["root"])]
    return next((e for e in same if e["loader"] == rows["loader"]), same[0] if same else {})


def loader_of(trace: Trace, number: int | None) -> Event:
    return next((event for event in trace.events("loader") if event["loader"] == number), {})


def named(loader: Event) -> str:
    workers = f" with {loader['num_workers']} workers" if loader.get("num_workers") else ""
    return f"the {loader.get('cls', 'loader')} over {loader.get('dataset', 'its data')}{workers}"


def described(main: Event) -> str:
    text = f"{main['name']!r} {main['dtype']} {main['shape']}"
    if isinstance(main.get("min"), float) and isinstance(main.get("max"), float):
        text += f" in [{main['min']:.4g}, {main['max']:.4g}]"
    if isinstance(main.get("mean"), float) and isinstance(main.get("std"), float):
        text += f", mean {main['mean']:.3g}, std {main['std']:.3g}"
    if main.get("constant_columns"):
        text += f", {main['constant_columns']} of {main['shape'][1]} columns constant in the first batch"
    if main.get("share_of_it", 0.0) > 0.2:
        text += f", {main['share_of_it']:.0%} of it {main['last_column_mode']} (padding?)"
    return text


def labels_in_words(trace: Trace) -> str:
    counted = latest(trace, "label_counts", "fn", "site", "lib", "classes")
    if not counted or not counted[0]["total"]:
        return ""
    labels = counted[0]
    most = ", ".join(f"{value} {count / labels['total']:.0%}" for value, count in labels["top"][:4])
    return f"; {labels['distinct']} of {labels['classes']} classes occur in {labels['total']} labels ({most})"
