"""Where the code sets what an attribute is worth: of self, and of an object whose class is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Expr, bindings

from ..records import Key
from .come_to_be import COMES_TO_BE
from .named_values import method_around
from .scope import Scope

if TYPE_CHECKING:
    from ...program import Program
    from ..truth import Truth

MAX_SET = 4  # statements that set one attribute, of which settings may leave one
Runs = Callable[[Scope], bool | None]  # whether a statement is reached; None where it cannot be told


def field_of_self(scope: Scope, expr: Expr) -> Key | None:
    """The key that self.kind is in a method of a class of settings; self.part.kind while an object comes into being."""
    function, (head, _, name) = scope.function, expr.text.partition(".")
    if head != function.self_name or not scope.truth.named(name.rpartition(".")[2]):
        return None
    if "." in name:
        if function.name not in COMES_TO_BE:
            return None
        inside = [one for one in scope.truth.named(name.rpartition(".")[2]) if f".{one.name}".endswith(f".{name}")]
        return inside[0] if len(inside) == 1 else None
    index = scope.truth.program.index
    owner = index.class_of(function)
    found = [
        key
        for cls in (index.lineage(owner) if owner is not None else ())
        for key in scope.truth.named(name)
        if key.layers[0].how == "default" and key.layers[0].path == cls.path
        if cls.line <= key.layers[0].line <= cls.end_line
    ]
    return found[0] if len(found) == 1 else None


def attribute_of_self(scope: Scope, expr: Expr, runs: Runs) -> Scope | None:
    """Where the only statement of a class, and of those above and below it, that settings let run sets self.kind."""
    head, _, name = expr.text.partition(".")
    index = scope.truth.program.index
    function = method_around(index, scope.function)
    owner = index.class_of(function) if head == function.self_name and "." not in name and scope.hops else None
    if owner is None:
        return None
    if scope.assumed:
        return _set_in(scope, owner, name, runs)
    key, kept = (owner, name, scope.hops), scope.truth.attributes
    if key not in kept:  # methods ask for each other's attributes: each is worked out once, with the keys that decided
        asked = scope._replace(said=[])
        found = _set_in(asked, owner, name, runs)
        kept[key] = found and (found.function, found.position), tuple(asked.said)
    held, said = kept[key]
    scope.said.extend(said)
    return scope.at(*held) if held is not None else None


def attribute_of_object(scope: Scope, expr: Expr, runs: Runs) -> Scope | None:
    """The same of trainer.use_amp, where `trainer` holds one class of the project, and nobody else sets the attribute."""
    holder, _, name = expr.text.rpartition(".")
    if not holder or not scope.hops or holder == scope.function.self_name:
        return None
    program = scope.truth.program
    held = program.values.named(scope.function, holder)
    owners = [one for one in held if isinstance(one, Class)]
    if len(owners) != 1 or len(held) > 1 or is_set_from_outside(scope.truth, name):
        return None
    return _set_in(scope, owners[0], name, runs)


def is_set_from_outside(truth: Truth, name: str) -> bool:
    """Some code that the program reaches sets an attribute called so, of something that is not self."""
    kept = truth.set_outside
    if name not in kept:
        sets = re.compile(rb"(?<!\bself)\." + name.encode() + rb"\s*(?:[-+*/|&]|//|\*\*)?=(?!=)")
        kept[name] = any(one.source.holds(sets) for one in truth.program.entry.reach.distance)
    return kept[name]


def kin(program: Program, owner: Class) -> tuple[Class, ...]:
    """The class, those above it and those below it, but for those that the settings passed over."""
    others = program.values.known.excluded
    below = (one for one in program.index.subclasses(owner) if one not in others)
    return (*program.index.lineage(owner), *below)


def _set_in(scope: Scope, owner: Class, name: str, runs: Runs) -> Scope | None:
    found = [
        (method, one)
        for cls in kin(scope.truth.program, owner)
        for method in cls.methods.values()
        if method.self_name
        for one in bindings(method).get(f"{method.self_name}.{name}", ())
    ]
    if len(found) > MAX_SET:
        return None
    left = [(there, one) for method, one in found if runs(there := scope.at(method, one.position)) is not False]
    if len(left) != 1 or left[0][1].kind != "assign" or left[0][1].items or left[0][1].value is None:
        return None
    return left[0][0] if runs(left[0][0]) else None
