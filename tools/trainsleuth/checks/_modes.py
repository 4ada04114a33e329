"""Training and evaluation mode: who may switch back, and which models behave differently."""

from __future__ import annotations

import re
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from trainsleuth.facts import (
    Branch,
    Class,
    Event,
    Expr,
    External,
    Function,
    Index,
    Instance,
    Literal,
    Spot,
    Thing,
    is_eval,
)
from trainsleuth.finding import Link

from ._imports import imported

_MODAL = (
    "Dropout",
    "BatchNorm",
    "InstanceNorm",
    "dropout",
    "batch_norm",
    "training",
    "drop_path",
    "DropPath",
    "F.dropout",
)


_DROPOUTS = {"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"}
_LAYERS = ("Dropout", "BatchNorm", "SyncBatchNorm", "InstanceNorm")
_LIBRARIES = ("torchvision", "timm", "transformers", "segmentation_models_pytorch", "monai", "torch_geometric")
_SET = re.compile(rb"\.training\s*=[^=]")
_MODAL_LAYER = re.compile(r"Drop|Norm|RReLU|Transformer|Attention|LSTM|GRU|RNN")
_RESTORING: WeakKeyDictionary[Index, dict[str, frozenset[str]]] = WeakKeyDictionary()


def restoring_names(index: Index, near: Function) -> frozenset[str]:
    """Wide: names of functions of the same part that may call train(), at any depth, by names alone."""
    part = index.part(near.path)
    known = _RESTORING.setdefault(index, {})
    if part not in known:
        known[part] = frozenset(_restoring_names(index, part))
    return known[part]


def _restoring_names(index: Index, part: str) -> set[str]:
    own = [function for function in index.functions() if index.part(function.path) == part]
    calls = {function: {call.last for event in function.events for call in event.calls} for function in own}
    near = (f for f in own if "train" in f.called or f.source.holds(_SET))
    reached = {f.name for f in near if any(map(_switches_back, f.events))} - _COMMON
    waiting = [function for function in own if function.name not in _COMMON]
    grew = True
    while grew:
        more = {f.name for f in waiting if calls[f] & reached} - reached
        waiting = [function for function in waiting if function.name not in more]
        reached |= more
        grew = bool(more)
    return reached | {"set_train", "train_mode", "set_training", "training_mode", "set_training_mode"}


_COMMON = {"forward", "__init__", "__call__", "<module>", "step", "main"}


def _switches_back(event: Event) -> bool:
    """model.train(), or module.training = True by hand."""
    by_hand = (
        event.value is not None and event.value.text != "False" and any(t.last == "training" for t in event.targets)
    )
    return by_hand or any(map(_trains, event.calls))


def _trains(call: Expr) -> bool:
    given = call.argument(0, "mode")
    return call.last == "train" and call.receiver is not None and (given is None or given.text != "False")


def has_modes(index: Index, model: Instance) -> bool:
    """It may behave differently in training: its file, or one that this imports, speaks of dropout or batch norm."""
    if not isinstance(model.kind, Class):
        return _may_hold_modes(index, model)
    for path in imported(index, model.kind.path):
        if any(site.function.path == path and _drops_between(site.call) for site in index.calls(*_RECURRENT)):
            return True
        speaking = {name for name in index.files[path].names if name.startswith(_MODAL)}
        if speaking and not (speaking <= _DROPOUTS and _drops_nothing(index, path)) and not _are_chosen(index, path):
            return True
    outside = [base for base in index.external_bases(model.kind) if base != "torch.nn.Module"]
    return bool(outside)


def _are_chosen(index: Index, path: str) -> bool:
    """Each mention of such a layer stands in an arm of an option: if norm == "batch"."""
    events = [event for one in index.files[path].functions.values() for event in one.events if _speaks(event)]
    return bool(events) and all(_is_asked(event) or any(map(_is_option, event.block.branches)) for event in events)


