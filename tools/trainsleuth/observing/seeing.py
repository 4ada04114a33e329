"""Reads the parts of a program out of the events of one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainsleuth.observing.records import Seen, Settings
from trainsleuth.trace import Event, Trace, place

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
    yield from _data(without_transforms(trace))
    yield from _models(trace)
    yield from _losses(trace)
    yield from _optimizers(trace)
    yield from _loop(trace)
    for op in trace.ops("weights_loaded"):
        yield _seen("checkpointing", "weights loaded", str(op["cls"]), op.get("site"), op.get("lib"))


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


def without_transforms(trace: Trace) -> Trace:
    """The same without calls of modules that have no parameters: transforms of data, made once for each example."""
    idle = {event["root"] for event in trace.events("root") if not event["parameters"]}
    return replace(trace, told=tuple(e for e in trace.told if e.get("op") != "forward" or e["root"] not in idle))


def _seen(component: str, role: str, name: str, site: str | None, lib: str | None = None, **facts: Any) -> Seen:
    kept = {key: value for key, value in facts.items() if value not in (None, [], {}, "")}
    return Seen(component, role, name, *place(site), lib=lib, facts=kept)


def _components(trace: Trace, name: str) -> list[Event]:
    return [event for event in trace.events("component") if event["component"] == name]


def _via(stack: Sequence[Sequence[str]]) -> list[str]:
    """The callers of the innermost frame: by them a factory is told from what asked it."""
    return [str(site) for site, _ in stack[1:4]]


def _site(event: Event) -> str | None:
    return str(event["stack"][0][0]) if event["stack"] else None


def _entry(trace: Trace) -> Iterator[Seen]:
    """The outermost frame of the user's code at the first backward."""
    for event in _components(trace, "backward")[:1]:
        if event["stack"]:
            site, function = event["stack"][-1]
            yield _seen("entry_point", "entry", str(function), site)


def _data(trace: Trace) -> Iterator[Seen]:
    """The loaders that gave batches, each with its data set; then the batches themselves."""
    made = {event["id"]: event for event in _components(trace, "loader")}
    for batch in _components(trace, "batch"):
        component = "data" if _is_trained_on(trace, batch) else "evaluation"
        loader = made.get(batch["id"])
        if loader is not None:
            yield from _loader(component, _by_hand(loader, made.values()))
        yield _seen(component, "batch", "batch", batch.get("site"), batch.get("lib"), tensors=batch["tensors"])


def _is_trained_on(trace: Trace, batch: Event) -> bool:
    """The next network that runs keeps a graph, or is in training mode; so it is where none ran any more."""
    after = trace.told[next(place for place, event in enumerate(trace.told) if event is batch) :]
    forward = next((event for event in after if event.get("op") == "forward"), None)
    return forward is None or bool(forward["grad"] or forward["training"])


def _by_hand(loader: Event, every: Any) -> Event:
    """A loader that a framework made anew from the user's: the user's own."""
    if not loader.get("lib"):
        return loader
    same = [one for one in every if not one.get("lib") and one["dataset"] == loader["dataset"]]
    alike = [one for one in same if (one["length"], one["batch_size"]) == (loader["length"], loader["batch_size"])]
    return next(iter(alike or same), loader)


def _loader(component: str, loader: Event) -> Iterator[Seen]:
    dataset = loader["dataset"]
    behind = [_named(one) for one in loader["inner"]]
    yield _seen(component, "dataset", _full(dataset), dataset["defined"], examples=loader["length"], holds=behind)
    for one in loader["inner"]:
        if one["defined"]:
            yield _seen(component, "dataset behind it", str(one["cls"]), one["defined"])
    collate = loader["collate"]
    own = _named({"cls": collate["name"], "defined": collate["defined"]}) if collate["defined"] else None
    yield from _own_class(component, "loader class", loader)
    yield _seen(component, "loader", str(loader["cls"]), _site(loader), loader.get("lib"), via=_via(loader["stack"]),
                batch_size=loader["batch_size"], workers=loader["workers"], sampler=loader["sampler"], collate=own)  # fmt: skip


def _own_class(component: str, role: str, made: Event) -> Iterator[Seen]:
    """The user's own class of an object that was made."""
    if made["defined"]:
        yield _seen(component, role, str(made["cls"]), made["defined"])


def _full(cls: Mapping[str, Any]) -> str:
    """A class of the user by its name, one of a library with its module."""
    return str(cls["cls"]) if cls["defined"] else f"{cls['module']}.{cls['cls']}"


