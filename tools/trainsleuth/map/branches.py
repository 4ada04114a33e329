"""Arms of an if that the settings of a program do not choose: elif args.stage == "dpo" where the recipe says sft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainsleuth.facts import Event, Expr

from .recipes import Setting

_FLAGS = {"true": True, "false": False, "none": False, "null": False}
_LITERALS = ("string", "number", "constant")


def known_settings(weak: Iterable[Setting], given: Iterable[Setting]) -> dict[str, str]:
    """Plain settings by name: what the recipe gives, and flags (True, False, None) by their defaults."""
    known: dict[str, str] = {}
    for setting in weak:
        if "." not in setting.key and setting.value.lower() in _FLAGS:
            known[setting.key] = setting.value.lower()
    known.update({setting.key: setting.value.lower() for setting in given if "." not in setting.key})
    return known


def is_not_chosen(event: Event, known: Mapping[str, str]) -> bool:
    """The statement stands in an arm that these settings are seen not to take."""
    for branch in event.block.branches if known else ():
        if branch.kind != "if":
            continue
        truths = [_truth(test, known) for test in branch.tests[: branch.arm + 1]]
        if any(one is True for one in truths[: branch.arm]) or truths[branch.arm :] == [False]:
            return True
    return False


def _truth(test: Expr, known: Mapping[str, str]) -> bool | None:
    """None where it cannot be told."""
    if test.kind == "unary" and test.text == "not":
        inner = _truth(test.parts[0], known)
        return None if inner is None else not inner
    if test.kind == "boolean":
        decides = test.text == "or"  # the value of one operand that settles the whole
        truths = [_truth(part, known) for part in test.parts]
        if decides in truths:
            return decides
        return None if None in truths else not decides
    if test.kind == "compare" and len(test.parts) == 2:
        return _compared(test, known)
    value = _value(test, known)
    return _FLAGS.get(value) if value is not None else None


def _compared(test: Expr, known: Mapping[str, str]) -> bool | None:
    value, other = _value(test.parts[0], known), test.parts[1]
    if value is None:
        return None
    if test.text in ("==", "is", "!=", "is not") and other.kind in _LITERALS:
        return (other.text.lower() == value) == (test.text in ("==", "is"))
    if test.text in ("in", "not in") and other.kind in ("list", "tuple", "set"):
        if all(part.kind in _LITERALS for part in other.parts):
            return (value in [part.text.lower() for part in other.parts]) == (test.text == "in")
    return None


def _value(expr: Expr, known: Mapping[str, str]) -> str | None:
    """Of an attribute of an object that holds settings: args.stage."""
    return known.get(expr.last) if expr.kind == "path" and "." in expr.text else None