def _speaks(event: Event) -> bool:
    """It names a layer that behaves differently in training."""
    return event.value is not None and any(
        part.kind == "path" and part.last.startswith(_MODAL) for part in event.value.walk()
    )


def _is_asked(event: Event) -> bool:
    """if not self.training and self.activation is not None"""
    test = event.value if event.kind == "if" else None
    parts = test.parts if test is not None and test.kind == "boolean" and test.text == "and" else ()
    return any(part.kind == "compare" and part.text == "is not" and part.parts[-1].text == "None" for part in parts)


def _is_option(branch: Branch) -> bool:
    test = branch.test
    return test is not None and test.kind == "compare" and any(part.kind == "string" for part in test.parts)


def _drops_nothing(index: Index, path: str) -> bool:
    """Each layer of dropout of a file is made with a rate that is 0 whoever makes it."""
    sites = [site for name in _DROPOUTS for site in index.calls(name) if site.function.path == path]
    rates = [(site.call.argument(0, "p"), Spot(site.function, site.position)) for site in sites]
    things = [index.objects.of(rate, spot) if rate is not None else () for rate, spot in rates]
    return bool(rates) and all(
        found and all(isinstance(one, Literal) and one.expr.text in ("0", "0.0") for one in found) for found in things
    )


def speaks_of_modes(index: Index, path: str) -> bool:
    """A model that is not resolved may behave differently in training: its part of the project makes such layers, or
    loads its models from a library.
    """
    part = index.part(path)
    own = [file for file in index.files.values() if index.part(file.path) == part]
    if any(entry.module.partition(".")[0] in _LIBRARIES for file in own for entry in file.imports):
        return True
    return any(name.startswith(_LAYERS) for file in own for name in file.names)


def _may_hold_modes(index: Index, model: Instance, depth: int = 4) -> bool:
    """Of a layer or a Sequential of torch: nothing shows that each layer in it is the same in both modes."""
    last = model.name.rpartition(".")[2]
    if model.name.startswith("torch.nn.") and last not in ("Sequential", "ModuleList", "ModuleDict"):
        return bool(_MODAL_LAYER.search(last))
    members = list(index.members.of_thing(model)) if last == "Sequential" and depth else []
    things = [thing for member in members for thing in index.objects.of(member.expr, member.spot)]
    layers = [thing for thing in things if isinstance(thing, Instance) and isinstance(thing.kind, External)]
    if not layers or len(layers) < len(things):
        return True
    return any(_may_hold_modes(index, layer, depth - 1) for layer in layers)


def reaches_eval(index: Index, path: str) -> bool:
    """Wide: something in the same part of the project calls eval() or train(False) of some object."""
    part = index.part(path)
    return any(
        index.part(site.function.path) == part
        and site.call.receiver is not None
        and (site.call.last == "eval" or is_eval(site.call))
        for site in index.calls("eval", "train")
    )


def modal_layer(index: Index, model: Instance, depth: int = 4, surely: bool = False) -> Link | None:
    """The first dropout or batch-norm layer that the model has; with `surely`, of those that some method uses, that no
    option leaves out and whose rate is known not to be zero, or a dropout that its forward() is told the mode of.
    """
    if isinstance(model.kind, External):
        last = model.name.rpartition(".")[2]
        if last in _RECURRENT and model.call is not None and model.spot is not None and _drops_between(model.call):
            if not surely or _surely_drops_between(index, model.call, model.spot):
                return Link(model.spot.function.path, model.call.line, f"nn.{last} with dropout")
        if last.startswith(("Dropout", "BatchNorm")) and model.call is not None and model.spot is not None:
            if not surely or _works(index, model.call, model.spot):
                return Link(model.spot.function.path, model.call.line, f"nn.{last}")
        inside = (
            thing for member in index.members.of_thing(model) for thing in index.objects.of(member.expr, member.spot)
        )
        return _first(index, inside, depth, surely)
    if surely and (told := _told_dropout(index, model.kind)) is not None:
        return told
    attributes = (
        thing
        for cls in index.lineage(model.kind)
        for name in index.hierarchy.attribute_names(cls)
        for method, binding in index.hierarchy.attribute_bindings(cls, name)
        if binding.value is not None and binding.value.kind == "call" and not binding.items
        if not (surely and (method.events[binding.position].block.branches or _is_unused(index, model.kind, name)))
        for thing in index.objects.of(binding.value, Spot(method, binding.position))
    )
    return _first(index, attributes, depth, surely)


