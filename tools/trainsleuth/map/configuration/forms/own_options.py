"""Options that a class makes of its own attributes: for key, value in vars(self).items(): parser.add_argument("--" + key)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, Index, Site
from trainsleuth.facts.memo import kept_per_index

from ...program import Program
from ..records import Definition
from .literals import text_of
from .own_attributes import own_attributes


class _Form(NamedTuple):
    """`strips`: an underscore before a name is none of the option; `initials`: its first letter is one, too, and where
    underscores are none of it, only of names that have one."""

    strips: bool = False
    initials: bool = False


def own_options(program: Program) -> Iterator[Definition]:
    """Of the classes of which reached code makes an object."""
    for cls, form in offering(program.index).items():
        if any(_makes(program, site, cls) for site in program.index.calls(cls.name)):
            for base in program.index.lineage(cls):
                yield from _options(base, form)


def _makes(program: Program, site: Site, cls: Class) -> bool:
    return program.is_reached(site.function) and program.index.resolve(site.function, site.call.callee) is cls


def _options(cls: Class, form: _Form) -> Iterator[Definition]:
    for name, value in own_attributes(cls):
        marked = form.strips and name.startswith("_")
        option = name[1:] if marked else name
        short = (option[:1],) if form.initials and (marked or not form.strips) else ()
        yield Definition(option, cls.path, value.line, text_of(value), (option, *short))


@kept_per_index
def offering(index: Index) -> Mapping[Class, _Form]:
    """Classes whose attributes are options."""
    makers: dict[Class, _Form] = {}
    for site in index.calls("add_argument"):
        cls, key = index.class_of(site.function), _key(site)
        if cls is not None and key:
            known = makers.get(cls, _Form())
            makers[cls] = _Form(known.strips or _strips(site, key), known.initials or _has_initial(site, key))
    return {cls: form for maker, form in makers.items() for cls in (maker, *index.subclasses(maker))}


def _key(site: Site) -> str:
    """The name over which a loop around the call goes through the attributes of self, where an option is called so."""
    loops = {loop.id: loop for loop in site.function.loops}
    around = (loops[one] for one in site.event.block.loops if one in loops)
    names = {
        target.text
        for loop in around
        if loop.target is not None and loop.source is not None and _is_all_of_self(site, loop.source)
        for target in (loop.target.parts or (loop.target,))[:1]
    }
    named = (_behind_dashes(one, "--") for one in site.call.arguments)
    return next((one.text for one in named if one is not None and one.text in names), "")


def _is_all_of_self(site: Site, source: Expr) -> bool:
    """vars(self), self.__dict__, and their items."""
    own = site.function.self_name
    return any(
        (part.kind == "call" and part.callee == "vars" and [one.text for one in part.arguments] == [own])
        or (part.kind == "path" and part.text.startswith(f"{own}.__dict__"))
        for part in source.walk()
    )


def _behind_dashes(expr: Expr, dashes: str) -> Expr | None:
    """What follows them: "--" + key, f"--{key}"."""
    if expr.kind == "format" and len(expr.parts) == 1:
        return expr.parts[0]
    if expr.kind == "binary" and expr.parts[0].kind == "string" and expr.parts[0].text == dashes:
        return expr.parts[1]
    return None


def _strips(site: Site, key: str) -> bool:
    calls = (call for event in site.function.events for call in event.calls)
    return any(call.callee == f"{key}.startswith" and [one.text for one in call.arguments] == ["_"] for call in calls)


def _has_initial(site: Site, key: str) -> bool:
    short = (_behind_dashes(one, "-") for one in site.call.arguments)
    return any(one is not None and one.kind == "index" and one.parts[0].text == key for one in short)
