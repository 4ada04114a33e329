"""The table of parameters as the runtime tells it, and how a failure about it is worded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from trainsleuth.finding import Confidence, Finding, Severity
from trainsleuth.trace import Trace, place

NEEDED_READINGS = 2
MEANINGFUL_SHARE = 0.25  # of an optimizer's elements; below it an unused output is the likelier reason
WRAPPED = ("module", "_orig_mod")  # where a wrapper of torch keeps the model


@dataclass(frozen=True)
class Row:
    """One parameter, as the runtime tells it."""

    name: str | None
    root: int | None
    optimizer: int | None
    elements: int
    trainable: bool
    called: bool
    seen: int
    gradients: int
    zeros: int
    biggest: float | str
    changed: bool
    ratio: float | str | None
    nonzero: float | None = None  # share of elements with a gradient, in half precision only
    moved: float | None = None  # largest share of elements that a step changed, of the same
    size: float | str | None = None  # norm now / norm at first sight
    frozen_zero: bool = False  # a matrix


@dataclass(frozen=True)
class Calls:
    """Of one outermost module, by one line of the user's code."""

    site: str
    root: int
    first: int
    """The step of the first of them."""
    last: int
    number: int
    names: tuple[str, ...] = ()  # by which the caller knows a module that came after another


@dataclass(frozen=True)
class Table:
    rows: tuple[Row, ...]
    roots: tuple[str, ...]
    twins: tuple[tuple[str, str, str, str], ...]  # name and class of two tensors that began as equal copies
    steps: int
    sampled: bool
    calls: tuple[Calls, ...] = ()
    without_grad: tuple[tuple[int | None, str | None, str | None], ...] = ()
    """Outermost module and name of a parameter, and where its module is called without gradients in a call with them."""
    equal_at_start: tuple[tuple[int | None, str, int | None, str], ...] = ()
    """Outermost module and name of a matrix without gradients, and of a trained one with the same values at the start."""

    @cached_property
    def trained_roots(self) -> frozenset[int]:
        """Modules of which an optimizer holds at least one parameter."""
        return frozenset(r.root for r in self.rows if r.root is not None and r.optimizer is not None)

    @cached_property
    def copies(self) -> frozenset[int]:
        """Modules that no optimizer holds and no gradient reaches, with the names and sizes of one that is trained.

        Whatever stands before all names of one of them: a wrapper.
        """
        reached = {row.root for row in self.rows if row.gradients > row.zeros}
        trained = [_unwrapped(self.shape(root)) for root in self.trained_roots]
        others = {row.root for row in self.rows if row.root is not None} - self.trained_roots - reached
        return frozenset(root for root in others if _unwrapped(self.shape(root)) in trained)

    def copied(self, rows: list[Row]) -> list[Row]:
        """Those of a network that began as a copy of a trained one, with what is too small to tell it by its values."""
        known = {(row.root, row.name) for row in self.rows}
        pairs = {_prefixes(*four) for four in self.equal_at_start if not _are_layers_of_a_stack(four[1], four[3])}
        return [
            row
            for row in rows
            if row.name
            and any(
                row.root == root and row.name.startswith(mine) and (other, its + row.name[len(mine) :]) in known
                for root, mine, other, its in pairs
            )
        ]

    def shape(self, root: int) -> list[tuple[str | None, int]]:
        """Names and sizes of the parameters of this module."""
        return [(row.name, row.elements) for row in self.rows if row.root == root]

    def of(self, optimizer: int) -> list[Row]:
        return [row for row in self.rows if row.optimizer == optimizer]


def _unwrapped(shape: list[tuple[str | None, int]]) -> list[tuple[tuple[str, ...], int]]:
    """Without the parts that all names begin with."""
    parts = [(tuple((name or "").split(".")), elements) for name, elements in shape]
    while parts and all(len(name) > 1 and name[0] == parts[0][0][0] for name, _ in parts):
        parts = [(name[1:], elements) for name, elements in parts]
    return parts


def _prefixes(root: int | None, name: str, other: int | None, its: str) -> tuple[int | None, str, int | None, str]:
    """What stands before the end that two names share."""
    mine, theirs = name.split("."), its.split(".")
    while mine and theirs and mine[-1] == theirs[-1]:
        mine.pop()
        theirs.pop()
    return root, "".join(part + "." for part in mine), other, "".join(part + "." for part in theirs)


def _are_layers_of_a_stack(name: str, other: str) -> bool:
    """Do they differ in numbers only? Layers of a stack may be made as copies of one."""
    return name != other and re.sub(r"\d+", "", name) == re.sub(r"\d+", "", other)


def names(rows: list[Row]) -> str:
    """The first names, or what all of them are parts of, but for the wrapper of a whole model."""
    names = [row.name or f"unnamed of {row.elements} elements" for row in rows]
    parts = zip(*(name.split(".")[:-1] for name in names), strict=False)
    shared = [one[0] for one in takewhile(lambda one: len(set(one)) == 1, parts)]
    if len(names) > 2 and [part for part in shared if part not in WRAPPED]:
        return f"all in {'.'.join(shared)}"
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def read_table(trace: Trace) -> Table | None:
    """The last table of the run; None when no module was called and nothing stepped."""
    told = trace.events("parameters")
    if not told:
        return None
    last = told[-1]
    return Table(
        tuple(Row(*row) for row in last["rows"]), tuple(last["roots"]),
        tuple(tuple(pair) for pair in last["twins"]), last["n"], last["sampled"],
        tuple(Calls(line, root, first, until, number, tuple(names)) for line, root, first, until, number, names in last["called_at"]),
        tuple((root, name, site) for root, name, site in last.get("without_grad", ())),
        tuple(tuple(four) for four in last.get("copies", ())),
    )  # fmt: skip


def fail(
    site: str | None,
    message: str,
    *suspects: str,
    severity: Severity = "error",
    confidence: Confidence = "high",
    **more: object,
) -> Finding:
    """A failure of probe:parameter_table at this place."""
    path, line = place(site)
    return Finding(
        by="probe:parameter_table", outcome="fail", severity=severity, confidence=confidence, message=message,
        path=path, line=line, suspects=suspects, family="optimizer", **more,  # type: ignore[arg-type]
    )  # fmt: skip
