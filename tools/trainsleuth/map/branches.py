"""Arms of an if that the settings of a program do not choose: elif args.stage == "dpo" where the recipe says sft."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Index, Variable, bindings

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


class Settled(NamedTuple):
    """Settings by name, for the names that one function reads."""

    known: Mapping[str, str]
    facts: Index
    function: Function


def is_not_chosen(event: Event, settled: Settled) -> bool:
    """The statement stands in an arm that these settings are seen not to take."""
    for branch in event.block.branches if settled.known else ():
        if branch.kind != "if":
            continue
        truths = [_truth(test, settled) for test in branch.tests[: branch.arm + 1]]
        if any(one is True for one in truths[: branch.arm]) or truths[branch.arm :] == [False]:
            return True
    return False


def _truth(test: Expr, settled: Settled) -> bool | None:
    """None where it cannot be told."""
    if test.kind == "unary" and test.text == "not":
        inner = _truth(test.parts[0], settled)
        return None if inner is None else not inner
    if test.kind == "boolean":
        decides = test.text == "or"  # the value of one operand that settles the whole
        truths = [_truth(part, settled) for part in test.parts]
        if decides in truths:
            return decides
        return None if None in truths else not decides
    if test.kind == "compare" and len(test.parts) == 2:
        return _compared(test, settled)
    value = _value(test, settled)
    return _FLAGS.get(value) if value is not None else None


_NOT_GIVEN = ("none", "null", "")  # the default of what a command must give


def _compared(test: Expr, settled: Settled) -> bool | None:
    if test.text in ("in", "not in") and test.parts[0].kind == "string":
        within = _value(test.parts[1], settled) or _below(
            test.parts[1], settled
        )  # a part of a name, a key of a section
        return (test.parts[0].text.lower() in within) == (test.text == "in") if within else None
    value, other = _value(test.parts[0], settled), test.parts[1]
    if value is None or (value in _NOT_GIVEN and other.kind == "string"):
        return None
    if test.text in ("==", "is", "!=", "is not") and other.kind in _LITERALS:
        return (other.text.lower() == value) == (test.text in ("==", "is"))
    if test.text in ("in", "not in") and other.kind in ("list", "tuple", "set"):
        if all(part.kind in _LITERALS for part in other.parts):
            return (value in [part.text.lower() for part in other.parts]) == (test.text == "in")
    elif test.text in ("in", "not in") and (keys := _keys(other, settled)):
        return (value in keys) == (test.text == "in")
    return None


def _below(expr: Expr, settled: Settled) -> set[str]:
    """The keys of a section that settings were given for: of config["training"], and of a name that is bound to it."""
    expr = _bound_once(expr, settled) or expr
    words = (expr.text if expr.kind == "path" else _asked(expr)).split(".")
    for section in (".".join(words[cut:]).lower() + "." for cut in range(len(words)) if words[-1]):
        if found := {
            key[len(section) :].partition(".")[0].lower() for key in settled.known if key.lower().startswith(section)
        }:
            return found
    return set()


def _keys(expr: Expr, settled: Settled) -> list[str]:
    """Of a table of the repository: MODELS, MODELS.keys(). [] for one that is not written down with strings alone."""
    name = expr.receiver if expr.kind == "call" and expr.last == "keys" and not expr.arguments else expr
    symbol = settled.facts.resolve(settled.function, name.text) if name is not None and name.kind == "path" else None
    bound = bindings(symbol.scope).get(symbol.name, ()) if isinstance(symbol, Variable) else ()
    table = bound[0].value if len(bound) == 1 else None
    keys = [pair.parts[0] for pair in table.parts] if table is not None and table.kind == "dict" else []
    return [key.text.lower() for key in keys] if all(key.kind == "string" for key in keys) else []


def _value(expr: Expr, settled: Settled) -> str | None:
    """Of an attribute of an object that holds settings, args.stage, and of a name that is bound once, to that."""
    if expr.kind == "path" and "." not in expr.text:
        only = _bound_once(expr, settled)
        return _value(only, settled) if only is not None else None
    if expr.kind == "path":
        return _known(expr.text.split("."), settled.known)
    key = _asked(expr)
    return _known(key.split("."), settled.known) if key else None


def _bound_once(name: Expr, settled: Settled) -> Expr | None:
    """What the only assignment binds to a plain name of the function, when that is no plain name again."""
    if name.kind != "path" or "." in name.text or settled.function.parameter(name.text) is not None:
        return None  # if kind is None: kind = args.kind
    bound = bindings(settled.function).get(name.text, ())
    only = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" and not bound[0].items else None
    return None if only is None or (only.kind == "path" and "." not in only.text) else only


def _asked(expr: Expr) -> str:
    """ "configs.model" of configs["model"] and configs.get("model", "asr")."""
    if expr.kind == "index" and len(expr.parts) == 2:
        holder, key = expr.parts[0], expr.parts[1]
    elif expr.kind == "call" and expr.last == "get" and expr.receiver is not None and expr.arguments:
        holder, key = expr.receiver, expr.arguments[0]
    else:
        return ""
    held = holder.text if holder.kind == "path" and _HOLDS.search(holder.last) else _asked(holder)
    return f"{held}.{key.text}" if held and key.kind == "string" else ""


def _known(words: list[str], known: Mapping[str, str]) -> str | None:
    for cut in range(len(words)):
        if (value := known.get(".".join(words[cut:]))) is not None:
            return value
    return known.get(f".{words[-1]}") if _HOLDS.search(words[-2]) else None


_HOLDS = re.compile(r"(?:^|_)(?:args?|cfg|conf|configs?|hparams|opts?|options|params|settings)$", re.I)