def _is_unused(index: Index, cls: Class, name: str) -> bool:
    """No method of the class, or of one above or below it, reads the attribute, or all of them at once."""
    family = dict.fromkeys(one for below in (cls, *index.subclasses(cls)) for one in index.lineage(below))
    if any(one for cls in family for one in index.external_bases(cls) if one != "torch.nn.Module"):
        return False
    methods = (method for one in family for method in one.methods.values())
    return not any(
        part.text == "getattr" or part.last in _OF_ALL or f"{part.text}.".startswith(f"{method.self_name}.{name}.")
        for method in methods
        for event in method.events
        for root in (event.value, *event.calls)
        for part in (root.walk() if root is not None else ())
        if part.kind == "path"
    )


_OF_ALL = ("_modules", "children", "modules", "named_children", "named_modules", "__dict__")


def _first(index: Index, things: Iterable[Thing], depth: int, surely: bool) -> Link | None:
    for thing in things if depth else ():
        if isinstance(thing, Instance) and thing.call is not None:
            if (found := modal_layer(index, thing, depth - 1, surely)) is not None:
                return found
    return None


_RECURRENT = ("LSTM", "GRU", "RNN")


def _drops_between(call: Expr) -> bool:
    """nn.LSTM(8, 8, num_layers=2, dropout=0.1): a rate that is not written as 0, and layers that are not written as 1."""
    rate, layers = call.argument(5, "dropout"), call.argument(2, "num_layers")
    is_rated = rate is not None and not (rate.kind == "number" and rate.text.strip("0.") == "")
    return is_rated and layers is not None and layers.text != "1"


def _surely_drops_between(index: Index, call: Expr, spot: Spot) -> bool:
    rate, layers = call.argument(5, "dropout"), call.argument(2, "num_layers")
    is_deep = layers is not None and layers.kind == "number"
    return is_deep and rate is not None and is_some_rate(index, rate, spot) and not _is_left_out(spot)


def _is_left_out(spot: Spot) -> bool:
    return bool(spot.function.events[spot.position].block.branches)


def _works(index: Index, call: Expr, spot: Spot) -> bool:
    """No option leaves the layer out, it is no dropout of rate 0, and it keeps the statistics that evaluation reads."""
    tracks = call.keyword("track_running_stats")
    if spot.function.events[spot.position].block.branches or (tracks is not None and tracks.text != "True"):
        return False
    rate = call.argument(0, "p") if call.last.startswith("Dropout") else None
    return rate is None or is_some_rate(index, rate, spot)


def is_some_rate(index: Index, rate: Expr, spot: Spot) -> bool:
    """All that it may be are numbers as written, none of them 0."""
    found = [rate] if rate.kind == "number" else []
    things = index.objects.of(rate, spot) if not found else ()
    found += [one.expr for one in things if isinstance(one, Literal)]
    is_known = bool(found) and len(found) >= len(list(things))
    return is_known and all(one.kind == "number" and one.text.strip("0.") != "" for one in found)


def _told_dropout(index: Index, cls: Class) -> Link | None:
    """F.dropout(x, 0.5, training=self.training) in forward(), behind no option."""
    forward = index.method(cls, "forward")
    for position, event in enumerate(forward.events if forward is not None else ()):
        for call in event.calls:
            told = call.argument(2, "training")
            if call.last == "dropout" and told is not None and told.last == "training" and forward is not None:
                rate = call.argument(1, "p")
                is_some = rate is None or is_some_rate(index, rate, Spot(forward, position))
                if is_some and not event.block.branches:
                    return Link(forward.path, call.line, "F.dropout")
    return None
