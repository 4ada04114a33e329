"""Settings that are given to a framework as keywords: TrainingArguments(learning_rate=2e-5), Trainer(max_epochs=3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import External

from ..frameworks import FRAMEWORKS
from ..program import Program
from .literals import text_of
from .records import Definition

_TOLD = re.compile(r"(?:Trainer|TrainingArguments|Config|Learner|learner|Accelerator|NeuralNet\w*)$")
_PACKAGES = frozenset(package for framework in FRAMEWORKS for package in framework.packages) | {"accelerate"}


def arguments(program: Program) -> Iterator[Definition]:
    """Keywords of the constructors by which a program tells a framework how to train."""
    for called in program.reached_calls:
        name = next((one.name for one in called.targets if isinstance(one, External)), "")
        last = name.rpartition(".")[2]
        if not _TOLD.search(last) or name.partition(".")[0] not in _PACKAGES:
            continue
        for part in called.call.parts[1:]:
            if part.kind == "keyword":
                value = text_of(part.parts[0])
                yield Definition(part.text, called.function.path, part.line, value, (), f"argument of {last}", last)
