"""New layers are frozen together with the base that they were put into.

To fine-tune a head or an adapter one freezes the base and adds the new layers. The other way round the loop
over model.parameters() also meets the new layers: nothing that was added can learn. Whatever else is still
trainable moves, so the loss may even fall a little.

Fix: freeze first and add the new layers afterwards, or thaw them again.

It is a note: in public code such layers were frozen on purpose, or not by that line.

Cannot see: freezing by name patterns, layers that are thawed through names that are not resolved.

Bad:
    import torch
    from torch import nn
    from torchvision import models

    def build(classes):
        model = models.resnet18(weights="DEFAULT")
        model.fc = nn.Linear(512, classes)
        for param in model.parameters():
            param.requires_grad = False
        return model, torch.optim.Adam(model.parameters())

Bad (whole parts, in a class):
    import torch
    from torch import nn

    class Tuner:
        def __init__(self, backbone, side):
            self.backbone = backbone
            self.backbone.adapter = nn.Linear(8, 8)
            self.backbone.requires_grad_(False)
            self.optimizer = torch.optim.Adam([*side.parameters(), *self.backbone.adapter.parameters()])

Good:
    import torch
    from torch import nn
    from torchvision import models

    def build(classes):
        model = models.resnet18(weights="DEFAULT")
        for param in model.parameters():
            param.requires_grad = False
        model.fc = nn.Linear(512, classes)
        return model, torch.optim.Adam(model.fc.parameters())

Good (thawed again, or frozen by name):
    import torch
    from torch import nn

    def build(model, classes):
        model.head = nn.Linear(8, classes)
        for param in model.parameters():
            param.requires_grad = False
        for param in model.head.parameters():
            param.requires_grad = True
        model.adapter = nn.Linear(8, 8)
        for name, param in model.named_parameters():
            if "adapter" not in name and "head" not in name:
                param.requires_grad = False
        return torch.optim.Adam(model.parameters())
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    LISTING,
    Function,
    Index,
    Instance,
    Spot,
    Switch,
    bindings,
    built_optimizers,
    is_sibling,
    is_test,
    owns_parameters,
    switches,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "frozen-with-base",
    "optimizer",
    "note",
    "parameter_table",
    suspects=("frozen-parameters",),
    claims=("frozen-layers",),
)


_FOLLOWER = re.compile(r"(^|[._])(k|key|ema|target|teacher|momentum|reference|ref)($|_)", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    optimized: dict[Function, set[str]] = {}  # paths that an optimizer is built of in the function
    for built in built_optimizers(index):
        paths = (part.receiver.text for part in built.site.call.walk() if part.last in LISTING and part.receiver)
        optimized.setdefault(built.site.function, set()).update(paths)
    parts = {index.part(function.path) for function in optimized}
    for function in index.functions():
        if is_test(function.path) or not parts:
            continue
        found = list(switches(index, function))
        for switch in found:
            if switch.on is False and switch.is_whole:
                is_optimized = switch.path in optimized.get(function, ())
                yield _examined(index, switch, found, index.part(function.path) in parts, is_optimized)


def _examined(index: Index, switch: Switch, found: list[Switch], is_training: bool, is_optimized: bool) -> Finding:
    path, line = switch.spot.function.path, switch.spot.line
    is_own = switch.path == switch.spot.function.self_name  # a module that freezes itself is there to be used
    for name, spot in _added(index, switch) if is_optimized or not is_own else ():
        if not is_training or _is_thawed(index, switch, name, found):
            continue
        if (is_optimized or not _is_for_inference(switch)) and not _is_copied_into(switch):
            return _failure(switch, name, spot)
    return SAY.passed(path, line, f"nothing new was put into {switch.path} before it is frozen")


def _added(index: Index, switch: Switch) -> Iterator[tuple[str, Spot]]:
    """Fresh layers that the function put into the module before it is frozen."""
    function = switch.spot.function
    here = function.events[switch.spot.position].block
    anew = bindings(function).get(switch.path, ())
    for name, found in bindings(function).items():
        if not name.startswith(f"{switch.path}."):
            continue
        for binding in found:
            spot = Spot(function, binding.position)
            block = function.events[binding.position].block
            if binding.kind != "assign" or binding.value is None or binding.position > switch.spot.position:
                continue
            if any(binding.position < other.position < switch.spot.position for other in anew):
                continue  # into the model before this one
            things = index.objects.of(binding.value, spot)
            fresh = [t for t in things if isinstance(t, Instance) and t.spot is not None and owns_parameters(index, t)]
            if fresh and len(fresh) == len(things) and not is_sibling(block, here):
                yield name, spot


def _is_thawed(index: Index, switch: Switch, name: str, found: list[Switch]) -> bool:
    """Something may turn the new layers on again: here, later or anywhere else in the file."""
    last = name.rpartition(".")[2]
    for other in found:
        if other.on is not False and other.spot.position > switch.spot.position:
            return True
    for function in index.files[switch.spot.function.path].functions.values():
        if function is not switch.spot.function and any(_thaws(one, last) for one in switches(index, function)):
            return True
    return _is_set_again(switch, name)


def _thaws(switch: Switch, last: str) -> bool:
    return switch.on is not False and (last in switch.path.split(".") or "." not in switch.path)


def _is_set_again(switch: Switch, name: str) -> bool:
    later = (binding.position for binding in bindings(switch.spot.function).get(name, ()))
    return any(position > switch.spot.position for position in later)


def _is_for_inference(switch: Switch) -> bool:
    """The module is loaded or put into eval mode: it is not there to be trained."""
    return any(
        call.last in ("eval", "load_state_dict") and call.receiver is not None and call.receiver.text == switch.path
        for event in switch.spot.function.events
        for call in event.calls
    )


def _is_copied_into(switch: Switch) -> bool:
    """It follows another model: a momentum encoder, a teacher, a target."""
    function, position = switch.spot.function, switch.spot.position
    loops = function.events[position].block.loops
    beside = [event for event in function.events if loops and event.block.loops[: len(loops)] == loops]
    return bool(_FOLLOWER.search(switch.path)) or any(call.last == "copy_" for event in beside for call in event.calls)


def _failure(switch: Switch, name: str, spot: Spot) -> Finding:
    path, line = switch.spot.function.path, switch.spot.line
    chain = (
        Link(path, spot.line, f"{name} gets new layers"),
        Link(path, line, f"all parameters of {switch.path} are frozen, the new ones among them"),
    )
    message = (
        f"{switch.path} is frozen at {path}:{line} with {name}, which was put into it at line {spot.line}: the new "
        "layers never learn; expected freezing first, or requires_grad = True for them afterwards."
    )
    return SAY.fail(path, line, message, chain)
