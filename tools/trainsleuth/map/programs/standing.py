"""Whether a statement runs with the values that are known: the tests above it and above the calls of its function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainsleuth.facts import MODULE_BODY, Class, Function
from trainsleuth.repository import is_python

from ..configuration import Truth
from ..configuration.use.untaken import untaken
from ..drawing.statements import body_of, enclosing
from ..program import Program
from ..records import Part, Place
from .unchosen_files import unchosen_files

MAX_HOPS = 5  # from a function to its callers and theirs


def off(program: Program, truth: Truth, function: Function, line: int, hops: int = MAX_HOPS) -> str:
    """The setting, with value and place, that keeps `line` of `function` from running; "" when none is known to."""
    known = program.idle
    if (function, line, hops) not in known:
        known[function, line, hops] = _off(program, truth, function, line, hops)
    return known[function, line, hops]


def _off(program: Program, truth: Truth, function: Function, line: int, hops: int) -> str:
    if said := untaken(truth, function, line):
        return said
    if program.never_runs(function.path, line):
        return "runs only when its file is started by itself"
    if truth.unchosen is None:
        truth.unchosen = unchosen_files(program, truth)
    if function.path in truth.unchosen:
        return truth.unchosen[function.path]
    outer = program.index.files[function.path].functions.get(function.outer) if function.outer and hops else None
    if outer is not None and (said := off(program, truth, outer, function.line, hops - 1)):
        return said
    is_ours = function.name != MODULE_BODY and not _is_hook(program, function)
    callers = (list(program.callers(function)) or _passed_over(program, function)) if is_ours and hops else []
    said = _every(program, truth, function, callers, hops) or _every(
        program, truth, function, _made(program, function) if hops else [], hops
    )
    is_others = bool(said) and function in program.values.known.unasked
    return "runs only by another command of its program" if is_others else said


def _passed_over(program: Program, function: Function) -> list[tuple[Function, int]]:
    """The calls of a method that only its own class makes, where what was told keeps all of them from counting."""
    sites = list(program.index.calls(function.name)) if function.owner and program.told else []
    is_own = all(
        site.function.path == function.path
        and site.function.owner == function.owner
        and site.call.callee == f"self.{function.name}"
        for site in sites
    )
    return [(site.function, site.call.line) for site in sites] if is_own else []


def _is_hook(program: Program, function: Function) -> bool:
    """A method that the framework calls, whoever else does."""
    framework = program.training.framework
    is_named = framework is not None and function.name in framework.hooks
    return is_named and program.index.class_of(function) in program.training.hooked_classes


def _every(program: Program, truth: Truth, function: Function, sites: Sequence[tuple[Function, int]], hops: int) -> str:
    """What keeps the first of the `sites` from running when something does for each of them."""
    every = [off(program, truth, site, line, hops - 1) for site, line in sites if site is not function]
    return every[0] if every and all(every) else ""


def _made(program: Program, code: Function) -> list[tuple[Function, int]]:
    """Where objects are made that have the method or the body of a class, or the class is named, when that is all that is
    known to make them.
    """
    owner = program.index.class_of(code) or body_of(program.index.files[code.path], code)
    below = (owner, *program.index.subclasses(owner)) if owner is not None else ()
    if any(one.decorators for one in below) or not program.chosen.isdisjoint(below):
        return []
    return [site for one in below for site in _sites(program, one)]


def _sites(program: Program, cls: Class) -> Iterator[tuple[Function, int]]:
    """Of a class that code names, not the calls of what may hold it: where it is named decides."""
    named, made = program.named_at.get(cls, ()), program.made_at.get(cls, ())
    yield from named
    yield from (site for site in made if not named or _is_spelled(program, cls, *site))


def _is_spelled(program: Program, cls: Class, function: Function, line: int) -> bool:
    calls = (call for event in function.events for call in event.calls if call.line == line and call.callee)
    return any(program.index.resolve(function, call.callee) is cls for call in calls)


def off_at(program: Program, truth: Truth, place: Place, hops: int = MAX_HOPS) -> str:
    """The same for the statement of a place; "" for one that is not code."""
    file = program.index.files.get(place.path)
    if file is None or not is_python(place.path):
        return ""
    return off(program, truth, enclosing(file, place.line), place.line, hops)


IDLE = 0.35  # share of its score that a place keeps when a setting keeps it from running
IDLE_BY_DEFAULT = 0.6  # the same where only defaults say so; of the test around it, not of its callers: they cost more


def chosen_first(program: Program, truth: Truth, part: Part, limit: int, is_told: bool) -> Part:
    """The best places of a part, those last that the settings keep from running; `is_told`: a recipe or a command says
    how the program is started.
    """
    share, hops = (IDLE, MAX_HOPS) if is_told else (IDLE_BY_DEFAULT, 0)
    best = [
        one._replace(score=share * one.score) if off_at(program, truth, one, hops) else one
        for one in part.places[:limit]
    ]
    return replace(part, places=tuple(sorted(best, key=lambda one: (-one.score, one.path, one.line))))
