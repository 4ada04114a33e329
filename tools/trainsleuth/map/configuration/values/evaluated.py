"""What expressions of the code are worth with the values that the settings are known to have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainsleuth.facts import MODULE_BODY, Branch, Event, Expr, Function, Site, bindings, written
from trainsleuth.facts.memo import kept_per_function

from ...recipe.branches import of_type
from ...recipe.given_parameters import filled_by
from ..forms.literals import is_literal, plain
from ..records import NO_VALUE, Key, Layer
from .asked_settings import of_part, of_section, setting_of
from .attribute_values import attribute_of_object, attribute_of_self, field_of_self
from .come_to_be import COMES_TO_BE
from .handed_entries import entry_asked
from .made import Made, is_instance, kept_keyword, made_by
from .named_values import constant_key, is_test, key_asked, member, member_named, names_in
from .only_called import is_only_called
from .scope import Scope
from .set_options import set_option

if TYPE_CHECKING:
    from ..truth import Truth

MAX_CALLS = 12  # of a function whose parameter is asked for

_COMPARED = {"==": "__eq__", "!=": "__ne__", "is": "__eq__", "is not": "__ne__"}
_ORDERED = {"<": -1, ">": 1, "<=": -1, ">=": 1}
_IS_CODE = re.compile(r"[(\[{$<*]|//| [-+/] ")  # a value that is worked out
_PLAIN_TYPES = ("str", "list", "dict", "tuple", "int", "float", "bool")
_EMPTY = ("[]", "{}", "()")
_CASES = ("lower", "upper", "strip")
_MATCHES = ("startswith", "endswith", "split")


class UnknownValueError(Exception):
    """The value cannot be told."""


def is_true(truth: Truth, function: Function, test: Expr, branch: Branch, said: list[Key]) -> bool | None:
    """Whether a test of `branch` holds; None where it cannot be told. The keys that decided are added to `said`."""
    return _truth(Scope(truth, function, _begins(function, branch), said), test)


def assigned(truth: Truth, function: Function, position: int, before: Key) -> tuple[bool | None, str | None]:
    """Whether the statement that changes a key runs, and what it makes of it; None where that cannot be told.

    `before` is the key without this change and those that come later.
    """
    scope = Scope(truth, function, position, [], assumed={before.name: before})
    runs = _runs(scope)
    if runs:
        runs = _is_called(scope) or None
    event = function.events[position]
    if not runs or event.kind != "assign" or event.value is None:
        return runs, None
    if event.block.loops:
        return runs, _of_each_round(function, event)
    try:
        value = _value(scope, event.value)
    except UnknownValueError:
        return runs, None
    if isinstance(value, Made):
        return runs, None
    return runs, str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _of_each_round(function: Function, event: Event) -> str | None:
    """What a loop gives in its rounds one after the other: for name in ["a", "b"]: args.name = name"""
    loop, *around = (function.loops[number] for number in event.block.loops)
    named = loop.target.text if loop.target is not None and loop.target.kind == "path" else ""
    if around or loop.source is None or event.value is None or event.value.text != named or not named:
        return None
    is_list = loop.source.kind in ("list", "tuple") and loop.source.parts
    return written(loop.source) if is_list and all(map(is_literal, loop.source.parts)) else None


def attribute(truth: Truth, method: Function, name: str, said: list[Key]) -> str | None:
    """What self.name is worth in a method; None where it cannot be told. The keys that decided are added to `said`."""
    asked = Expr("path", f"{method.self_name}.{name}", (), method.line)
    held = attribute_of_self(Scope(truth, method, len(method.events), said), asked, _runs)
    try:
        value = _value(held, held.function.events[held.position].value or asked) if held is not None else None
    except UnknownValueError:
        return None
    return None if held is None or isinstance(value, Made) else str(value)


def _is_called(scope: Scope, hops: int = 3) -> bool:
    """Its function is called whenever the program runs."""
    function, program = scope.function, scope.truth.program
    if function.name == MODULE_BODY or (function.name in COMES_TO_BE and _is_filled(scope)):
        return True
    outer = (scope._replace(function=site.function, position=site.position) for site in program.sites_of(function))
    return hops > 0 and any(_runs(one) and _is_called(one, hops - 1) for one in outer)


def _is_filled(scope: Scope) -> bool:
    """The program makes an object of the class, or of one below it."""
    return scope.truth.program.index.class_of(scope.function) in scope.truth.owners.made


def _begins(function: Function, branch: Branch) -> int:
    """The position of the first statement inside any arm of a branch."""
    return _beginnings(function).get(branch.id, len(function.events))


@kept_per_function
def _beginnings(function: Function) -> Mapping[int, int]:
    """By the branch, the position of the first statement inside any of its arms."""
    found: dict[int, int] = {}
    for place, event in enumerate(function.events):
        for branch in event.block.branches:
            found.setdefault(branch.id, place)
    return found


def _truth(scope: Scope, test: Expr) -> bool | None:
    if test.kind == "call" and test.callee == "bool" and len(test.arguments) == 1:
        return _truth(scope, test.arguments[0])
    if test.kind == "unary" and test.text == "not":
        inner = _truth(scope, test.parts[0])
        return None if inner is None else not inner
    if test.kind == "boolean":
        decides = test.text == "or"
        truths = [_truth(scope, part) for part in test.parts]
        if decides in truths:
            return decides
        return None if None in truths else not decides
    if test.kind == "compare" and len(test.parts) != 2:
        return None  # 0 < epoch < args.epochs
    try:
        if test.kind == "compare":
            if test.parts[0].text == "__name__":
                return any(root.path == scope.function.path for root in scope.truth.program.entry.reach.roots)
            return _compared(scope, test)
        if test.kind == "call" and test.callee == "isinstance" and len(test.arguments) == 2:
            held = _value(scope, test.arguments[0])
            if not isinstance(held, Made):
                return _is_text_of(scope, held, test.arguments[1])
            return is_instance(scope.truth.program.index, scope.function, held, test.arguments[1])
        value = _value(scope, test)
        return None if isinstance(value, Made) else bool(value)
    except UnknownValueError:
        return None


def _is_text_of(scope: Scope, held: Any, kind: Expr) -> bool | None:
    """Whether a text of a file, which no parser of options makes something else of, is a str, a list ..."""
    key = scope.said[-1] if scope.said else None
    if not isinstance(held, str) or key is None or key.name in scope.truth.offered or kind.text not in _PLAIN_TYPES:
        return None
    if key.source is None or key.source.how != "file":
        return None
    return kind.text == "str"


def _compared(scope: Scope, test: Expr) -> bool:
    if test.text in ("in", "not in") and test.parts[1].kind in ("list", "tuple", "set"):
        one = _value(scope, test.parts[0])
        return (one in [_value(scope, part) for part in test.parts[1].parts]) is (test.text == "in")
    if test.text in ("in", "not in") and (names := names_in(scope.truth.program.index, scope.function, test.parts[1])):
        return (_value(scope, test.parts[0]) in names) is (test.text == "in")
    if test.text in ("in", "not in"):
        inner, outer = (_value(scope, part) for part in test.parts)
        if isinstance(inner, str) and isinstance(outer, str):
            return (inner in outer) is (test.text == "in")
        raise UnknownValueError
    left, right = (_value(scope, part) for part in test.parts)
    if any(isinstance(one, Made) for one in (left, right)) and not (
        test.text in ("is", "is not") and None in (left, right)
    ):
        raise UnknownValueError
    if isinstance(left, str) != isinstance(right, str) and plain(str(left)) == plain(str(right)):
        raise UnknownValueError  # "1" and 1: what an option is read as is not known
    if (left is None and right is False) or (left is False and right is None):
        raise UnknownValueError  # a flag is never None: cfg.evaluate is no args.evaluate
    if left != right and str(left).lower() == str(right).lower():
        raise UnknownValueError  # "flat" and Layout.FLAT = "FLAT": type=lambda text: Layout[text.upper()]
    if test.text in _COMPARED:
        return (left == right) is (_COMPARED[test.text] == "__eq__")
    if test.text in _ORDERED and all(isinstance(one, int | float) for one in (left, right)):
        apart = (left > right) - (left < right)
        return apart == _ORDERED[test.text] or (apart == 0 and test.text.endswith("="))
    raise UnknownValueError


def _value(scope: Scope, expr: Expr) -> Any:
    if expr.kind in ("number", "constant", "string"):
        return plain(expr.text) if expr.kind != "string" else expr.text
    if expr.kind == "call" and expr.receiver is not None and expr.last in (*_CASES, *_MATCHES):
        return _of_text(scope, expr)
    if expr.kind == "call" and expr.callee in _BOUNDS:
        return _of_numbers(scope, expr)
    if expr.kind == "path" and "." not in expr.text:
        return _of_local(scope, expr.text)
    if expr.kind == "path" and (key := field_of_self(scope, expr)) is not None:
        return _of_key(scope, key)
    if expr.kind == "path" and (held := attribute_of_self(scope, expr, _runs)):
        return _value(held, held.function.events[held.position].value or expr)
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind in ("number", "unary"):
        return _of_item(scope, expr)
    if is_test(expr) or (expr.kind == "call" and expr.callee == "bool" and len(expr.arguments) == 1):
        if (decided := _truth(scope, expr)) is None:
            raise UnknownValueError
        return decided
    if expr.kind == "choice" and len(expr.parts) == 3:
        first, test, other = expr.parts
        truth = _truth(scope, test)
        if truth is None and (either := _value(scope, first)) != _value(scope, other):
            raise UnknownValueError
        return either if truth is None else _value(scope, first if truth else other)
    if expr.kind == "path" and (text := member(scope.truth.program.index, scope.function, expr.text)) is not None:
        return text
    if expr.kind == "path" and (given := kept_keyword(scope.truth.program.index, scope.function, expr.text)):
        return _value(scope._replace(position=given[1]), given[0])
    if (entry := entry_asked(scope, expr)) is not None:
        return _value(*entry)
    if made := made_by(scope.truth.program.index, scope.function, expr):
        return made
    dotted = key_asked(expr)
    key = setting_of(scope.truth, dotted, scope.function.path) if dotted else None
    if key is None and expr.kind == "call" and (named := scope.truth.find(dotted, scope.function.path)) is not None:
        key = named if scope.truth.is_absent(named) and dotted.endswith(f".{named.name}") else None
    key = key or of_section(scope.truth, scope.function, dotted) or of_part(scope.truth, scope.function, dotted)
    if key is None and expr.kind == "path" and (held := attribute_of_object(scope, expr, _runs)):
        return _value(held, held.function.events[held.position].value or expr)
    if key is None and (option := set_option(scope, expr, _runs)):
        return _value(*option)
    if key is None:
        raise UnknownValueError
    return _of_key(scope, key, key is scope.truth.find(dotted, scope.function.path))


def _of_key(scope: Scope, key: Key, is_whole: bool = True) -> Any:
    """What a key is worth before the statement of the scope, when nothing else may come of it."""
    key = scope.assumed.get(key.name, key) if is_whole else key
    if not all(layer.certain for layer in key.layers) or key.name in scope.truth.open:
        raise UnknownValueError
    value = scope.truth.end(key.value)
    if value in _EMPTY:
        scope.said.append(key)
        return ast.literal_eval(value)
    first = key.layers[0]
    if text := member_named(scope.truth.program.index, first.path, first.value, value):
        scope.said.append(key)
        return text
    if value in NO_VALUE or _IS_CODE.search(value) or "." in value.strip("-0123456789.e+"):
        raise UnknownValueError
    scope.said.append(key)
    return value if value == "" and not _is_null(key) else plain(value)


def _is_null(key: Key) -> bool:
    """Nothing behind a key of YAML, which an empty text in quotes or in code is not."""
    return key.source is None or key.source.path.endswith((".yaml", ".yml"))


def _of_text(scope: Scope, call: Expr) -> Any:
    """kind.lower(), kind.startswith("ada")"""
    asked = of_type(call)
    given = [asked] if asked is not None else [call.receiver, *call.arguments] if call.receiver is not None else []
    values = [_value(scope, one) for one in given]
    if len(values) != 1 + (call.last in _MATCHES) or not all(isinstance(one, str) for one in values):
        raise UnknownValueError
    return getattr(values[0], call.last)(*values[1:])


def _of_numbers(scope: Scope, call: Expr) -> Any:
    """min(4, args.heads)"""
    values = [_value(scope, one) for one in call.parts[1:] if one.kind not in ("keyword", "star", "doublestar")]
    if len(values) < max(2, len(call.parts) - 1) or not all(isinstance(one, int | float) for one in values):
        raise UnknownValueError
    return _BOUNDS[call.callee](values)


_BOUNDS = {"min": min, "max": max}


def _of_item(scope: Scope, expr: Expr) -> str:
    """name.split("_")[-1]"""
    held, place = _value(scope, expr.parts[0]), written(expr.parts[1]).replace(" ", "")
    if not isinstance(held, list) or not place.lstrip("-").isdigit() or not -len(held) <= int(place) < len(held):
        raise UnknownValueError
    return str(held[int(place)])


def _of_local(scope: Scope, name: str) -> Any:
    """A name that stands for a setting: kind = args.kind; if not kind: kind = "adam"; a parameter, a constant."""
    if not scope.hops:
        raise UnknownValueError
    if (key := constant_key(scope.truth.program.index, scope.function, name)) is not None:
        scope.said.insert(0, key)  # what it is compared with says more
        return plain(key.value)
    if (word := scope.truth.program.subcommand(scope.function, name)) is not None:
        scope.said.append(Key(name, (Layer("command", "", 0, word),), (), "read"))
        return word
    inner = scope._replace(hops=scope.hops - 1)
    bound = bindings(scope.function).get(name, ())
    for one in reversed(bound):
        event = scope.function.events[one.position]
        if event.block.loops and len(bound) > 1:  # bound once, it is the same in every round: settings do not change
            raise UnknownValueError
        if one.position >= scope.position:
            continue
        here = inner._replace(position=one.position)
        runs = _runs(here)
        if runs is None or (runs and (one.kind != "assign" or one.items or one.value is None)):
            raise UnknownValueError
        if runs and one.value is not None:
            return _value(here, one.value)
    return _of_parameter(inner, name)


def _runs(scope: Scope) -> bool | None:
    """Whether a statement is reached when its function is run; None where it cannot be told."""
    event, sure = scope.function.events[scope.position], True
    for branch in event.block.branches:
        if branch.kind != "if":
            sure = sure and branch.kind == "try" and not branch.arm
            continue
        at = scope._replace(position=_begins(scope.function, branch))
        for number, test in enumerate(branch.tests[: branch.arm + 1]):
            truth = _truth(at, test)
            if truth is (number < branch.arm):
                return False
            sure = sure and truth is not None
    return True if sure else None


def _of_parameter(scope: Scope, name: str) -> Any:
    """What every call that the program reaches gives for a parameter, when all give the same."""
    function, program = scope.function, scope.truth.program
    parameter = function.parameter(name)
    order = [one.name for one in function.parameters if one.name != function.self_name]
    if parameter is None or name not in order or scope.hops < 2 or parameter.kind:
        raise UnknownValueError
    section = filled_by(function)
    if section is not None and (key := scope.truth.find(f"{section}{name}", function.path)) is not None:
        return _of_key(scope, key)
    found: list[Any] = []
    before = len(scope.said)
    for count, site in enumerate(program.sites_of(function)):
        given = site.call.argument(order.index(name), name)
        if _runs(scope._replace(function=site.function, position=site.position, hops=scope.hops - 2)) is False:
            continue
        unpacked = any(part.kind in ("star", "doublestar") for part in site.call.parts)
        if unpacked and given is None and (outer := list(_handed_through(scope, site, name))):
            found += [_value(at, value) for at, value in outer]
            continue
        value = given or (None if unpacked else parameter.default)
        if value is None or count > MAX_CALLS:
            raise UnknownValueError
        at = Scope(scope.truth, site.function if given else function, site.position if given else 0, scope.said)
        found.append(_value(at._replace(hops=scope.hops - 2), value))
    if not found or any(one != found[0] for one in found):
        raise UnknownValueError
    if (
        len(scope.said) == before
        and is_only_called(scope.truth, function)
        and isinstance(found[0], str | int | float | None)
    ):
        said = Layer("code", function.path, function.line, "None" if found[0] is None else str(found[0]))
        scope.said.append(Key(name, (said,), (), "read"))
    return found[0]


def _handed_through(scope: Scope, site: Site, name: str) -> Iterator[tuple[Scope, Expr]]:
    """What those who call give by the name of a parameter to a function that hands its **kwargs on."""
    through = {part.parts[0].text for part in site.call.parts if part.kind == "doublestar"}
    if not any(one.kind == "**" and one.name in through for one in site.function.parameters):
        return
    for outer in scope.truth.program.sites_of(site.function):
        value = outer.call.keyword(name)
        if value is None:
            raise UnknownValueError
        yield Scope(scope.truth, outer.function, outer.position, scope.said, scope.hops - 2), value
