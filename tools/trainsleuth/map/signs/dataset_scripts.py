"""A data set that a script of the repository makes: load_dataset("src/my_dataset.py")."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class

from ..program import Program
from ..records import Place

_MAKES = {"_info": 0.6, "_split_generators": 0.72, "_generate_examples": 0.78}  # what datasets asks of the class


def dataset_scripts(program: Program) -> Iterator[Place]:
    for called in program.reached_calls:
        first = called.call.arguments[0] if called.call.last == "load_dataset" and called.call.arguments else None
        for named in (part.text for part in first.walk() if part.kind == "string") if first is not None else ():
            for cls in _builders(program, named) if named.endswith(".py") else ():
                yield program.at_target(cls, "data set", 0.85)
                for name, score in _MAKES.items():
                    if name in cls.methods:
                        yield program.at_target(cls.methods[name], "data set", score)


def _builders(program: Program, named: str) -> Iterator[Class]:
    tail = "/" + named.removeprefix("./")
    for path in (path for path in program.index.files if f"/{path}".endswith(tail)):
        classes = program.index.files[path].classes.values()
        yield from (cls for cls in classes if not cls.methods.keys().isdisjoint(_MAKES))
