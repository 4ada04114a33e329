"""Settings of a library: the defaults of what trains, where a README shows how to make it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Expr
from trainsleuth.repository import is_python

from ..program import Program
from ..records import Place

_TELLING = re.compile(r"(?:learning_rate|lr|batch_size|n_?epochs?|max_epochs|max_steps|num_steps|n_steps|seed)$", re.I)
_LITERALS = ("number", "string", "constant", "unary", "tuple")
MIN_OFFERED = 4  # settings with a default


def library_defaults(program: Program, call: Expr) -> Iterator[Place]:
    """Those of the class whose objects a call in a README makes: PPO("MlpPolicy", env)."""
    if is_python(program.entry.path):
        return
    step = program.training.step
    owner = program.index.class_of(step) if step is not None else None
    for target in program.graph.targets(program.entry.root, call):
        made = program.index.method(target, "__init__") if isinstance(target, Class) else None
        if made is None or not isinstance(target, Class) or owner not in program.index.lineage(target):
            continue
        offered = [one for one in made.parameters if one.default is not None and one.default.kind in _LITERALS]
        if len(offered) >= MIN_OFFERED:
            yield program.at(made, made.line, "defaults", 0.8)
            told = (one.default.line for one in offered if one.default is not None and _TELLING.match(one.name))
            yield from (program.at(made, line, "default", 0.7) for line in told)
