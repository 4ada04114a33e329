"""Code that stops the program before, or just after, it reaches a place: what is told of that place harms nobody.

Narrow: only what runs whenever the place is reached, and only what surely raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

from trainsleuth.repository import is_notebook

from ..memo import kept_per_function, kept_per_index
from ..naming.loaded_by_name import COMPUTED, looked_through
from ..naming.sites import Site
from ..reading.compiled import Compiled, bad_indentation
from ..records import MODULE_BODY, Block, Branch, Class, Event, Expr, FileFacts, Function, Import
from ..tracing.making import mentions
from ..tracing.things import Spot
from .absent_options import absent_option
from .attributes import NO_BASES, missing_attribute
from .batches import misfit_of_batch
from .by_compiler import compiled_file
from .dead import around
from .fitting import misfit, misfit_of_targets
from .tuples import misused_tuple

if TYPE_CHECKING:
    from ..index import Index

PACKAGING = ("setup.py", "setup.cfg", "pyproject.toml")
MAX_CALLERS = 3  # from a function outwards
_LEAVING = ("break", "return", "raise")
_EXITS = ("exit", "_exit", "quit")
_MAY_STAND_ON = NO_BASES | {"torch.nn.Module"}


class Stop(NamedTuple):
    path: str
    line: int
    why: str


def stop_before(index: Index, places: Iterable[tuple[str, int]]) -> Stop | None:
    """The first statement that surely raises, or never ends, on the way to one of the places, or in the round that
    reaches it; or one on each way from whoever calls what holds it.
    """
    for path, line in sorted(set(places)):
        function = around(index, path, line)
        if function is not None and (stop := _bad_indentation(index, path, line)) is not None:
            return stop
        if function is not None and is_notebook(path):
            stop = _in_cell(index, function, line) or _on_all_ways(index, function)
        else:
            stop = _stop_at(index, function, line) or _on_all_ways(index, function) if function is not None else None
        if stop is None and function is not None:
            stop = _unmade(index, function)
        if stop is not None:
            return stop
    return None


def _bad_indentation(index: Index, path: str, line: int) -> Stop | None:
    """Of a file, or of the cells of a notebook up to the one that holds the line."""
    file = index.files[path]
    if compiled_file(index, path) is not None:
        return None
    lines = file.body.source.whole.decode("utf-8", "replace").split("\n")
    starts = [first for first, _ in file.cells] or [1]
    for start, end in pairwise((*starts, len(lines) + 1)):
        bad = bad_indentation(dedent("\n".join(lines[start - 1 : end - 1]))) if start <= line else None
        if bad is not None:
            return Stop(path, start + bad - 1, "it is indented in a way that no block has")
    return None


def _in_cell(index: Index, function: Function, line: int) -> Stop | None:
    """Of a notebook, whose cells run in any order: a name that none of them binds, in the same cell."""
    file, known = index.files[function.path], compiled_file(index, function.path)
    for spot in _beside(function, line) if known is not None and known.unbound else ():
        heads = ((one.line, one.text.partition(".")[0]) for one in _evaluated(spot) if one.kind == "path")
        unbound = (head for at, head in heads if known is not None and (at, head) in known.unbound)
        if _cell(file, spot.line) == _cell(file, line) and (name := next(unbound, None)) is not None:
            return Stop(file.path, spot.line, f"{name} is bound nowhere")
    return None


def _cell(file: FileFacts, line: int) -> int:
    found = file.cell(line)
    return found[0] if found is not None else 0


def _stop_at(index: Index, function: Function, line: int) -> Stop | None:
    spots = (*_beside(function, line), *_on_load(index, function))
    if (stop := _bad_import(index, function, line) or _bad_definition(index, function.path)) is not None:
        return stop
    inner = (spot for one in spots for spot in (one, *_called(index, one, function)))
    for spot in inner:
        if why := _raises(index, spot) or _never_ends(index, spot, function, line):
            return Stop(spot.function.path, spot.line, why)
    return None


def _on_all_ways(index: Index, function: Function, below: frozenset[Function] = frozenset()) -> Stop | None:
    """Every call of a function stops before; None where somebody else may run it: what uses a package, or is handed it."""
    if function in below or len(below) >= MAX_CALLERS or any(one in PACKAGING for one in index.repository.files):
        return None
    callers = [one for one in index.callers(function) if one.spot.function is not function]
    if not callers or not _is_only_called(index, function):
        return None
    stop = None
    for caller in callers:
        outer, line = caller.spot.function, caller.spot.line
        here = _in_cell if is_notebook(outer.path) else _stop_at
        stop = here(index, outer, line) or _on_all_ways(index, outer, below | {function})
        if stop is None:
            return None
    return stop


def _unmade(index: Index, function: Function) -> Stop | None:
    """Wherever an object of the method's class is made, the program stops before, or at the first statement that has it."""
    cls = index.class_of(function)
    if cls is None or cls.decorators or any(one in PACKAGING for one in index.repository.files):
        return None
    family = (cls, *index.subclasses(cls))
    named = (site for name in sorted({one.name for one in family}) for site in index.calls(name))
    sites = [site for site in named if _may_make(index, site, family)]
    if not sites or len(sites) > MAX_CALLERS or any(_is_handed_on(index, one) for one in family):
        return None
    stop = None
    for site in sites:
        here = _in_cell if is_notebook(site.function.path) else _stop_at
        stop = here(index, site.function, site.call.line) or _at_first_use(index, site)
        if stop is None:
            return None
    return stop


