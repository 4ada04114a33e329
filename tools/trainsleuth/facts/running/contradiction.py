"""Arms of different ifs that no run takes together, because they ask the same: if mode == "train" and its else, twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..memo import kept_per_function
from ..reading.scopes import bindings, encloses, is_sibling
from ..records import Block, Expr, Function
from ..tracing.things import Instance, Spot, Thing
from ..wording import written

_OPPOSITES = {"!=": "==", "is not": "is", "not in": "in"}


def contradict(function: Function, one: Block, other: Block) -> bool:
    """One run of the function is in at most one of the two: a test is so around one and not around the other."""
    asked = dict(_asked(function, one)) if one.branches and other.branches else {}
    return any(asked.get(test, truth) is not truth for test, truth in _asked(function, other))


def is_made_apart(thing: Thing, spot: Spot) -> bool:
    """No run that makes the object comes to `spot`, by tests of settings that both ask: cfg.LOSS == "focal" where an
    attribute is set, and cfg.LOSS == "plain" where it is called.
    """
    made = thing.spot if isinstance(thing, Instance) else None
    return made is not None and made.function is not spot.function and _ask_otherwise(made, spot)


def never_meet(one: Spot, other: Spot) -> bool:
    """No run comes to both places: they stand in arms of one if, in arms that ask the same, or the one that stands first
    leaves its function.
    """
    if one.function is not other.function:
        return _ask_otherwise(one, other)
    function, (first, later) = one.function, sorted([one, other], key=lambda spot: spot.position)
    if is_sibling(_block(one), _block(other)) or contradict(function, _block(one), _block(other)):
        return True
    between = function.events[first.position + 1 : later.position]
    return any(event.kind in ("return", "raise") and encloses(event.block, _block(first)) for event in between)


def _ask_otherwise(one: Spot, other: Spot) -> bool:
    """By tests of settings around each of them."""
    asked = _settings_asked(one)
    return bool(asked) and any(asked.get(test, truth) is not truth for test, truth in _settings_asked(other).items())


def told_by_tests(spot: Spot, name: str) -> tuple[str | None, frozenset[str]]:
    """The text that a name surely is at `spot`, and those that it is not: if head == "size", and the arms below it."""
    isnt: set[str] = set()
    for branch in _block(spot).branches:
        for arm, test in enumerate(branch.tests if branch.kind == "if" else ()):
            text = _compared(test, name)
            if text is not None and arm == branch.arm:
                return text, frozenset()
            isnt.update(() if text is None else (text,))
    return None, frozenset(isnt)


def _compared(test: Expr, name: str) -> str | None:
    """The text that a test asks whether `name` is."""
    if test.kind != "compare" or test.text != "==" or len(test.parts) != 2:
        return None
    path, text = sorted(test.parts, key=lambda part: part.kind == "string")
    return text.text if (path.kind, path.text, text.kind) == ("path", name, "string") else None


def _settings_asked(spot: Spot) -> dict[str, bool]:
    """Tests of settings around the statement, and what each is there."""
    known = _known(spot.function)
    if spot.position not in known:
        known[spot.position] = dict(_asked(spot.function, _block(spot), _is_setting))
    return known[spot.position]


@kept_per_function
def _known(function: Function) -> dict[int, dict[str, bool]]:
    """By the number of a statement, filled as it is asked for."""
    return {}


def _block(spot: Spot) -> Block:
    events = spot.function.events
    return events[spot.position].block if spot.position < len(events) else Block()


def _is_setting(function: Function, name: str) -> bool:
    """An attribute of something that the function does not make itself."""
    return "." in name and name.partition(".")[0] not in bindings(function)


def _is_steady(function: Function, name: str) -> bool:
    return len(bindings(function).get(name, ())) <= 1


def _asked(
    function: Function, block: Block, holds: Callable[[Function, str], bool] = _is_steady
) -> Iterator[tuple[str, bool]]:
    """Tests whose names are not given another value in between, and what each is in the block."""
    for branch in block.branches:
        for arm, test in enumerate(branch.tests if branch.kind == "if" else ()):
            if all(holds(function, name) and _is_steady(function, name) for name in _names(test)):
                yield _plain(test, arm == branch.arm)


def _names(test: Expr) -> Iterator[str]:
    for part in test.walk():
        if part.kind == "path":
            yield part.text


def _plain(test: Expr, truth: bool) -> tuple[str, bool]:
    if test.kind == "unary" and test.text == "not":
        return _plain(test.parts[0], not truth)
    if test.kind == "compare" and test.text in _OPPOSITES:
        return written(test._replace(text=_OPPOSITES[test.text])), not truth
    return written(test), truth