def _named(one: Mapping[str, Any]) -> str:
    return f"{one['cls']} ({one['defined']})" if one.get("defined") else str(one["cls"])


def _models(trace: Trace) -> Iterator[Seen]:
    told: set[Any] = set()
    losses = _loss_modules(trace)
    for event in _components(trace, "model"):
        name = _full(event)
        if event["id"] in losses:
            value = next((one.get("min") for one in event["gives"]), None)
            yield _seen("loss", "loss", name, event.get("site"), event.get("lib"), given=event["given"], value=value)
            yield _seen("loss", "class", name, event["defined"])
            continue
        if not event["parameters"]:  # a transform of data, a metric
            continue
        evaluates = not event["grad"] and not event["training"]
        component, role = ("evaluation", "evaluation call") if evaluates else ("model", "call")
        if event["id"] not in told:
            told.add(event["id"])
            yield _seen("model", "class", name, event["defined"], parameters=event["parameters"],
                        trainable=event["trainable"], wrapped_by=event["wrapped_by"], holds=[_named(one) for one in event["inside"]],
                        bases=event["bases"])  # fmt: skip
            if event["forward"]["defined"] and event["defined"]:
                yield _seen("model", "forward", str(event["forward"]["name"]), event["forward"]["defined"])
        yield _seen(component, role, name, event.get("site"), event.get("lib"), training=event["training"],
                    grad=event["grad"], given=event["given"], gives=event["gives"])  # fmt: skip


def _loss_modules(trace: Trace) -> set[Any]:
    """Modules, no networks themselves, whose one number a backward went through."""
    through = {module for event in _components(trace, "backward") for module in event["through"]}
    named = (e for e in _components(trace, "model") if e["parameters"] == 0 or "loss" in str(e["cls"]).lower())
    return {event["id"] for event in named} & through


def _losses(trace: Trace) -> Iterator[Seen]:
    told: set[Any] = set()
    for event in trace.events("loss"):
        key = (event["fn"], event.get("site"), event.get("lib"))
        if event["training"] and key not in told:
            told.add(key)
            yield _seen("loss", "loss", str(event["fn"]), event.get("site"), event.get("lib"), value=event.get("value"),
                        input=event.get("input"), target=event.get("target"), holds=event.get("holds"),
                        producer=event.get("producer"), reduction=event.get("reduction"), inside=event.get("inside"), via=_via(event["callers"]))  # fmt: skip
    classes = _loss_modules(trace)
    for event in _components(trace, "backward"):
        if not told and not classes and event.get("made"):
            yield _seen("loss", "loss", f"written by hand ({event['op']})", event["made"], event.get("made_lib"))
    for graph in trace.events("graph")[:1]:
        if graph.get("combined"):
            yield _seen("loss", "sum", "terms added up", graph["combined"])


def _optimizers(trace: Trace) -> Iterator[Seen]:
    for number, event in enumerate(_components(trace, "optimizer")):
        groups = trace.optimizer(number).get("groups", [])
        rates = next((op["lr"] for op in trace.ops("step") if op["optimizer"] == number), None)
        yield _seen("optimizer_scheduler", "optimizer", _full(event), _site(event), event.get("lib"), via=_via(event["stack"]),
                    groups=groups, first_step_lr=rates, stepped=number in trace.stepping)  # fmt: skip
        yield from _own_class("optimizer_scheduler", "optimizer class", event)
    stepped = {op["cls"] for op in trace.ops("schedule")}
    for event in _components(trace, "schedule"):
        yield _seen("optimizer_scheduler", "scheduler", _full(event), _site(event), event.get("lib"), via=_via(event["stack"]),
                    stepped=event["cls"] in stepped)  # fmt: skip
        yield from _own_class("optimizer_scheduler", "scheduler class", event)


def _loop(trace: Trace) -> Iterator[Seen]:
    """Each operation of the steps once, by its line."""
    told: set[Any] = set()
    for op in without_transforms(trace).ops(*_TRAINING):
        key = (op["op"], op.get("site"), op.get("lib"))
        idle = op["op"] in ("forward", "loss") and not op.get("grad", True)  # evaluation, a teacher
        if key not in told and not idle:
            told.add(key)
            name = str(op.get("fn") or op.get("cls") or _TRAINING[op["op"]])
            yield _seen("training_loop", _TRAINING[op["op"]], name, op.get("site"), op.get("lib"))
