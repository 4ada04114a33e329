"""What follows from the choices of a recipe: what runs, what each section builds, what was passed over."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping

from trainsleuth.facts import Class, Function, Index
from trainsleuth.facts.reading.config import BUILDING_TAGS
from trainsleuth.repository import is_python

from ..calling.forwarding import handing_on
from ..naming.tables import Table
from .config_objects import BUILDS, is_config
from .recipes import CLASS_KEYS, Choice, Setting, refers_to


def roots_of(index: Index, chosen: Iterable[Choice]) -> Iterator[Function]:
    """Functions that run because a recipe chose them: a class is constructed, its methods may be called.

    Of a configuration class whose object code writes down, those that Python calls and those that build from it.
    """
    for choice in chosen:
        written_down = choice.path.endswith(".py") and isinstance(choice.target, Class) and is_config(choice.target)
        for function in _functions_of(index, choice.target):
            if not written_down or function.name.startswith("__") or BUILDS.match(function.name):
                yield function


def offered(
    index: Index, reached: Container[Function], known: Mapping[str, list[Table]], chosen: Iterable[Choice]
) -> Iterator[Function]:
    """Functions of every entry of the tables that `reached` looks names up in, where no setting says which."""
    decided = [choice.table for choice in chosen if choice.table is not None and choice.target is not None]
    kinds = {table.kind for table in decided if table.kind}
    for table in dict.fromkeys(table for found in known.values() for table in found):
        if table in decided or table.kind in kinds or table.site is None:
            continue
        if table.site[0] in reached:
            for entry in table.entries.values():
                yield from _functions_of(index, entry)


def _functions_of(index: Index, target: object) -> Iterator[Function]:
    if isinstance(target, Function):
        yield target
    elif isinstance(target, Class):
        for one in index.lineage(target):
            yield from (m for m in one.methods.values() if index.method(target, m.name) is m)


def looked_up(index: Index, chosen: Iterable[Choice]) -> dict[Function, tuple[Class, ...]]:
    """Functions that look a chosen class up -> the classes that they give back, made or not; and those that hand it on."""
    found: dict[Function, tuple[Class, ...]] = {}
    for choice in chosen:
        for function, _ in choice.sites:
            if isinstance(choice.target, Class):
                found[function] = (*found.get(function, ()), choice.target)
    for function, classes in list(found.items()):
        for outer in handing_on(index, function):
            found.setdefault(outer, classes)
    return found


def functions_looked_up(chosen: Iterable[Choice]) -> dict[Function, tuple[Function, ...]]:
    """Functions that give back what they look up, where that is a chosen function: return PROVIDERS.get(family)"""
    found: dict[Function, tuple[Function, ...]] = {}
    for choice in chosen:
        if isinstance(choice.target, Function):
            for function, line in choice.sites:
                if any(event.kind == "return" and event.line == line for event in function.events):
                    found[function] = (choice.target,)
    return found


def called(chosen: Iterable[Choice]) -> dict[str, Function]:
    """The function that a section of the configuration names, by the section's key."""
    sections = ((choice.key.rpartition("."), choice.target) for choice in chosen)
    return {
        one[0]: target for one, target in sections if one[2] in CLASS_KEYS and one[0] and isinstance(target, Function)
    }


def configured(given: Iterable[Setting], chosen: Iterable[Choice]) -> dict[str, Class]:
    """The class that a section of the configuration builds, by the section's key and by keys that refer to it."""
    built: dict[str, Class] = {}
    for choice in chosen:
        section, _, last = choice.key.rpartition(".")
        if last in CLASS_KEYS and isinstance(choice.target, Class) and section:
            built[section] = choice.target
    for setting in given:
        referred = refers_to(setting.value)
        if referred and (target := _by_suffix(built, referred)) is not None:
            built[setting.key] = target
    return built


def _by_suffix(built: Mapping[str, Class], key: str) -> Class | None:
    return next((cls for section, cls in built.items() if section == key or section.endswith(f".{key}")), None)


def slots(given: Iterable[Setting], chosen: Iterable[Choice]) -> dict[str, Class]:
    """By the last name of the section, where all sections of that name build one: what self.head is for head.type.

    A name in Python counts as the section that it is bound to: encoder=codec, below codec = dict(type="Heatmap").
    """
    built: dict[str, Class] = {}
    for choice in chosen:
        section, _, last = choice.key.rpartition(".")
        if isinstance(choice.target, Class) and last in _NAMES_IT and section:
            built[section] = choice.target
    for setting in given:
        if is_python(setting.path) and setting.value in built:
            built.setdefault(setting.key, built[setting.value])
    found: dict[str, set[Class]] = {}
    for section, target in built.items():
        found.setdefault(section.rpartition(".")[2], set()).add(target)
    return {name: targets.pop() for name, targets in found.items() if len(targets) == 1 and not name.isdigit()}


