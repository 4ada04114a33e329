"""Names that are looked up among all that a file knows: globals()[args.task](cfg), eval(cfg.model.name)(cfg)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import MODULE_BODY, Class, Event, Expr, Function, Index, Module, Site
from trainsleuth.facts.memo import kept_per_index

from .tables import Entry

MAX_LEFT = 8  # functions of one file that nobody calls: of more it is not said which one is asked for
_NAMESPACES = ("globals", "vars", "locals")


def lookups_in_own(index: Index) -> Iterator[tuple[Site, Expr]]:
    """Where a file is asked for one of its own names, with the name: globals()[name], globals().get(name), eval(name)."""
    for site in index.calls("eval"):
        if site.call.callee == "eval" and len(site.call.arguments) == 1:
            yield site, site.call.arguments[0]
    for site in index.calls(*_NAMESPACES):
        event = site.function.events[site.position]
        for asked in _asked(event, site.call):
            yield site, asked


def is_of_something_else(function: Function, line: int) -> bool:
    """eval() of text at `line` is bound to a name that nothing calls: mean = eval(args.mean) holds numbers."""
    for event in function.events:
        value = event.value
        if event.line == line and event.kind == "assign" and value is not None and value.callee == "eval":
            names = {target.text for target in event.targets if target.kind == "path"}
            return not any(call.callee in names for one in function.events for call in one.calls)
    return False


def _asked(event: Event, namespace: Expr) -> Iterator[Expr]:
    for expr in _expressions(event):
        for part in expr.walk():
            if part.kind == "index" and part.parts[0] is namespace:
                yield part.parts[1]
            elif part.kind == "call" and part.last == "get" and part.receiver is namespace and part.arguments:
                yield part.arguments[0]


def _expressions(event: Event) -> tuple[Expr, ...]:
    return ((event.value,) if event.value is not None else ()) + event.calls


def is_namespace(expr: Expr) -> bool:
    return expr.kind == "call" and expr.callee in _NAMESPACES


def names_known_in(index: Index, path: str) -> Mapping[str, Entry]:
    """Classes and functions of the project by the names that the file at `path` has for them, its star imports too."""
    found: dict[str, Entry] = {}
    own = Module(path, "")
    for entry in index.files[path].imports:
        if entry.alias and entry.name != "*":
            _put(found, entry.alias, index.names.member(own, entry.alias))
        elif entry.name == "*":
            module = index.names.module(path, entry.module, entry.level)
            if module is not None and module.path and module.path != path:
                for name, one in _written_in(index, module.path):
                    _put(found, name, one)
    found.update(_written_in(index, path))
    return found


@kept_per_index
def names_handed_out(index: Index, path: str) -> Mapping[str, Entry]:
    """Classes and functions by the names that others may ask the module at `path` for: its own, what it takes over by
    stars, and what a package gathers from its files."""
    found: dict[str, Entry] = {}
    for one in _with_starred(index, path)[::-1]:
        package = Module(one, one.rpartition("/")[0] or ".")
        for entry in index.files[one].imports if one.endswith("__init__.py") else ():
            if entry.alias and entry.name != "*":
                _put(found, entry.alias, index.names.member(package, entry.alias))
        found.update((name, held) for name, held in _written_in(index, one) if one == path or not name.startswith("_"))
    return found


def _with_starred(index: Index, path: str) -> list[str]:
    """The module, and those that it takes over by stars, each before what it takes over in turn."""
    found = [path]
    for one in found:  # grows
        for entry in reversed(index.files[one].imports):
            module = index.names.module(one, entry.module, entry.level) if entry.name == "*" else None
            if module is not None and module.path and module.path not in found:
                found.append(module.path)
    return found


def _put(found: dict[str, Entry], name: str, one: object) -> None:
    if isinstance(one, Class | Function):
        found[name] = one


def _written_in(index: Index, path: str) -> Iterator[tuple[str, Class | Function]]:
    file = index.files[path]
    yield from ((name, one) for name, one in file.functions.items() if "." not in name and name != MODULE_BODY)
    yield from ((name, one) for name, one in file.classes.items() if "." not in name)


def left_to_be_asked(index: Index, path: str) -> tuple[Function, ...]:
    """Functions of a file that no code in it calls by their names: what it runs by a name that is not known."""
    file = index.files[path]
    called = {call.callee for one in file.functions.values() for event in one.events for call in event.calls}
    own = (one for name, one in file.functions.items() if name.isidentifier() and not name.startswith("_"))
    found = tuple(one for one in own if one.name not in called and one.name != MODULE_BODY)
    return found if len(found) <= MAX_LEFT else ()
