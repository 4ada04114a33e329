"""Classes of settings that a chosen class names as its own: def args_cls(): return DinoArgs; __init__(self, args: DinoArgs)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, Event, Expr, Function, bindings

from ...calling.annotations import named_types
from ...loop.networks import is_network
from ...program import Program
from .fields import is_settings_class

MAX_HOPS = 2  # from the chosen class to one that it names, which names settings of its own


def named_by_chosen(program: Program) -> Mapping[Class, str]:
    """The class, and the parameter under which the chosen class gets its object; "" where it has none.

    What a recipe or a command chooses counts, and the class that holds the training step.
    """
    files = ("", *program.config_paths)
    chosen = [one.target for one in program.choices if one.path in files] if program.told else []
    if program.told and program.training.step is not None:
        chosen.append(program.index.class_of(program.training.step))
    left = [(one, MAX_HOPS) for one in chosen if isinstance(one, Class)]
    found: dict[Class, str] = {}
    seen: set[Class] = set()
    while left:
        cls, hops = left.pop(0)
        if cls in seen:
            continue
        seen.add(cls)
        for named, under in _named(program, cls):
            if is_settings_class(program, named):
                found[named] = found.get(named) or under
            elif hops and not is_network(program.index, named):
                left.append((named, hops - 1))
    return found


def _named(program: Program, cls: Class) -> Iterator[tuple[Class, str]]:
    """By the parameters of its constructor, then by what its methods give back that is a class and not made there."""
    index = program.index
    init = cls.methods.get("__init__")
    under = {parameter.name: parameter.annotation for parameter in init.parameters} if init is not None else {}
    wanted = {
        name: one
        for name, annotation in under.items()
        for one in named_types(index, init or cls.body, annotation)
        if isinstance(one, Class)
    }
    yield from ((one, name) for name, one in wanted.items())
    for method in cls.methods.values():
        for event in method.events:
            for one in _given_back(program, method, event):
                holds = (name for name, kind in wanted.items() if kind in index.lineage(one))
                yield one, next(holds, "")


def _given_back(program: Program, method: Function, event: Event) -> Iterator[Class]:
    """return Args; return table.get(kind, Args) where the table of the method holds classes."""
    if event.kind != "return" or event.value is None:
        return
    for part in event.value.walk():
        if part.kind == "path" and part.text != method.self_name:
            yield from _classes(program, method, part)
            head = part.text.partition(".")[0]
            tables = (one.value for one in bindings(method).get(head, ()) if one.value is not None)
            for table in tables:
                pairs = table.parts if table.kind == "dict" else ()
                yield from (cls for pair in pairs for cls in _classes(program, method, pair.parts[-1]))


def _classes(program: Program, method: Function, name: Expr) -> Iterator[Class]:
    found = program.index.resolve(method, name.text) if name.kind == "path" else None
    if isinstance(found, Class):
        yield found