_NAMES_IT = ("type", "_target_", "class_path", "_component_")


def tagged(given: Iterable[Setting], chosen: Iterable[Choice]) -> dict[str, Class | Function]:
    """By the last name under which the code finds it: what a configuration file makes or names by a tag."""
    made = [choice for choice in chosen if choice.key.rpartition(".")[2] in BUILDING_TAGS]
    found: dict[str, Class | Function] = {}
    for choice in made:
        if choice.target is not None:
            found[choice.key.split(".")[-2]] = choice.target
    for setting in given if made else ():
        if (named := refers_to(setting.value)) in found:
            found.setdefault(setting.key.rpartition(".")[2], found[named])
    return found


def sections_with_classes(chosen: Iterable[Choice]) -> Iterator[tuple[str, Class]]:
    """Sections at the top that say what class they are of: sampling.class_name."""
    for choice in chosen:
        section, _, last = choice.key.partition(".")
        if last in CLASS_KEYS and isinstance(choice.target, Class):
            yield section, choice.target


def picked(chosen: Iterable[Choice]) -> dict[str, Class | Function]:
    """What each setting chooses, by its key without the places in lists: "process.type" of process.0.type."""
    return {_PLACE.sub("", choice.key): choice.target for choice in chosen if choice.target is not None}


_PLACE = re.compile(r"\.\d+(?=\.|$)")


def kinds_of(index: Index, chosen: Iterable[Choice]) -> dict[str, Class]:
    """The class chosen for each kind of registry, the last choice winning."""
    return {
        choice.table.kind: choice.target
        for choice in chosen
        if choice.table is not None and choice.table.kind and isinstance(choice.target, Class)
    }


def not_chosen(index: Index, chosen: Iterable[Choice], every: Iterable[Table] = ()) -> frozenset[Class | Function]:
    """Classes and functions that the same tables hold and the recipe did not choose, nor their bases.

    Of `every` table also those that are asked by a key whose value another table holds.
    """
    taken = list(chosen)
    kept = {cls for choice in taken if isinstance(choice.target, Class) for cls in index.lineage(choice.target)}
    tables = {choice.table for choice in taken if choice.table is not None and choice.target is not None}
    decided = {choice.table.key: choice for choice in taken if choice.table is not None and choice.table.key}
    for table in every:
        one = decided.get(table.key) if table.is_asked_by_its_own_key else None
        if one is not None and one.target is not None and one.value not in table.entries:
            tables.add(table)
    functions = {choice.target for choice in taken if isinstance(choice.target, Function)}
    others = [other for table in tables for other in table.entries.values() if isinstance(other, Class | Function)]
    others += [cls for choice in taken for cls in _below(index, choice)]
    others += [cls for choice in taken for cls in _beside(index, choice)]
    return frozenset(other for other in others if other not in kept and other not in functions)


def _below(index: Index, choice: Choice) -> Iterator[Class]:
    """Classes made from a chosen one that no call makes: the objects of the program are of the chosen class itself."""
    if isinstance(choice.target, Class):
        for cls in index.subclasses(choice.target):
            if not any(True for _ in index.calls(cls.name)):
                yield cls


def _beside(index: Index, choice: Choice) -> Iterator[Class]:
    """Classes that share a base of the project with one that is named outright, which no table tells apart: no call makes
    them or one below them, so that this setting alone could."""
    if isinstance(choice.target, Class) and choice.table is None:
        kin = dict.fromkeys(cls for base in index.lineage(choice.target)[1:] for cls in index.subclasses(base))
        made = {cls for cls in kin if _is_made(index, cls)}
        kept = {base for cls in made for base in index.lineage(cls)}
        yield from (cls for cls in kin if cls not in kept)


def _is_made(index: Index, cls: Class) -> bool:
    """A call has its name, and is not known to be one of a namesake."""
    means = (index.resolve(site.function, site.call.callee) for site in index.calls(cls.name) if site.call.callee)
    return any(not isinstance(one, Class) or one is cls for one in means)
