"""What is read out of the runtime's "component" events again and again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainsleuth.observing.records import Seen
from trainsleuth.trace import Event, Trace, place


def without_transforms(trace: Trace) -> Trace:
    """The same without calls of modules that have no parameters: transforms of data, made once for each example."""
    idle = {event["root"] for event in trace.events("root") if not event["parameters"]}
    return replace(trace, told=tuple(e for e in trace.told if e.get("op") != "forward" or e["root"] not in idle))


def without_evaluation(trace: Trace) -> Trace:
    """The same without networks that run in evaluation mode and keep no graph, and without their batches and losses."""
    kept: list[Event] = []
    is_idle = False
    for event in reversed(trace.told):  # a batch goes where the next network after it goes
        if event.get("op") == "forward":
            is_idle = not event["grad"] and not event["training"]
        of_network = event.get("op") in ("forward", "batch")
        if not (is_idle and of_network) and not (event.get("op") == "loss" and not event["grad"]):
            kept.append(event)
    return replace(trace, told=tuple(reversed(kept)))


def seen_part(component: str, role: str, name: str, site: str | None, lib: str | None = None, **facts: Any) -> Seen:
    kept = {key: value for key, value in facts.items() if value not in (None, [], {}, "")}
    return Seen(component, role, name, *place(site), lib=lib, facts=kept)


def components(trace: Trace, name: str) -> list[Event]:
    return [event for event in trace.events("component") if event["component"] == name]


def via_of(stack: Sequence[Sequence[str]]) -> list[str]:
    """The callers of the innermost frame: by them a factory is told from what asked it."""
    return [str(site) for site, _ in stack[1:4]]


def site_of(event: Event) -> str | None:
    return str(event["stack"][0][0]) if event["stack"] else None


def own_class(component: str, role: str, made: Event) -> Iterator[Seen]:
    """The user's own class of an object that was made."""
    if made["defined"]:
        yield seen_part(component, role, str(made["cls"]), made["defined"])


def full_name(cls: Mapping[str, Any]) -> str:
    """A class of the user by its name, one of a library with its module."""
    return str(cls["cls"]) if cls["defined"] else f"{cls['module']}.{cls['cls']}"


def named(one: Mapping[str, Any]) -> str:
    return f"{one['cls']} ({one['defined']})" if one.get("defined") else str(one["cls"])
