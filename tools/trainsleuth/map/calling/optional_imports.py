"""Names that are imported in a try and set to None when the package is missing, or from one of several modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.facts import MODULE_BODY, Class, Expr, External, FileFacts, Function, Index, Module, Symbol, Variable
from trainsleuth.facts.memo import kept_per_function, kept_per_index
from trainsleuth.facts.naming.names import imports_within
from trainsleuth.facts.records import Branch, Import

from ..recipe.branches import Settled, is_left


def resolve(index: Index, function: Function, dotted: str) -> Symbol | None:
    """`Index.resolve`, but a name that is also imported from another library means the import."""
    return _resolved(function, index, dotted)


@kept_per_function
def _resolved(function: Function, index: Index, dotted: str) -> Symbol | None:
    symbol = index.resolve(function, dotted)
    head, _, rest = dotted.partition(".")
    if symbol is not None and not (isinstance(symbol, Variable) and symbol.scope.name == MODULE_BODY):
        return symbol
    for entry in index.files[function.path].imports:
        if entry.alias == head and not entry.level and index.names.module(function.path, entry.module) is None:
            whole = ".".join(filter(None, (entry.module, entry.name, rest)))
            return External(whole)
    return symbol


def alternatives(
    index: Index, function: Function, name: str, settings: Mapping[str, str]
) -> tuple[Class | Function, ...]:
    """What `name` is imported as by several imports, without those in arms that the settings do not choose.

    if shared: from a import Runner, else: from b; if kind == "gan": from models.gan import Gan as Net
    """
    file = index.files[function.path]
    every = [one for one in file.imports if one.alias == name and one.name]
    if len(every) < 2:
        return ()
    every = imports_within(file, function, name) or every
    settled = Settled(settings, index, function)
    taken = [one for one in every if not any(is_left(branch, settled) for branch in one.under)]
    members = (_member(index, function, one) for one in taken or every)
    return tuple(dict.fromkeys(one for one in members if isinstance(one, Class | Function)))


def imported_in_arm(index: Index, function: Function, name: str, call: Expr) -> Symbol | None:
    """What `name` means in a call where the function imports it in several arms, and the call stands in one of them."""
    every = imports_within(index.files[function.path], function, name)
    if len(every) < 2 or any(one.name for one in every):
        return None
    block = next((event.block for event in function.events if call in event.calls), None)
    arms = {_place(branch) for branch in block.branches if branch.kind == "if"} if block is not None else set()
    for one in reversed(every):
        if one.line <= call.line and arms.issuperset(_place(branch) for branch in one.under):
            return index.names.module(function.path, one.module, one.level) or External(one.module)
    return None


def _place(branch: Branch) -> tuple[int, int]:
    """What tells an arm from every other in its file."""
    return branch.tests[0].line, branch.arm


def left_out(index: Index, paths: Iterable[str], settings: Mapping[str, str]) -> frozenset[Class]:
    """Classes that functions import under one name in several arms, in those that the settings do not choose."""
    left, kept = set[Class](), set[Class]()
    for path in sorted(paths) if settings else ():
        for function, entries in _in_arms(index.files[path]):
            settled = Settled(settings, index, function)
            is_off = [any(is_left(branch, settled) for branch in one.under) for one in entries]
            for entry, off in zip(entries, is_off, strict=True):
                cls = _member(index, function, entry)
                if isinstance(cls, Class):
                    (left if off and not all(is_off) else kept).add(cls)
    return frozenset(left - {base for cls in kept for base in index.lineage(cls)})


def _in_arms(file: FileFacts) -> Iterator[tuple[Function, list[Import]]]:
    """Imports of several things under one name, each in an arm, with the innermost function that they stand in."""
    named: dict[str, list[Import]] = {}
    for one in file.imports:
        if one.name and one.under:
            named.setdefault(one.alias, []).append(one)
    for entries in (found for found in named.values() if len(found) > 1):
        homes = [one for one in file.functions.values() if one.line <= entries[0].line <= one.end_line]
        inside = [one for one in homes if all(one.line <= each.line <= one.end_line for each in entries)]
        if inside:
            yield max(inside, key=lambda one: one.line), entries


def _member(index: Index, function: Function, entry: Import) -> Symbol | None:
    held = index.names.module(function.path, entry.module, entry.level)
    return index.names.member(held, entry.name) if held is not None else None


def named_alike(file: FileFacts) -> frozenset[str]:
    """Names that several imports bind to modules: import jobs.fast as job in one arm, import jobs.slow as job in another."""
    modules: dict[str, set[str]] = {}
    for one in file.imports:
        if not one.name:  # import a.b binds a, whatever is imported of it
            modules.setdefault(one.alias, set()).add(one.module)
    return frozenset(alias for alias, several in modules.items() if len(several) > 1 and "." not in alias)


def members_alike(index: Index, function: Function, dotted: str) -> tuple[Class | Function, ...]:
    """What job.run means where several modules are called job."""
    head, _, name = dotted.partition(".")
    entries = (one for one in index.files[function.path].imports if one.alias == head and not one.name)
    modules = (index.names.module(function.path, one.module, one.level) for one in entries)
    found = (index.names.member(module, name) for module in modules if module is not None)
    return tuple(dict.fromkeys(one for one in found if isinstance(one, Class | Function)))


def chosen_in_module(
    index: Index, function: Function, dotted: str, settings: Mapping[str, str]
) -> tuple[Class | Function, ...]:
    """What parts.net.Net means where the module `parts` imports several things as `net`, each in an arm: of those in arms
    that the settings choose.
    """
    head, _, rest = dotted.partition(".")
    name, _, inner = rest.partition(".")
    if not settings or not name:
        return ()
    module = index.resolve(function, head)
    if not isinstance(module, Module) or name not in _in_several_arms(index).get(module.path, ()):
        return ()
    body = index.files[module.path].body
    settled = Settled(settings, index, body)
    entries = (one for one in index.files[module.path].imports if one.alias == name)
    taken = [one for one in entries if not any(is_left(branch, settled) for branch in one.under)]
    members = (_followed(index, _member(index, body, one), inner) for one in taken if one.name)
    return tuple(dict.fromkeys(one for one in members if isinstance(one, Class | Function)))


def _followed(index: Index, symbol: Symbol | None, rest: str) -> Symbol | None:
    for name in filter(None, rest.split(".")):
        symbol = index.names.member(symbol, name) if isinstance(symbol, Module) else None
    return symbol


@kept_per_index
def _in_several_arms(index: Index) -> dict[str, frozenset[str]]:
    """By file, the names that imports in arms bind to several things at its top."""
    found: dict[str, frozenset[str]] = {}
    for path, file in index.files.items():
        counts = Counter(one.alias for one in file.imports if one.name and one.under)
        if several := frozenset(name for name, count in counts.items() if count > 1):
            found[path] = several
    return found
