"""What a class makes of a field that nobody gave a value: if self.loss_type is None: self.loss_type = ... in __post_init__.

Also of a field of an object that it holds: self.loss.weight = self.model.weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainsleuth.facts import Class, Expr, Function, written

from ...drawing.statements import conditions
from ...program import Program
from ..forms.literals import is_literal, text_of
from ..forms.parsed import filled
from ..records import Layer
from .templates import written_in

COMES_TO_BE = ("__post_init__", "model_post_init", "__attrs_post_init__")


def replaced_fields(program: Program, layers: Mapping[str, Sequence[Layer]]) -> Iterator[tuple[str, Layer]]:
    """(key, what replaces it) of the fields that are None by default and that nothing sets."""
    parsed = [one for cls in filled(program) for one in program.index.lineage(cls)]
    for key, found in layers.items():
        file = program.index.files.get(found[0].path)
        if len(found) != 1 or found[0].how != "default" or found[0].value != "None" or file is None:
            continue
        line, name = found[0].line, key.rpartition(".")[2]
        owner = next((one for one in file.classes.values() if one.line <= line <= one.end_line), None)
        below = (one for one in parsed if owner is not None and owner in program.index.lineage(one))
        for cls in dict.fromkeys((owner, *below) if owner is not None else ()):
            yield from ((key, _layer(cls, *one, name)) for one in assigned_to(cls, name))
        for cls in file.classes.values() if "." in key else ():
            for path in _paths_above(key):
                yield from ((key, _layer(cls, *one, path)) for one in assigned_to(cls, path))


def _paths_above(key: str) -> Iterator[str]:
    """What objects around the one that has it may call it: trainer.loss.weight and loss.weight of trainer.loss.weight."""
    words = key.split(".")
    yield from (".".join(words[first:]) for first in range(len(words) - 1))


def _layer(cls: Class, method: Function, position: int, name: str) -> Layer:
    event = method.events[position]
    own = f"{method.self_name}.{name}"
    value = event.value
    if value is not None and value.kind == "choice" and _is_none(value.parts[1], own):
        value = value.parts[0]
    said = "" if value is None else text_of(value) if is_literal(value) else written_in(method, value, 90)
    tests = [one for one in event.block.branches if one.test is None or not _is_none(one.test, own)]
    sure = value is not None and is_literal(value) and not tests
    return Layer("code", cls.path, event.line, said, sure, conditions(event) if tests else "")


def _is_none(test: Expr, own: str) -> bool:
    return written(test) == f"{own} is None"


def assigned_to(cls: Class, name: str) -> Iterator[tuple[Function, int]]:
    """Statements by which an object of `cls` sets its field `name` when it comes into being."""
    for method in (cls.methods[one] for one in COMES_TO_BE if one in cls.methods):
        for position, event in enumerate(method.events):
            if event.kind == "assign" and any(one.text == f"{method.self_name}.{name}" for one in event.targets):
                yield method, position
