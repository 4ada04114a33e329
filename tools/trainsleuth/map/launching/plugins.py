"""Packages that the training command of a library loads: fairseq-train DATA --user-dir ./own --task own_task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainsleuth.facts import Class, Function, Index

from ..loop.frameworks import Framework
from ..recipe.recipes import Choice
from .loaded_packages import starts_library
from .registering import registered_in

_HOOKS = (
    "train_step",
    "forward",
    "compute_loss",
    "valid_step",
    "load_dataset",
    "build_model",
    "build_criterion",
    "build_loss",
    "setup_task",
    "get_batch_iterator",
    "optimizer_step",
    "begin_epoch",
    "begin_valid_epoch",
    "reduce_metrics",
)
_HOLDS = ("loss", "optimizer_scheduler", "training_loop", "logging", "checkpointing", "evaluation")
_NETWORK = re.compile(r"^(?:model|arch|backbone|encoder|decoder)")


class Plugin(NamedTuple):
    """`classes` are those that the settings choose and that the library's loop calls, `networks` those that it trains."""

    framework: Framework
    classes: tuple[Class, ...]
    networks: tuple[Class, ...]


def plugin_of(index: Index, commands: Iterable[str], chosen: Iterable[Choice]) -> Plugin | None:
    """What the settings choose of a package that such a command loads, when classes of one library's registries are among it."""
    if not any(starts_library(index, text) for text in commands):
        return None
    libraries: Counter[str] = Counter()
    classes: dict[Class, None] = {}
    networks: dict[Class, None] = {}
    for choice in chosen:
        target = choice.target
        if isinstance(target, Class):
            libraries.update(library for library, _ in registered_in(index, target))
            if choice.table is not None:
                kept = networks if _NETWORK.match(choice.table.kind) else classes
                kept.update(dict.fromkeys(index.lineage(target)))
    if not libraries:
        return None
    name = libraries.most_common(1)[0][0]
    return Plugin(Framework(name, (name,), (), (), _HOLDS, _HOOKS), tuple(classes), tuple(networks))


def steps_of(plugin: Plugin) -> Iterator[Function]:
    """The methods that make the loss: the step of a task that has one, else what runs the network for its loss."""
    for name in _HOOKS[:3]:
        found = [cls.methods[name] for cls in plugin.classes if name in cls.methods]
        if found:
            yield from found
            return