def _may_make(index: Index, site: Site, family: tuple[Class, ...]) -> bool:
    meant = index.resolve(site.function, site.call.callee) if site.call.callee else None
    return not isinstance(meant, Class) or meant in family


def _at_first_use(index: Index, site: Site) -> Stop | None:
    """`loss = Loss()`, and nothing of it before `train(loss)`, which raises."""
    event, function, made = site.event, site.function, site.event.value
    while made is not None and made is not site.call:
        made = made.receiver  # Loss().cuda()
    name = event.targets[0].text if event.kind == "assign" and len(event.targets) == 1 and made is not None else ""
    for position in range(site.position + 1, len(function.events)) if name.isidentifier() else ():
        later = function.events[position]
        if mentions(later.value, [name]):
            why = _raises(index, Spot(function, position)) if _is_prefix(later.block, event.block) else ""
            return Stop(function.path, later.line, why) if why else None
    return None


def _is_handed_on(index: Index, cls: Class) -> bool:
    """Some file gives the class another name, or has it as a value: in a registry, as what another makes objects of."""
    word = re.compile(re.escape(cls.name.encode()))
    for file in index.files_holding(word):
        if any(entry.name == cls.name and entry.alias not in ("", cls.name) for entry in file.imports):
            return True
        if _names(file, cls.name):
            return True
    return False


def _is_only_called(index: Index, function: Function) -> bool:
    """Nothing names it but calls and imports, and no library calls it for its name."""
    cls = index.class_of(function)
    if function.decorators or (cls is not None and not _MAY_STAND_ON.issuperset(index.external_bases(cls))):
        return False
    if cls is not None:
        handed = re.compile(rb"\.%s\b(?!\s*\()" % re.escape(function.name.encode()))
        return not index.is_held(handed, COMPUTED[0])
    looked = looked_through(index)
    if looked is None or any(module.path == function.path for module in looked):
        return False
    users = [file for file in index.files.values() if function.path in index.names.imported(file)]
    return not any(_names(file, function.name) for file in (index.files[function.path], *users))


def _names(file: FileFacts, name: str) -> bool:
    """Some statement has the name as a value, and not to call it; super(Name, self) only says where it stands."""
    for function in file.functions.values() if file.body.source.holds(re.compile(re.escape(name.encode()))) else ():
        for event in function.events:
            called = {id(call.parts[call.callee == "super" and len(call.parts) > 1]) for call in event.calls}
            values = event.value.walk() if event.value is not None else ()
            paths = (one for one in values if one.kind == "path" and id(one) not in called)
            if any(one.text == name or one.text.endswith(f".{name}") for one in paths):
                return True
    return False


