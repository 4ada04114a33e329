"""Environments that an agent acts in: what their classes do in a step, what they show of it, what they reward."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Function, Index

from ..loop.networks import is_network
from ..program import Program

_SAYS = re.compile(r"(?:^|[/._])envs?(?:ironments?)?(?:$|[/._])|Env(?:ironment)?s?(?=$|[A-Z\d_])", re.I)
_KEY = re.compile(r"(?:^|\.)(?:env|environment|task)(?:\.(?:_target_|class_path|class_name|type|name|\d+))?$", re.I)
_RESETS = ("reset", "reset_idx", "_reset", "_reset_idx", "reset_envs_idx")
_OBSERVES = re.compile(r"^_?(?:compute|get|make|build)_?(?:\w+_)?obs(?:ervations?)?$")
_REWARDS = re.compile(
    r"^_?(?:compute|calc(?:ulate)?|get|combine|prepare)_?(?:\w+_)?rewards?(?:_functions?)?$|^reward(?:_fn|_function)?$"
)


def environments(program: Program) -> Iterator[Class]:
    """Classes of the project that the settings choose or that reached code makes: with a step and a reset."""
    chosen = (one.target for one in program.choices if _KEY.search(one.key))
    made = (cls for cls in program.made_at if _SAYS.search(f"{cls.path.rpartition('.')[0]}.{cls.name}"))
    for cls in dict.fromkeys((*chosen, *made)):
        if isinstance(cls, Class) and _is_environment(program.index, cls):
            yield cls


def _is_environment(index: Index, cls: Class) -> bool:
    acts = index.method(cls, "step") is not None and any(index.method(cls, name) is not None for name in _RESETS)
    return acts and not is_network(index, cls)


def acts_by(index: Index, cls: Class) -> Iterator[Function]:
    """Its step, what it shows, how it begins anew."""
    named = ["step", *sorted({one.name for one in _methods(index, cls) if _OBSERVES.match(one.name)}), *_RESETS]
    own = [one for name in named if (one := index.method(cls, name)) is not None]
    steps = (one.methods["step"] for one in index.lineage(cls) if "step" in one.methods)  # super().step(actions)
    yield from dict.fromkeys((*own[:1], *steps, *own))


def rewards_by(index: Index, cls: Class) -> Iterator[Function]:
    names = sorted({one.name for one in _methods(index, cls) if _REWARDS.match(one.name)})
    yield from filter(None, (index.method(cls, name) for name in names))


def _methods(index: Index, cls: Class) -> Iterator[Function]:
    for one in index.lineage(cls):
        yield from one.methods.values()
