"""A class picked out of all that a module holds: [one for one in inspect.getmembers(module) if one[0] == name][0][1]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, Expr, Function, Index, Module, Variable
from trainsleuth.facts.reading.scopes import bindings

from .named_modules import Place, loaded_as

_LISTS = ("getmembers", "vars")


def picked_members(
    index: Index, modules: Mapping[Place, tuple[Module, ...]], function: Function, expr: Expr
) -> tuple[Class, ...]:
    """What the expression picks, where one module is listed: of the classes it defines those called like it, else all."""
    return _called_like_it(index, modules, function, _listed(function, expr))


def looped_members(index: Index, modules: Mapping[Place, tuple[Module, ...]], function: Function) -> tuple[Class, ...]:
    """The same of a function that gives back what it finds in a loop: for name, cls in module.__dict__.items()."""
    given = {event.value.text for event in function.events if event.kind == "return" and event.value is not None}
    for listed, kept in _listing_loops(function) if modules else ():
        bound = {name for name in given for one in bindings(function).get(name, ()) if one.value is not None and one.value.text in kept}  # fmt: skip
        if bound or given & kept:
            return _called_like_it(index, modules, function, listed)
    return ()


def looped_name(
    index: Index, modules: Mapping[Place, tuple[Module, ...]], function: Function, name: str
) -> tuple[Class, ...]:
    """The same of the name that such a loop gives to what it finds, and that the function calls itself."""
    loops = (listed for listed, kept in _listing_loops(function) if name in kept) if modules else iter(())
    listed = next(loops, None)
    return _called_like_it(index, modules, function, listed) if listed is not None else ()


def _listing_loops(function: Function) -> Iterator[tuple[Expr, set[str]]]:
    """Loops over all that a module holds: the module, and the names of what is found."""
    for loop in function.loops:
        listed = _source(function, loop.source)
        if listed is not None and loop.target is not None:
            yield listed, {part.text for part in loop.target.walk() if part.kind == "path"}


def _called_like_it(
    index: Index, modules: Mapping[Place, tuple[Module, ...]], function: Function, listed: Expr | None
) -> tuple[Class, ...]:
    found = tuple(_modules(index, modules, function, listed)) if listed is not None else ()
    if len(found) != 1 or found[0].path not in index.files:
        return ()
    own = [one for name, one in index.files[found[0].path].classes.items() if "." not in name]
    stem = found[0].path.rpartition("/")[2].removesuffix(".py").replace("_", "").lower()
    return tuple([one for one in own if stem in one.name.lower()] or own)


def _listed(function: Function, expr: Expr) -> Expr | None:
    """The module whose members the comprehension behind the indices goes through."""
    while expr.kind == "index":
        expr = expr.parts[0]
    if expr.kind != "each" or expr.text == "dictionary":
        return None
    clause = next((part for part in expr.parts if part.kind == "for"), None)
    return _source(function, clause.parts[-1]) if clause is not None else None


def _source(function: Function, source: Expr | None) -> Expr | None:
    """The module of vars(module).items(), module.__dict__.values(), inspect.getmembers(module)."""
    if source is not None and source.kind == "path":
        bound = bindings(function).get(source.text, ())
        source = bound[0].value if len(bound) == 1 else None
    while source is not None and source.kind == "call" and source.last in ("items", "values"):
        source = source.receiver
    if source is not None and source.last == "__dict__":
        return source.receiver
    is_list = source is not None and source.kind == "call" and source.last in _LISTS and source.arguments
    return source.arguments[0] if source is not None and is_list else None


def _modules(
    index: Index, modules: Mapping[Place, tuple[Module, ...]], function: Function, listed: Expr
) -> Iterator[Module]:
    held = index.resolve(function, listed.text) if listed.kind == "path" else None
    if isinstance(held, Module):
        yield held
    elif isinstance(held, Variable) or listed.kind == "call":
        yield from loaded_as(index, modules, function, listed)
