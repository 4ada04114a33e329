"""Numbers that decide a run and that a constructor sets: of what holds the loop, of a class that is there for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from trainsleuth.facts import Class, Event, Expr, Function

from ..configuration.forms.fields import is_settings_class, made_tables
from ..loop.networks import is_network
from ..program import Program

MOST = 4  # of one class
_NAMED = re.compile(r"(?:^|_)(?:lr|learning_rate|batch_size|max_steps|(?:epochs?|iterations|iters|steps)$|weight_decay|momentum|patience)", re.I)  # fmt: skip


def hyperparameters(program: Program) -> Iterator[tuple[Function, Event]]:
    """self.initial_lr = 1e-2: the first ones of each constructor that the program reaches."""
    owners = dict.fromkeys(program.index.class_of(one) for one in program.training.spine)
    holders = [cls for one in owners if one is not None for cls in program.index.lineage(one)]
    for cls in dict.fromkeys((*holders, *_of_settings(program))):
        init = cls.methods.get("__init__")
        if init is not None and program.is_reached(init) and not is_network(program.index, cls):
            told = (event for event in init.events if event.kind == "assign" and _is_number(event))
            yield from ((init, event) for event in islice(told, MOST))


def of_tables(program: Program) -> Iterator[tuple[Function, Event]]:
    """LEARNING_RATE = 0.001 in the class of settings that the program makes, or in one above it."""
    for cls in (base for made in made_tables(program) for base in program.index.lineage(made)):
        told = (event for event in cls.body.events if event.kind == "assign" and _is_number(event))
        yield from ((cls.body, event) for event in islice(told, 2 * MOST))


def _of_settings(program: Program) -> Iterator[Class]:
    for path in sorted(program.entry.reach.files):
        yield from (one for one in program.index.files[path].classes.values() if is_settings_class(program, one))


def _is_number(event: Event) -> bool:
    """A number that does not only begin a count."""
    value = event.value
    if value is None or not _is_written(value) or value.text in ("0", "1"):
        return False
    return any(_NAMED.search(one.last) for one in event.targets if one.kind == "path")


def _is_written(value: Expr) -> bool:
    return value.kind in ("number", "unary") or (value.kind == "binary" and all(map(_is_written, value.parts)))
