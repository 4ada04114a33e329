"""Calls that end in a TypeError: what they are given does not fit the parameters of what they call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..naming.modules import is_module_class
from ..naming.names import External
from ..records import Class, Event, Expr
from ..tracing.callers import Target
from ..tracing.making import constant, makers
from ..tracing.things import Spot
from ..words import words

if TYPE_CHECKING:
    from ..index import Index

LOADER = "torch.utils.data.DataLoader"
_TRANSPARENT = ("no_grad", "inference_mode", "enable_grad", "staticmethod", "abstractmethod")
_TORCH = {
    "torch.nn.utils.clip_grad_norm_": words("parameters max_norm norm_type error_if_nonfinite foreach"),
    "torch.nn.utils.clip_grad_norm": words("parameters max_norm norm_type error_if_nonfinite foreach"),
    "torch.nn.utils.clip_grad_value_": words("parameters clip_value foreach"),
    "torch.nn.functional.cross_entropy": words(
        "input target weight size_average ignore_index reduce reduction label_smoothing"
    ),
    "torch.nn.CrossEntropyLoss": words("weight size_average ignore_index reduce reduction label_smoothing"),
    "torch.nn.functional.mse_loss": words("input target size_average reduce reduction weight"),
    "torch.nn.functional.nll_loss": words("input target weight size_average ignore_index reduce reduction"),
}


def misfit(index: Index, call: Expr, spot: Spot) -> str:
    """Why the call surely fails; "" when it fits, or when what it calls is not known in full."""
    if any(part.kind in ("star", "doublestar") for part in call.parts[1:]):
        return ""
    given = [part.text for part in call.parts[1:] if part.kind == "keyword"]
    name = made_or_run(index, call, spot) if given else ""
    if name == LOADER and _excludes_itself(index, call, spot):
        return "DataLoader() takes no sampler beside shuffle=True"
    taken = _TORCH.get(name, ())
    if taken and (odd := next((name for name in given if name not in taken), "")):
        return f"{call.last}() takes no argument {odd}"
    if not index.may_run(call, spot.function):
        return ""
    targets = list(index.calling.targets(call, spot))
    said = [_misfit(index, target, call) if isinstance(target, Target) else "" for target in targets]
    return said[0] if said and all(said) else ""


def made_or_run(index: Index, call: Expr, spot: Spot) -> str:
    """Full name of the external class that a call makes an object of, or of the function that it runs; "" of an object's call."""
    things = index.objects.of(call.parts[0], spot)
    return next((thing.name for thing in things if isinstance(thing, External)), "") if len(things) == 1 else ""


def _excludes_itself(index: Index, call: Expr, spot: Spot) -> bool:
    """A loader that is surely given a sampler and told to shuffle."""
    sampler, shuffle = call.argument(3, "sampler"), constant(index, call.argument(2, "shuffle"), spot)
    made = [one for one, _ in makers(index, sampler, spot)] if sampler is not None else []
    return shuffle is not None and shuffle.text == "True" and bool(made) and all(one.kind == "call" for one in made)


def misfit_of_targets(index: Index, event: Event, spot: Spot) -> str:
    """Why `state, reward, done = env.step(action)` surely fails: all that is called gives back another number of values."""
    call = event.value
    if event.kind != "assign" or call is None or call.kind != "call" or len(event.targets) != 1:
        return ""
    wanted = event.targets[0].parts
    if (
        event.targets[0].kind != "tuple"
        or any(one.kind == "star" for one in wanted)
        or not index.may_run(call, spot.function)
    ):
        return ""
    targets = list(index.calling.targets(call, spot))
    said = [_given_back(index, one, len(wanted)) if isinstance(one, Target) else "" for one in targets]
    return said[0] if said and all(said) else ""


def _given_back(index: Index, target: Target, wanted: int) -> str:
    lengths = lengths_given_back(index, target)
    if not lengths or wanted in lengths:
        return ""
    function = target.function
    return f"{function.qualname}() at {function.path}:{function.line} gives back {lengths[0]} values, not {wanted}"


def lengths_given_back(index: Index, target: Target) -> tuple[int, ...]:
    """How many values each return of a function writes out; () where one of them does not, or what it gives is altered."""
    function = target.function
    if function.decorators or not _is_plain(index, target) or any(_yields(event) for event in function.events):
        return ()
    found = [_length(event.value) for event in function.events if event.kind == "return"]
    lengths = tuple(one for one in found if one is not None)
    return lengths if len(lengths) == len(found) else ()


def _length(value: Expr | None) -> int | None:
    """Of a tuple that is written out."""
    if value is None or value.kind != "tuple" or any(part.kind == "star" for part in value.parts):
        return None
    return len(value.parts)


def _yields(event: Event) -> bool:
    return event.value is not None and any(part.kind == "yield" for part in event.value.walk())


def _misfit(index: Index, target: Target, call: Expr) -> str:
    function = target.function
    if any(mark.last not in _TRANSPARENT for mark in function.decorators) or not _is_plain(index, target):
        return ""
    own = [one for one in function.parameters if not one.kind]
    if target.owner is not None and function.self_name:
        own = own[1:]
    kinds, names = {one.kind for one in function.parameters}, {one.name for one in own}
    ordered = [one for one in own if not one.keyword_only]
    keywords = {part.text for part in call.parts[1:] if part.kind == "keyword"}
    shown = f"{function.qualname}() at {function.path}:{function.line}"
    if "**" not in kinds and (odd := sorted(keywords - names)):
        return f"{shown} takes no argument {odd[0]}"
    if "*" not in kinds and len(call.arguments) > len(ordered):
        return f"{shown} takes {len(ordered)} positional arguments, not {len(call.arguments)}"
    met = {one.name for one in ordered[: len(call.arguments)]} | keywords
    needed = [one.name for one in own if one.default is None and one.name not in met]
    return f"{shown} needs an argument {needed[0]}" if needed else ""


def _is_plain(index: Index, target: Target) -> bool:
    """What is called runs the function itself: no decorator of the class, and no __new__ or __call__ of a library."""
    owner = target.owner.kind if target.owner is not None else None
    if not isinstance(owner, Class):
        return owner is None
    if any(one.decorators or one.keywords or "__new__" in one.methods for one in index.lineage(owner)):
        return False
    return target.function.name != "forward" or is_module_class(index, owner)
