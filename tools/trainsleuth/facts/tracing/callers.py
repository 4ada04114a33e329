"""Who calls a function: candidates by name, then each proved by resolving what it calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..naming.names import External
from ..naming.sites import Site
from ..reading.scoping import Name, last_of
from ..records import MODULE_BODY, Class, Expr, Function
from ..running.contradiction import is_made_apart
from .taking import misses
from .things import REACH, Frame, Instance, Method, Spot, Thing

if TYPE_CHECKING:
    from ..index import Index

MAX_CONTEXTS = 16


class Caller(NamedTuple):
    """One call that surely calls the function; `owner` is the object, for a method."""

    spot: Spot
    call: Expr
    owner: Instance | None


class Target(NamedTuple):
    """One function that a call runs; `owner` is what its self is."""

    function: Function
    owner: Instance | None


class Callers:
    def __init__(self, index: Index) -> None:
        self.index = index
        self._known: dict[tuple[Function, int], tuple[Caller, ...]] = {}
        self._contexts: dict[tuple[Function, int], tuple[Frame | None, ...]] = {}
        self._run: dict[tuple[Name, str, int], dict[Function, list[Caller]]] = {}
        self._by_last: dict[tuple[str, str], dict[Name, list[Site]]] = {}

    def of(self, function: Function, reach: int = REACH) -> tuple[Caller, ...]:
        """Every proved call of `function` outside tests, by name and in the order of the files; `reach` as in Spot."""
        key = (function, reach)
        if key not in self._known:
            self._known[key] = tuple(self._of(function, reach)) if function.name != MODULE_BODY else ()
        return self._known[key]

    def _of(self, function: Function, reach: int) -> Iterator[Caller]:
        part = self.index.part(function.path)
        for name in ("", *self.index.names_that_run(function)):
            yield from self._by_name(name, part, reach).get(function, ())

    def _by_name(self, name: Name, part: str, reach: int) -> Mapping[Function, list[Caller]]:
        """The functions that calls by one name in a part of the project run."""
        key = (name, part, reach)
        if key not in self._run:
            table: dict[Function, list[Caller]] = {}
            with self.index.objects.afresh():
                for site in self._sites(name, part):
                    if not self.index.may_run(site.call, site.function):
                        continue
                    spot = Spot(site.function, site.position, None, reach)
                    for target in dict.fromkeys(self.targets(site.call, spot)):
                        if isinstance(target, Target):
                            table.setdefault(target.function, []).append(Caller(spot, site.call, target.owner))
            self._run[key] = table
        return self._run[key]

    def targets(self, call: Expr, spot: Spot) -> Iterator[Target | Thing]:
        """What a call runs: project functions as Target, everything else as the thing that is called. Of several, those
        that can take what is given.
        """
        things = [thing for thing in self.index.objects.of(call.parts[0], spot) if not is_made_apart(thing, spot)]
        found = [target for thing in things for target in self.called(thing, call, spot)]
        yield from (len(found) > 1 and [one for one in found if not _is_misfit(one, call)]) or found

    def _sites(self, name: Name, part: str) -> Sequence[Site]:
        """Calls by one name in a part of the project."""
        last = last_of(name)
        if (last, part) not in self._by_last:
            table: dict[Name, list[Site]] = {}
            for site in self.index.sites.calls_in(last, part):
                table.setdefault(self.index.scoping.callee(site.call, site.function), []).append(site)
            self._by_last[last, part] = table
        return self._by_last[last, part].get(name, ())

    def run_by(self, call: Expr, spot: Spot) -> Iterator[Target]:
        """The project functions among `targets`; a call that by its name alone can run none is not followed."""
        if self.index.may_run(call, spot.function):
            for target in self.targets(call, spot):
                if isinstance(target, Target):
                    yield target

    def called(self, thing: Thing, call: Expr, spot: Spot) -> Iterator[Target | Thing]:
        if isinstance(thing, Function):
            yield Target(thing, None)
        elif isinstance(thing, Method):
            yield Target(thing.function, thing.owner)
        elif isinstance(thing, Class):
            init = self.index.method(thing, "__init__")
            yield Target(init, Instance(thing, call, spot)) if init is not None else thing
        elif isinstance(thing, Instance) and isinstance(thing.kind, Class):
            found = [self.index.method(thing.kind, name) for name in ("__call__", "forward")]
            function = next((one for one in found if one is not None), None)
            yield Target(function, thing) if function is not None else thing
        else:
            yield thing

    def contexts(self, function: Function, depth: int = 4) -> tuple[Frame | None, ...]:
        """The calls through which `function` is reached, each with the calls around it; (None,) when there
        is none.

        One entry is one consistent way: its parameters and its self belong together. At most MAX_CONTEXTS.
        """
        key = (function, depth)
        if key not in self._contexts:
            self._contexts[key] = self._ways_to(function, depth)
        return self._contexts[key]

    def _ways_to(self, function: Function, depth: int) -> tuple[Frame | None, ...]:
        found: list[Frame | None] = []
        for caller in self.of(function) if depth else ():
            if caller.spot.function is function:
                continue
            for outer in self.contexts(caller.spot.function, depth - 1):
                found.append(
                    self.index.frames.frame(function, caller.call, caller.spot._replace(frame=outer), caller.owner)
                )
                if len(found) == MAX_CONTEXTS:
                    return tuple(found)
        return tuple(found) or (None,)


def _is_misfit(target: Target | Thing, call: Expr) -> bool:
    if not isinstance(target, Target) or target.function.decorators:
        return False
    return misses(target.function, call, is_method=target.owner is not None and bool(target.function.self_name))


def external_name(thing: Thing | Target) -> str:
    """Full name of an external function, class, or of the class of an external object; otherwise ""."""
    if isinstance(thing, External):
        return thing.name
    return thing.kind.name if isinstance(thing, Instance) and isinstance(thing.kind, External) else ""
