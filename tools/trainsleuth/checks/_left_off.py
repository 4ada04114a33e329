"""Options that are off unless somebody gives them: what stands behind one does not run by default."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from trainsleuth.facts import (
    MODULE_BODY,
    Expr,
    Function,
    Index,
    Spot,
    around,
    is_test,
    makers,
    needed_at,
    spot_at,
    written,
)

from ._given import is_given
from ._options import as_written, defaults, left_out, member_named, option_name
from ._parameters import given_or_left

_OFF = frozenset(["false", "0", "0.0", "0.", "none", "", "null"])
_TRAINS = re.compile(r"(^|[_.])(train|training|fit)($|_)")  # args.do_train: who wants to train says so
_NOT_NONE = frozenset(["none", "null"])


def left_off(index: Index, places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """What must be so for the places to be reached and is not by default: args.amp, args.clip > 0, not cfg.ema. No script
    or configuration makes it so.
    """
    found = [(part, wanted) for part, wanted, _ in _off(index, places)]
    equal = {part.parts[0].text for part, wanted in found if wanted and _is_of_text(part)}
    told = (
        written(part) if wanted else f"not {written(part)}"
        for part, wanted in found
        if wanted or not (_is_of_text(part) and part.parts[0].text in equal)  # a == "x" says not a == "y"
    )
    return tuple(dict.fromkeys(told))


def is_as_written(index: Index, places: Iterable[tuple[str, int]]) -> bool:
    """All that leaves the places off are texts that the code itself gives a name: METHOD = "concat"."""
    found = [(part, spot) for part, _, spot in _off(index, places)]
    return bool(found) and all(_is_word(index, part, spot) for part, spot in found)


def _off(index: Index, places: Iterable[tuple[str, int]]) -> Iterator[tuple[Expr, bool, Spot]]:
    for path, line in places:
        for part, wanted in needed_at(index, path, line):
            if (spot := spot_at(index, path, line)) is not None and _is_off(index, part, wanted, spot):
                yield part, wanted, spot


def _is_of_text(test: Expr) -> bool:
    return test.kind == "compare" and test.text == "==" and test.parts[1].kind == "string"


def _is_word(index: Index, test: Expr, spot: Spot) -> bool:
    asked = test.parts[0] if test.kind == "compare" else test
    if option_name(asked) or spot.function.parameter(asked.text) is not None:
        return False
    made = [one for one, _ in makers(index, asked, spot)]
    return bool(made) and all(one.kind == "string" for one in made)


def made_where_off(index: Index, places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """The same of classes whose methods stand on the way: all that makes an object of one is left off by default."""
    functions = [around(index, *place) for place in places]
    classes = [cls for one in functions if one is not None and (cls := index.class_of(one)) is not None]
    for cls in dict.fromkeys(classes):
        if not (cls.decorators or index.subclasses(cls) or _is_handed_on(index, cls.name)):
            sites = [site for site in index.calls(cls.name) if not is_test(site.function.path)]
            tests = [left_off(index, [(site.function.path, site.call.line)]) for site in sites]
            if tests and all(tests):
                return tests[0]
    return ()


def named_where_off(index: Index, places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """The same of functions: all that names one, to call it or to hand it on, is left off by default."""
    for function in dict.fromkeys(around(index, *place) for place in places):
        if function is None or function.owner or function.outer or function.decorators or function.name == MODULE_BODY:
            continue
        tests = [left_off(index, [place]) for place in _mentions(index, function)]
        if tests and all(tests):
            return tests[0]
    return ()


def _mentions(index: Index, function: Function) -> Iterator[tuple[str, int]]:
    """Where the others name a function; what bears its name and is not known to be another counts."""
    for other in index.functions_holding(re.compile(rb"\b%s\b" % re.escape(function.name.encode()))):
        if other is function or is_test(other.path):
            continue
        for event in other.events:
            for part in (one for value in (*event.targets, event.value) if value is not None for one in value.walk()):
                text = part.text if part.kind in _NAMES else ""
                if text.rpartition(".")[2] == function.name and index.resolve(other, text) in (function, None):
                    yield other.path, part.line


def _is_handed_on(index: Index, name: str) -> bool:
    """A class is named without being called: kept in a table, given to a function, or asked for by a text."""
    for function in index.functions_holding(re.compile(rb"\b%s\b" % re.escape(name.encode()))):
        for expr in (one for event in function.events for one in (*event.targets, event.value) if one is not None):
            calls = [part for part in expr.walk() if part.kind == "call"]
            own = {id(one) for call in calls for one in call.parts[: 2 if call.callee == "super" else 1]}
            others = (part for part in expr.walk() if part.kind in _NAMES and id(part) not in own)
            if any(part.last == name or part.text == name for part in others):
                return True
    return False


_NAMES = ("path", "attr", "string")


def arms_left_off(index: Index, part: Expr, spot: Spot) -> tuple[str, ...]:
    """The same of the arms of choices around a part of the statement at `spot`: Random(data) if rank == -1 else Part(data)."""
    event = spot.function.events[spot.position]
    choices = [one for one in event.value.walk() if one.kind == "choice" and len(one.parts) == 3] if event.value else []
    tests: dict[str, None] = {}
    for chosen, test, other in (one.parts for one in choices):
        for arm, wanted in ((chosen, True), (other, False)):
            if any(one is part for one in arm.walk()) and _is_off(index, test, wanted, spot):
                tests[written(test) if wanted else f"not {written(test)}"] = None
    return tuple(tests)


def _is_off(index: Index, test: Expr, wanted: bool, spot: Spot, depth: int = 2) -> bool:
    asked, path = test.parts[0] if test.kind == "compare" and len(test.parts) == 2 else test, spot.function.path
    runs = partial(_may_run, index, here=spot, depth=depth - 1)
    own = given_or_left(index, asked, spot.function)
    made = [one for one, at in makers(index, asked, spot) if not member_named(index, one, at.function) and runs(at)]
    options = {name for one in made or [asked] if (name := option_name(one) or _of_a_command(one, spot.function))}
    if made and all(one.kind == "constant" for one in made):  # the field of a class of settings, as it is written
        options |= {name for name in (option_name(asked),) if name}
    is_word = bool(made) and all(one.kind == "string" for one in made)  # dtype = "bfloat16", and dtype == "float16"
    if not options and not own and not is_word:
        return False
    values = set(own).union(*(_values(index, one, spot, runs) for one in made))
    if {_truth(test, value) for value in values} != {not wanted}:
        return False
    if wanted and any(_TRAINS.search(one.text) for one in test.walk()):
        return False
    word = test.parts[1].text if test.kind == "compare" and test.parts[1].kind == "string" and wanted else ""
    names = options or {asked.text}
    is_attribute = bool(options) or "." in asked.text or not own
    return not any(
        is_given(index, one, path, lambda value: _truth(test, value) in (wanted, None), word, runs, is_attribute)
        for one in names
    )


def _may_run(index: Index, spot: Spot, here: Spot, depth: int) -> bool:
    """What is set in the arm of an option that is off is not set: if args.launcher != "none": args.distributed = True."""
    is_here = spot.function is here.function and spot.position == here.position
    needed = needed_at(index, spot.function.path, spot.line) if depth and not is_here else ()
    return not any(_is_off(index, part, wanted, spot, depth) for part, wanted in needed)


def _values(index: Index, made: Expr, spot: Spot, runs: Callable[[Spot], bool]) -> set[str]:
    """What an expression is where nothing is given."""
    if option := option_name(made) or _of_a_command(made, spot.function):
        return defaults(index, option, spot.function.path, runs) or {left_out(made)}
    return {as_written(made)} if made.kind != "path" or spot.function.parameter(made.text) is None else set()


def _of_a_command(expr: Expr, function: Function) -> str:
    """The parameter of a function that is made a command: @click.command()."""
    is_bare = expr.kind == "path" and function.parameter(expr.text) is not None
    return expr.text if is_bare and function.decorators else ""


def _truth(test: Expr, value: str) -> bool | None:
    """What a test of an option is where the option has this value; None where that is not known."""
    if value == "?":
        return None
    if test.kind != "compare":
        return value.lower() not in _OFF
    other = test.parts[1]
    if test.text in ("==", "is", "!=", "is not"):
        same = _is_same(other, value)
        return None if same is None else same is (test.text in ("==", "is"))
    number, limit = _number(value), _number(as_written(other))
    if number is None or limit is None:
        return None
    return {">": number > limit, ">=": number >= limit, "<": number < limit, "<=": number <= limit}.get(test.text)


def _is_same(other: Expr, value: str) -> bool | None:
    if other.text == "None":
        return value.lower() in _NOT_NONE
    if other.kind == "string":
        return value == other.text
    if other.kind == "constant":
        return value.lower() == other.text.lower()
    if other.kind == "path":  # members of one enumeration
        owner, _, member = other.text.rpartition(".")
        kind, _, given = value.rpartition(".")
        return member == given if kind and kind == owner.rpartition(".")[2] else None
    number, limit = _number(value), _number(as_written(other))
    return None if number is None or limit is None else number == limit


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return 0.0 if text.lower() in _NOT_NONE else None
