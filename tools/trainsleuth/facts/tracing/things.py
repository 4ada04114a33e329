"""What an expression may stand for, and where it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..naming.names import External, Module
from ..records import Class, Expr, Function

REACH = 2


class Spot(NamedTuple):
    """A place in the program: just before event `position` of `function`, inside the call `frame` (None:
    any call).

    `reach`: how many more times a parameter may be followed from here to all callers. It only ever falls,
    so that following ends; two steps lead from a method through the constructor to the main function.
    """

    function: Function
    position: int
    frame: Frame | None = None
    reach: int = REACH

    @property
    def line(self) -> int:
        events = self.function.events
        return events[self.position].line if self.position < len(events) else self.function.end_line


@dataclass(frozen=True, eq=False)
class Frame:
    """One call of `function` that is being followed. `call` None: the arguments are not known, only
    `owner`.
    """

    function: Function
    call: Expr | None
    caller: Spot | None
    owner: Instance | None = None

    @property
    def reach(self) -> int:
        return self.caller.reach if self.caller is not None else REACH

    @cached_property
    def depth(self) -> int:
        outside = self.caller if self.caller is not None or self.owner is None else self.owner.spot
        return 1 + (outside.frame.depth if outside is not None and outside.frame is not None else 0)

    @cached_property
    def is_again(self) -> bool:
        """Recursion: the same call is being followed further out."""
        caller = self.caller
        while caller is not None and caller.frame is not None and self.call is not None:
            if caller.frame.call is self.call:
                return True
            caller = caller.frame.caller
        return False


class Instance(NamedTuple):
    """An object made by `call` at `spot`; both None when only its class is known (self, an annotation)."""

    kind: Class | External
    call: Expr | None = None
    spot: Spot | None = None

    @property
    def name(self) -> str:
        return self.kind.name


class Method(NamedTuple):
    """A method bound to its object."""

    function: Function
    owner: Instance


class Literal(NamedTuple):
    """A number, string, list, tuple, dict, comprehension or lambda, as written at `spot`."""

    expr: Expr
    spot: Spot


class Unknown(NamedTuple):
    """One way that could not be followed, and why."""

    why: str


Thing = Instance | Method | Literal | Class | Function | External | Module | Unknown
