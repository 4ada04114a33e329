"""The arguments of what a recipe builds that it leaves out: the defaults of the signatures, those of bases included."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from trainsleuth.facts import Class, Function, Index

from ...configuration import Truth
from ...configuration.forms.fields import of_class
from ...configuration.forms.literals import text_of
from ...configuration.records import REQUIRED
from ...drawing.wording import clean
from ...recipe.recipes import Choice

MOST = 24  # arguments of one signature that are said
WIDTH = 70  # characters of one value
_NOTHING = ("None", "''", "")


class Signature(NamedTuple):
    """Arguments with their defaults, at the line where they are written."""

    path: str
    line: int
    arguments: tuple[tuple[str, str], ...]

    def said(self) -> str:
        """ "resnet.py:309 norm_eval=False, style=pytorch" """
        told = [f"{name}={clean(value, WIDTH) or repr('')}" for name, value in self.arguments[:MOST]]
        more = f", +{len(self.arguments) - MOST} more" if len(self.arguments) > MOST else ""
        return f"{self.path.rpartition('/')[2]}:{self.line} {', '.join(told)}{more}"


def defaults_of(truth: Truth, built: Choice, section: str) -> str:
    """What `section` does not say of what it builds, in one line: "ResNet: resnet.py:309 norm_eval=False, ..."."""
    if built.target is None:
        return ""
    inside = (key.name for key in truth.plain_keys if key.name.startswith(f"{section}."))
    given = {name.removeprefix(f"{section}.").partition(".")[0] for name in inside}
    if not built.key.startswith(f"{section}."):  # model beside model_conf: both, and what stands beside them
        beside = built.key.rpartition(".")[0]
        given |= {key.name.removeprefix(beside).lstrip(".").partition(".")[0] for key in truth.plain_keys if key.name.startswith(beside)}  # fmt: skip
    given |= {key.name.partition(".")[0] for key in truth.plain_keys}  # what a framework may hand in from beside it
    given.update(word for function, _ in built.sites for word in _said_in(function))
    said = "; ".join(one.said() for one in unset(truth.program.index, built.target, given))
    return f"{built.target.name}: {said}" if said else ""


def unset(index: Index, target: Class | Function, given: Container[str]) -> Iterator[Signature]:
    """One for each signature on the way from `target` up, as far as each hands on what it does not name."""
    known: set[str] = set()
    for function in _signatures(index, target):
        left = tuple(
            (one.name, text_of(one.default))
            for one in function.parameters
            if one.default is not None and one.name not in given and one.name not in known
        )
        known |= {one.name for one in function.parameters} | set(_handed_up(function))
        if left:
            yield Signature(function.path, function.line, tuple(sorted(left, key=lambda one: one[1] in _NOTHING)))
    for cls in index.lineage(target) if isinstance(target, Class) and not known else ():
        fields = [one for one in of_class(cls) if one.name not in known and one.value != REQUIRED]
        known |= {one.name for one in fields}
        if own := tuple((one.name, one.value) for one in fields if one.name not in given):
            yield Signature(cls.path, cls.line, own)


def _said_in(function: Function) -> Iterator[str]:
    """Names that the code which builds it gives by keyword."""
    for event in function.events:
        for call in event.calls:
            yield from (part.text for part in call.parts[1:] if part.kind == "keyword")


def _signatures(index: Index, target: Class | Function) -> Iterator[Function]:
    if isinstance(target, Function):
        yield target
        return
    for cls in index.lineage(target):
        init = cls.methods.get("__init__")
        if init is not None:
            yield init
            if not any(one.kind == "**" for one in init.parameters):
                return


def _handed_up(function: Function) -> Iterator[str]:
    """Keywords that a constructor gives to that of its base."""
    for event in function.events:
        for call in event.calls:
            if call.last == "__init__":
                yield from (part.text for part in call.parts[1:] if part.kind == "keyword")
