"""The class of settings whose fields are the sections that somebody sets, and the classes of settings in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.facts import Class, Event, External, Function, Index

from ...calling.annotations import named_types
from ...program import Program
from ...recipe.parsed_classes import parsed_classes

LEAST = 2  # sections, of which one that is called alike in another class says little


def whole(index: Index, files: Iterable[str], sections: frozenset[str]) -> frozenset[Class]:
    """`class Run: data: Data; optim: Optim = field(default_factory=Optim)` for a recipe that sets data.* and optim.*:
    Run, Data, Optim, their bases and the classes in their fields. None where no class has all `sections`, or several do.
    """
    if len(sections) < LEAST:
        return frozenset()
    every = [cls for path in files for cls in index.files[path].classes.values()]
    tops = [cls for cls in every if sections <= {name for name, _ in _fields(index, cls)}]
    tops = [cls for cls in tops if not any(other is not cls and other in index.lineage(cls) for other in tops)]
    return with_parts(index, (tops[0], *index.subclasses(tops[0]))) if len(tops) == 1 else frozenset()


def made_of_all(program: Program) -> Mapping[str, tuple[str, ...]]:
    """Names of classes whose fields are the top keys: from_dict(data_class=Run, data=recipe), OmegaConf.structured(Run)."""
    found: dict[str, tuple[str, ...]] = {}
    for called in program.reached_calls:
        makers = (one.name for one in called.targets if isinstance(one, External))
        if called.call.last in _MAKES_ALL and any(name.startswith(("dacite.", "omegaconf.")) for name in makers):
            for cls in parsed_classes(program.index, called.function, called.call):
                found.update({base.name: ("",) for base in program.index.lineage(cls)})
    return found


_MAKES_ALL = ("from_dict", "structured")


def with_parts(index: Index, classes: Iterable[Class]) -> frozenset[Class]:
    """Classes with their bases, those in their fields, and those in the fields of these."""
    found: set[Class] = set()
    left = list(classes)
    while left:
        for cls in index.lineage(left.pop()):
            if cls not in found:
                found.add(cls)
                left += [one for _, event in _own(cls) for one in _held(index, cls.body, event)]
    return frozenset(found)


def family(index: Index, classes: Iterable[Class]) -> frozenset[Class]:
    """The bases that classes of settings of the project share."""
    return frozenset(base for cls in classes for base in index.lineage(cls)[1:])


def _fields(index: Index, cls: Class) -> Iterator[tuple[str, Event]]:
    for base in index.lineage(cls):
        yield from _own(base)


def _own(cls: Class) -> Iterator[tuple[str, Event]]:
    for event in cls.body.events:
        if event.kind == "assign" and event.text:
            yield from ((one.text, event) for one in event.targets if one.kind == "path")


def _held(index: Index, body: Function, event: Event) -> Iterator[Class]:
    """What an annotation names, in whatever it is wrapped, and what a default makes."""
    for named in (event.text, *_wrapped(event.text)):
        yield from (one for one in named_types(index, body, named) if isinstance(one, Class))
    for part in event.value.walk() if event.value is not None else ():
        made = index.resolve(body, part.text) if part.kind == "path" else None
        if isinstance(made, Class):
            yield made


def _wrapped(annotation: str) -> list[str]:
    """The names in dict[str, Part] | None, one by one."""
    cut = annotation
    for sign in "[]|,\"'":
        cut = cut.replace(sign, " ")
    return cut.split()
