"""Arms of an if that the settings of a program do not choose: elif args.stage == "dpo" where the recipe says sft."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from trainsleuth.facts import Event, Expr

from .recipes import Setting

_FLAGS = {"true": True, "false": False, "none": False, "null": False}
_LITERALS = ("string", "number", "constant")


def known_settings(weak: Iterable[Setting], given: Iterable[Setting]) -> dict[str, str]:
    """Settings by name: what the recipe gives, and flags (True, False, None) by their defaults.

    A nested one also behind a dot by its last word, when no other is called so: ".optimizer" is optim.optimizer.
    """
    known: dict[str, str] = {}
    for setting in weak:
        if "." not in setting.key and setting.value.lower() in _FLAGS:
            known[setting.key] = setting.value.lower()
    recipe = {setting.key: setting.value.lower() for setting in given}
    lasts = Counter(key.rpartition(".")[2] for key in recipe)
    known.update(recipe)
    known.update({f".{last}": value for key, value in recipe.items() if lasts[last := key.rpartition(".")[2]] == 1})
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


_NOT_GIVEN = ("none", "null", "")  # the default of what a command must give


def _compared(test: Expr, known: Mapping[str, str]) -> bool | None:
    value, other = _value(test.parts[0], known), test.parts[1]
    if value is None or (value in _NOT_GIVEN and other.kind == "string"):
        return None
    if test.text in ("==", "is", "!=", "is not") and other.kind in _LITERALS:
        return (other.text.lower() == value) == (test.text in ("==", "is"))
    if test.text in ("in", "not in") and other.kind in ("list", "tuple", "set"):
        if all(part.kind in _LITERALS for part in other.parts):
            return (value in [part.text.lower() for part in other.parts]) == (test.text == "in")
    return None


def _value(expr: Expr, known: Mapping[str, str]) -> str | None:
    """Of an attribute of an object that holds settings: args.stage."""
    if expr.kind != "path" or "." not in expr.text:
        return None
    words = expr.text.split(".")
    for cut in range(len(words)):
        if (value := known.get(".".join(words[cut:]))) is not None:
            return value
    return known.get(f".{words[-1]}") if _HOLDS.search(words[-2]) else None


_HOLDS = re.compile(r"(?:^|_)(?:args?|cfg|conf|config|hparams|opts?|options|params|settings)$", re.I)