def _never_ends(index: Index, spot: Spot, function: Function, line: int) -> str:
    """`while True:` before the place, that nothing leaves."""
    event = spot.function.events[spot.position]
    if event.kind != "while" or event.value is None or event.value.text not in ("True", "1"):
        return ""
    inside = [one for one in spot.function.events if int(event.text) in one.block.loops]
    last = max((one.line for one in inside), default=event.line)
    is_around = spot.function is function and event.line <= line <= last
    known = compiled_file(index, spot.function.path)
    is_left = any(one.kind in _LEAVING or any(call.last in _EXITS for call in one.calls) for one in inside)
    if is_around or is_left or known is None or any(first <= event.line <= end for first, end in known.caught):
        return ""
    return "" if any("yield" in _kinds(one) for one in inside) else "the loop there never ends"


def _bad_import(index: Index, function: Function, line: int) -> Stop | None:
    """`from data import load` where data.py of this project has no load, at the top of the file or before the place."""
    path = function.path
    known, file = compiled_file(index, path), index.files[path]
    for entry in file.imports if known is not None else ():
        if known is None or not entry.name.isidentifier() or entry.typing:
            continue
        if entry.line not in known.imported and not _is_imported(index, function, entry, line, known):
            continue
        module = index.names.module(path, entry.module, entry.level)
        if module is None or not module.path or index.names.member(module, entry.name) is not None:
            continue
        candidates = {module.path, *index.names.ending(entry.module)}
        tops = [compiled_file(index, one) for one in candidates]
        if all(top is not None and top.top is not None and entry.name not in top.top for top in tops):
            if not any("__getattr__" in index.files[one].functions for one in candidates):
                return Stop(path, entry.line, f"{module.path} has no {entry.name}")
    return None


def _bad_definition(index: Index, path: str) -> Stop | None:
    """def board(self, game: ChessGame) where nothing is called ChessGame: the file cannot be loaded."""
    known = compiled_file(index, path)
    unbound = known.unbound & known.defined if known is not None else ()
    return next(
        (Stop(path, line, f"{name} is bound nowhere") for line, name in sorted(unbound) if not _is_given(index, name)),
        None,
    )


def _is_imported(index: Index, function: Function, entry: Import, line: int, known: Compiled) -> bool:
    """The import stands in the function, before its statement at `line` and on the way to it."""
    if not function.line < entry.line <= line or around(index, function.path, entry.line) is not function:
        return False
    if any(first <= entry.line <= last for first, last in known.caught):
        return False
    held = [one for one in function.events if one.line <= line]
    arms = [_written_at(one) for one in held[-1].block.branches] if held else []
    own = [_written_at(one) for one in entry.under]
    return own == arms[: len(own)]


def _written_at(branch: Branch) -> tuple[int, ...]:
    """An arm by the lines of its tests: imports count branches otherwise than statements do."""
    return (branch.arm, *(test.line for test in branch.tests))


def _beside(function: Function, line: int) -> Iterator[Spot]:
    """Events that run whenever the statement at `line` does: before it, or later in a loop around it, or in the rounds of
    the loop that it begins.
    """
    starts = [place for place, event in enumerate(function.events) if event.line <= line]
    here = max(starts, key=lambda place: function.events[place].line, default=0)
    begun = int(function.events[here].text) if function.events[here].kind in ("for", "while") else None
    for place, event in enumerate(function.events):
        is_round = event.block.loops[:1] == function.events[here].block.loops[:1] != ()
        is_round |= begun is not None and begun in event.block.loops
        if (place <= here or is_round) and _is_prefix(event.block, function.events[here].block):
            yield Spot(function, place)


def _on_load(index: Index, function: Function) -> Iterator[Spot]:
    """What runs when the file is loaded, and when the object of a method is made."""
    cls = index.class_of(function)
    init = index.method(cls, "__init__") if cls is not None else None
    if init is not None and init is not function:
        yield from _whole(init)
    file = index.files[function.path]
    if function is not file.body:
        own = _own_names(index, file)
        end = next((place for place, event in enumerate(file.body.events) if _starts(own, event)), None)
        yield from (spot for spot in _whole(file.body) if end is None or spot.position <= end)


def _starts(own: frozenset[str], event: Event) -> bool:
    """It calls something of the project: what stands behind it in the body may come after the training."""
    return any(call.callee.partition(".")[0] in own for call in event.calls)


