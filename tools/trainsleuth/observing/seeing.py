"""Reads the parts of a program out of the events of one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.observing.data import data
from trainsleuth.observing.events import (
    components,
    full_name,
    named,
    own_class,
    seen_part,
    site_of,
    via_of,
    without_evaluation,
    without_transforms,
)
from trainsleuth.observing.records import Seen, Settings
from trainsleuth.trace import Trace, place

_TRAINING = {
    "batch": "batch",
    "forward": "forward",
    "loss": "loss",
    "backward": "backward",
    "clip": "clip",
    "step": "optimizer step",
    "zero_grad": "zero_grad",
    "schedule": "scheduler step",
    "scaler_scale": "scale",
    "scaler_unscale": "unscale",
    "scaler_update": "scaler update",
}


def parts(trace: Trace) -> Iterator[Seen]:
    """Everything that was seen to play a part, by component."""
    yield from _entry(trace)
    yield from data(without_transforms(trace))
    yield from _models(trace)
    yield from _losses(trace)
    yield from _optimizers(trace)
    yield from _loop(trace)
    for event in (*components(trace, "loaded"), *components(trace, "saved")):
        role = f"{event['component']} by torch"
        yield seen_part(
            "checkpointing", role, str(event["cls"]), event.get("site"), event.get("lib"), keys=event["keys"]
        )
    for op in trace.ops("weights_loaded"):
        yield seen_part("checkpointing", "weights loaded", str(op["cls"]), op.get("site"), op.get("lib"))


def settings(trace: Trace) -> tuple[Settings, ...]:
    """What the program was configured with when its first backward began."""
    return tuple(
        Settings(str(one["name"]), str(one["type"]), *place(one["site"]), values=dict(one["values"]))
        for event in trace.events("settings")
        for one in event["held"]
    )


def files(trace: Trace) -> tuple[str, ...]:
    """Configuration files inside the repository that the program opened before its first backward."""
    return tuple(str(path) for event in trace.events("settings") for path in event["files"])


def _entry(trace: Trace) -> Iterator[Seen]:
    """The outermost frame of the user's code at the first backward."""
    for event in components(trace, "backward")[:1]:
        if event["stack"]:
            site, function = event["stack"][-1]
            yield seen_part("entry_point", "entry", str(function), site)


def _models(trace: Trace) -> Iterator[Seen]:
    told: set[Any] = set()
    losses = _loss_modules(trace)
    for event in components(trace, "model"):
        name = full_name(event)
        if event["id"] in losses:
            value = next((one.get("min") for one in event["gives"]), None)
            yield seen_part(
                "loss", "loss", name, event.get("site"), event.get("lib"), given=event["given"], value=value
            )
            yield seen_part("loss", "class", name, event["defined"])
            continue
        if not event["parameters"]:  # a transform of data, a metric
            continue
        evaluates = not event["grad"] and not event["training"]
        component, role = ("evaluation", "evaluation call") if evaluates else ("model", "call")
        if event["id"] not in told:
            told.add(event["id"])
            yield seen_part("model", "class", name, event["defined"], parameters=event["parameters"],
                        trainable=event["trainable"], wrapped_by=event["wrapped_by"], holds=[named(one) for one in event["inside"]],
                        bases=event["bases"])  # fmt: skip
            if event["forward"]["defined"] and event["defined"]:
                yield seen_part("model", "forward", str(event["forward"]["name"]), event["forward"]["defined"])
        yield seen_part(component, role, name, event.get("site"), event.get("lib"), training=event["training"],
                    grad=event["grad"], given=event["given"], gives=event["gives"])  # fmt: skip


def _loss_modules(trace: Trace) -> set[Any]:
    """Modules, no networks themselves, whose one number a backward went through."""
    through = {module for event in components(trace, "backward") for module in event["through"]}
    named = (e for e in components(trace, "model") if e["parameters"] == 0 or "loss" in str(e["cls"]).lower())
    return {event["id"] for event in named} & through


def _losses(trace: Trace) -> Iterator[Seen]:
    told: set[Any] = set()
    for event in trace.events("loss"):
        key = (event["fn"], event.get("site"), event.get("lib"))
        if event["training"] and key not in told:
            told.add(key)
            yield seen_part("loss", "loss", str(event["fn"]), event.get("site"), event.get("lib"), value=event.get("value"),
                        input=event.get("input"), target=event.get("target"), holds=event.get("holds"),
                        producer=event.get("producer"), reduction=event.get("reduction"), inside=event.get("inside"), via=via_of(event["callers"]))  # fmt: skip
    classes = _loss_modules(trace)
    for event in components(trace, "backward"):
        if not told and not classes and event.get("made"):
            yield seen_part("loss", "loss", f"written by hand ({event['op']})", event["made"], event.get("made_lib"))
    for graph in trace.events("graph")[:1]:
        if graph.get("combined"):
            yield seen_part("loss", "sum", "terms added up", graph["combined"])


def _optimizers(trace: Trace) -> Iterator[Seen]:
    for number, event in enumerate(components(trace, "optimizer")):
        groups = trace.optimizer(number).get("groups", [])
        rates = next((op["lr"] for op in trace.ops("step") if op["optimizer"] == number), None)
        yield seen_part("optimizer_scheduler", "optimizer", full_name(event), site_of(event), event.get("lib"), via=via_of(event["stack"]),
                    groups=groups, first_step_lr=rates, stepped=number in trace.stepping)  # fmt: skip
        yield from own_class("optimizer_scheduler", "optimizer class", event)
    stepped = {op["cls"] for op in trace.ops("schedule")}
    for event in components(trace, "schedule"):
        yield seen_part("optimizer_scheduler", "scheduler", full_name(event), site_of(event), event.get("lib"), via=via_of(event["stack"]),
                    stepped=event["cls"] in stepped)  # fmt: skip
        yield from own_class("optimizer_scheduler", "scheduler class", event)


def _loop(trace: Trace) -> Iterator[Seen]:
    """Each operation of the steps once, by its line."""
    told: set[Any] = set()
    for op in without_evaluation(without_transforms(trace)).ops(*_TRAINING):
        key = (op["op"], op.get("site"), op.get("lib"))
        if key not in told:
            told.add(key)
            name = str(op.get("fn") or op.get("cls") or _TRAINING[op["op"]])
            yield seen_part("training_loop", _TRAINING[op["op"]], name, op.get("site"), op.get("lib"))
