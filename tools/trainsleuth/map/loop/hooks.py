"""The classes of a project that a framework runs, and their methods that it calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.facts import Class, Expr, External, Function, Index
from trainsleuth.facts.reading.scopes import bindings

from ..calling.values import Values
from ..programs.sidelines import NEVER
from .frameworks import Framework, Handover, is_around_lightning, owned_by, started
from .networks import is_network

MAX_CLASSES = 6


def handed_classes(index: Index, values: Values, framework: Framework, handed: Iterable[Handover]) -> tuple[Class, ...]:
    """Classes of what is handed to the framework, with their bases: trainer.fit(model, data), Trainer(model).fit()."""
    found: dict[Class, None] = {}
    for handover in handed:
        for value in _given(handover):
            for held in values.of(handover.site.function, value):
                if isinstance(held, Class) and any(index.method(held, name) is not None for name in framework.hooks):
                    found.update(dict.fromkeys(index.lineage(held)))
    return tuple(found)


def handed_networks(index: Index, values: Values, handed: Iterable[Handover]) -> tuple[Class, ...]:
    """Networks of the project among what the loop is started with and what its trainer was made with: Trainer(model=net)."""
    given = ((one.site.function, value) for one in handed for value in (*_given(one), *_made_with(one)))
    found = (held for function, value in given for held in values.of(function, value))
    return tuple(dict.fromkeys(one for one in found if isinstance(one, Class) and is_network(index, one)))


def _given(handover: Handover) -> Iterator[Expr]:
    """What the loop is started with; where that is nothing, what its trainer was made with."""
    call = handover.site.call
    yield from _arguments(call) if call.parts[1:] else _made_with(handover)


def _made_with(handover: Handover) -> Iterator[Expr]:
    receiver, function = handover.site.call.receiver, handover.site.function
    made = bindings(function).get(receiver.text, ()) if receiver is not None and receiver.kind == "path" else ()
    for one in (receiver, *(binding.value for binding in made)):
        yield from _arguments(one) if one is not None and one.kind == "call" else ()


def _arguments(call: Expr) -> Iterator[Expr]:
    for part in call.parts[1:]:
        yield part.parts[0] if part.kind == "keyword" else part


def trainers_run(index: Index, values: Values, framework: Framework, handed: Iterable[Handover]) -> tuple[Class, ...]:
    """Project classes of the trainers whose loop is started, with their bases: DistilTrainer(model).train(). What only
    makes the trainer, and the module that it runs, is none.
    """
    found: dict[Class, None] = {}
    for handover in handed:
        for held in started(index, values, handover.site):
            if isinstance(held, Class) and owned_by(index, held) == framework and not is_around_lightning(index, held):
                found.update(dict.fromkeys(index.lineage(held)))
    return tuple(found)


def derived_classes(
    index: Index, values: Values, framework: Framework, handed: Iterable[Handover], distance: Mapping[Function, int]
) -> tuple[Class, ...]:
    """Project classes that derive from the framework's: those that are reached, else any but those of tests.

    Where the trainer is known to be the framework's own, no trainer of the project is run.
    """
    held = [held for one in handed for held in started(index, values, one.site)]
    is_own = bool(held) and all(isinstance(one, External) and one.name.startswith(framework.packages) for one in held)
    found = [
        cls
        for cls in index.classes()
        if any(base.partition(".")[0] in framework.packages for base in index.external_bases(cls))
    ]
    reached = [cls for cls in found if any(method in distance for method in cls.methods.values())]
    near = reached or [cls for cls in found if not NEVER.search(cls.path)]
    near = [cls for cls in near if not (is_own and owned_by(index, cls) == framework)]
    near = [cls for cls in near if any(index.method(cls, name) for name in framework.hooks)]
    return tuple(sorted(near, key=lambda cls: (cls.path, cls.line))[:MAX_CLASSES])


def callback_hooks(index: Index, framework: Framework, distance: Mapping[Function, int]) -> Iterator[Function]:
    """Reached methods, nearest first, that the framework calls of the project's classes of callbacks: on_train_batch_end."""
    for function in distance:
        cls = index.class_of(function) if _OF_THE_LOOP.match(function.name) else None
        bases = index.external_bases(cls) if cls is not None else ()
        if any(_CALLBACK.search(base) and base.partition(".")[0] in framework.packages for base in bases):
            yield function


_CALLBACK = re.compile(r"(?:Callback|Hook)$|\.(?:callbacks?|hooks?)\.")
_OF_THE_LOOP = re.compile(r"(?:on|before|after)_\w*(?:train|fit|epoch|batch|step|iter|backward|zero_grad)")


def hook_methods(framework: Framework, cls: Class) -> Iterator[Function]:
    """Methods of `cls` that the framework calls."""
    for name in framework.hooks:
        if name in cls.methods:
            yield cls.methods[name]