@kept_per_index
def _own_names(index: Index, file: FileFacts) -> frozenset[str]:
    """What names of the project the body of a file may call."""
    imported = (one.alias for one in file.imports if index.names.module(file.path, one.module, one.level) is not None)
    return frozenset((*file.functions, *file.classes, *imported)) - {""}


def _whole(function: Function) -> Iterator[Spot]:
    """Events that run whenever the function does."""
    for place, event in enumerate(function.events):
        if event.block.branches and event.kind in ("return", "raise"):
            return
        if not event.block.branches:
            yield Spot(function, place)


def _called(index: Index, spot: Spot, function: Function) -> Iterator[Spot]:
    """What the functions that a statement surely calls do whenever they run; of what a file does when it is loaded only
    in the file that is started.
    """
    is_followed = spot.function is function or spot.function.name != MODULE_BODY
    known = compiled_file(index, spot.function.path)
    if known is None or any(first <= spot.line <= last for first, last in known.caught):
        return
    for call in spot.function.events[spot.position].calls if is_followed else ():
        targets = {target.function for target in index.calling.run_by(call, spot)}
        if len(targets) == 1 and call in _evaluated(spot):
            target = targets.pop()
            if target is not spot.function and not any("yield" in _kinds(event) for event in target.events):
                yield from _whole(target)


def _is_prefix(outer: Block, inner: Block) -> bool:
    arms = [(one.id, one.arm) for one in outer.branches]
    return arms == [(one.id, one.arm) for one in inner.branches][: len(arms)]


def _raises(index: Index, spot: Spot) -> str:
    event, path = spot.function.events[spot.position], spot.function.path
    known = compiled_file(index, path)
    if known is None or any(first <= event.line <= last for first, last in known.caught):
        return ""
    if why := misfit_of_targets(index, event, spot) or misfit_of_batch(index, event, spot):
        return why
    for expr in _evaluated(spot):
        if expr.kind == "path":
            head = expr.text.partition(".")[0]
            if (expr.line, head) in known.unbound and not _is_given(index, head):
                return f"{head} is bound nowhere"
            if (expr.line, head) in known.early:
                return f"{head} is read before it is bound"
        if expr.kind in ("path", "attr") and (
            why := missing_attribute(index, spot, expr) or absent_option(index, spot, expr)
        ):
            return why
        if why := misused_tuple(index, spot, expr):
            return why
        if expr.kind == "call" and (why := misfit(index, expr, spot)):
            return why
    return ""


def _evaluated(spot: Spot) -> tuple[Expr, ...]:
    """The expressions that are evaluated whenever the statement runs, and ends; of an elif that is not known."""
    event = spot.function.events[spot.position]
    value = event.value if event.kind != "if" or event.value in _first_tests(spot.function) else None
    if value is not None and event.kind == "assert" and value.kind == "tuple":
        value = value.parts[0]  # the message is read when it fails
    return tuple(_surely(value)) if value is not None else ()


@kept_per_function
def _first_tests(function: Function) -> frozenset[Expr]:
    """The tests of if statements, without those of elif."""
    branches = (branch for event in function.events for branch in event.block.branches)
    return frozenset(branch.tests[0] for branch in branches if branch.kind == "if" and branch.tests)


def _kinds(event: Event) -> set[str]:
    return {expr.kind for expr in event.value.walk()} if event.value is not None else set()


def _surely(expr: Expr) -> Iterator[Expr]:
    waiting = [expr]
    while waiting:
        one = waiting.pop()
        yield one
        if one.kind == "lambda":
            continue
        if one.kind == "choice":
            waiting.append(one.parts[1])
        elif one.kind == "boolean":
            waiting.append(one.parts[0])
        elif one.kind == "each":
            waiting += [clause.parts[1] for clause in one.parts[1:2] if clause.kind == "for" and len(clause.parts) == 2]
        else:
            waiting += one.parts


def _is_given(index: Index, name: str) -> bool:
    """Another file puts the name there: train.device = ..."""
    text = re.compile(rb"(?<!self)\.%s\s*=[^=]" % re.escape(name.encode()))
    return index.is_held(text)
