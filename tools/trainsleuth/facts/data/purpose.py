"""What a data loader is for, by names and by what it is given, and how long it is gone over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..naming.sites import Site
from ..records import Event, Expr, Function
from ..tracing.things import Frame, Spot
from ..wording import written
from .datasets import dataset_classes, dataset_given, is_iterable
from .loaders import is_spread

if TYPE_CHECKING:
    from ..index import Index

_EVALUATES = re.compile(r"val(?!ue)|test|eval|infer|demo|predict", re.I)
_EVALUATION = re.compile(
    r"(?<![a-z])(val|test|eval|dev(?!ice|el)|holdout)(?!ue)|[a-z](Val(?!ue)|Test|Eval)|VAL|TEST|EVAL|"
    r"(val(id)?|test|eval)_?(set|data|loader|dl)"
)
_TRAINS = re.compile(r"train|fit", re.I)
_COUNTS = re.compile(r"(^|_)(epoch|step|round)$")
_ENDLESS = re.compile(r"infinit|endless|cycle|iter(?!ation)|repeat", re.I)
_LASTING = "persistent_workers"


def is_for_training(site: Site) -> bool:
    """It shuffles, or is named after training; what is named after an evaluation is not."""
    given = dataset_given(site.call)
    names = " ".join([*(target.text for target in site.event.targets), written(given) if given is not None else ""])
    if _EVALUATES.search(f"{names} {site.function.name}") and not _TRAINS.search(names):
        return False
    shuffle = site.call.keyword("shuffle")
    shuffles = shuffle is not None and shuffle.text != "False"
    sampled = any(site.call.keyword(name) is not None for name in ("sampler", "batch_sampler"))
    return shuffles or sampled or bool(_TRAINS.search(f"{names} {site.function.name}"))


def may_outlive_epoch(site: Site) -> bool:
    """Its workers, given or among the **options; or this very loader is made anew for each epoch."""
    lasting = site.call.keyword(_LASTING)
    if lasting is not None and lasting.text != "False":
        return True
    words = [parameter.name for parameter in site.function.parameters]
    words += _keys(site.function) if is_spread(site.call) else ()
    return any(_LASTING in word or _COUNTS.search(word) for word in words)


def _keys(function: Function) -> Iterator[str]:
    for event in function.events:
        for root in (*event.targets, event.value):
            for part in root.walk() if root is not None else ():
                if part.kind in ("string", "pair", "keyword"):
                    yield part.text


def may_be_endless(index: Index, site: Site) -> bool:
    """It may be gone over once only."""
    if any(is_iterable(index, cls) for cls in dataset_classes(index, site.call, Spot(site.function, site.position))):
        return True
    given = (dataset_given(site.call), *(site.call.keyword(name) for name in ("sampler", "batch_sampler")))
    return any(_ENDLESS.search(written(one)) for one in given if one is not None)


def is_named_evaluation(site: Site, frame: Frame | None) -> bool:
    """The nearest name that speaks of training or of evaluation, but not of both, speaks of evaluation: that of the loader, of its
    dataset, of the function that makes it, or what a call of this function is given and gives.
    """
    return next(
        (evaluates for name in _names_of(site, frame) if (evaluates := names_evaluation(name)) is not None), False
    )


def names_evaluation(name: str) -> bool | None:
    """False where it speaks of training; None where it speaks of both or of neither."""
    trains, evaluates = _TRAINS.search(name) is not None, _EVALUATION.search(name) is not None
    return evaluates if trains is not evaluates else None


def _names_of(site: Site, frame: Frame | None) -> Iterator[str]:
    given = dataset_given(site.call)
    yield " ".join(_called(site.event, site.call))
    yield written(given, 200) if given is not None else ""
    yield site.function.name
    while frame is not None and frame.call is not None and frame.caller is not None:
        function = frame.caller.function
        if frame.caller.position < len(function.events):
            yield " ".join(_called(function.events[frame.caller.position], frame.call))
        yield " ".join(written(part, 200) for part in frame.call.parts[1:])
        yield function.name
        frame = frame.caller.frame


def _called(event: Event, call: Expr) -> Iterator[str]:
    """What the value of a call is bound to or put under: val_loader = ..., {"val": ...}, Loaders(val=...)."""
    within = [part for part in event.value.walk() if part.kind in ("pair", "keyword")] if event.value else []
    named = [part for part in within if any(inner is call for inner in part.parts)]
    if named:
        yield from (part.text or part.parts[0].text for part in named)
    else:
        yield from (written(target) for target in event.targets)
