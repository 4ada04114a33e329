"""Arms of an if that the settings of a program do not choose: elif args.stage == "dpo" where the recipe says sft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from trainsleuth.facts import Class, Event, Expr, Function, Index, bindings
from trainsleuth.facts.records import Branch

from ..naming.only_values import held_by_variable, only_value
from .constants import members_like
from .held_settings import WORDS

if TYPE_CHECKING:
    from .recipes import Setting

_FLAGS = {"true": True, "false": False, "none": False, "null": False}
LITERALS = ("string", "number", "constant")
_CASES = ("lower", "upper", "strip")


def known_settings(weak: Iterable[Setting], given: Iterable[Setting]) -> dict[str, str]:
    """Settings by name: what the recipe gives, and flags (True, False, None) by their defaults.

    A nested one also behind a dot by its last word, when all that are called so agree: ".optimizer" is optim.optimizer; by
    its last two words, ".ema.enabled"; and ".ema." says that there is such a section. What several sections of one name set
    to different values stands behind OR, with OR between them: "|.strategy.name".
    """
    known: dict[str, str] = {}
    for setting in weak:
        if "." not in setting.key and setting.value.lower() in _FLAGS:
            known[setting.key] = setting.value.lower()
    recipe = {setting.key: setting.value.lower() for setting in given}
    for key in recipe:  # a field of a class that a section fills: its default decides nothing
        known.pop(key.rpartition(".")[2], None)
    known.update(recipe)
    known.update(_agreed((key.rpartition(".")[2], value) for key, value in recipe.items()))
    known.update(_agreed((end, value) for key, value in recipe.items() if (end := _end(key))))
    known.update(_several_agreed(recipe))
    known.update({f".{section}.": "" for key in recipe if (section := key.rpartition(".")[0].rpartition(".")[2])})
    return known


def _agreed(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Behind a dot, those words that stand for one value wherever they are set."""
    values: dict[str, set[str]] = {}
    for word, value in pairs:
        values.setdefault(word, set()).add(value)
    return {f".{word}": next(iter(several)) for word, several in values.items() if len(several) == 1}


def _several_agreed(recipe: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Values of which one counts, where each of the sections that are called so has one: no default is left."""
    sections: dict[str, set[str]] = {}
    values: dict[str, dict[str, str]] = {}
    for key, value in recipe.items():
        above = key.rpartition(".")[0]
        if end := _end(key):
            sections.setdefault(end.partition(".")[0], set()).add(above)
            values.setdefault(end, {})[above] = value
    for end, by_section in values.items():
        several = set(by_section.values())
        if 1 < len(several) <= MAX_SEVERAL and by_section.keys() == sections[end.partition(".")[0]]:
            yield f"{OR}.{end}", OR.join(sorted(several))


MAX_SEVERAL = 12  # values of one setting


def _end(key: str) -> str:
    """The last section of a key with its last word: "ema.enabled" of train.ema.enabled."""
    return ".".join(key.split(".")[-2:]) if key.count(".") > 1 else ""


class Settled(NamedTuple):
    """Settings by name, for the names that one function reads."""

    known: Mapping[str, str]
    facts: Index
    function: Function


def is_not_chosen(event: Event, settled: Settled) -> bool:
    """The statement stands in an arm that these settings are seen not to take."""
    return any(is_left(branch, settled) for branch in event.block.branches) if settled.known else False


def is_left(branch: Branch, settled: Settled) -> bool:
    """These settings are seen not to take the arm."""
    if branch.kind != "if" or not settled.known:
        return False
    truths = [_truth(test, settled) for test in branch.tests[: branch.arm + 1]]
    return any(one is True for one in truths[: branch.arm]) or truths[branch.arm :] == [False]


def is_taken(branch: Branch, settled: Settled) -> bool:
    """These settings are seen to take the arm."""
    truths = [_truth(test, settled) for test in branch.tests[: branch.arm + 1]] if branch.kind == "if" else [None]
    return all(one is False for one in truths[: branch.arm]) and truths[branch.arm :] in ([], [True])


def arms_of(choice: Expr, settled: Settled) -> tuple[Expr, ...]:
    """The arms of `A if test else B` that these settings may take."""
    if len(choice.parts) != 3:  # in code that is broken
        return choice.parts[:3:2]
    chosen, test, other = choice.parts
    truth = _truth(test, settled) if settled.known else None
    return (chosen, other) if truth is None else (chosen,) if truth else (other,)


def calls_of(event: Event, settled: Settled) -> Iterator[Expr]:
    """The calls of a statement without those in an arm of `A() if test else B()` that these settings do not take."""
    left: set[int] = set()
    if settled.known and event.calls and settled.function.source.holds(_CHOICE) and event.value is not None:
        for part in event.value.walk():
            if part.kind == "choice" and len(part.parts) == 3 and len(taken := arms_of(part, settled)) == 1:
                other = part.parts[2] if taken[0] is part.parts[0] else part.parts[0]
                left.update(id(one) for one in other.walk() if one.kind == "call")
    yield from (call for call in event.calls if id(call) not in left)


_CHOICE = re.compile(rb"\belse\b(?!\s*:)")


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
    if test.kind == "call" and test.callee == "isinstance" and len(test.arguments) == 2:
        return _is_instance(*test.arguments, settled)
    if test.kind == "call" and test.last == "startswith" and test.receiver is not None and test.arguments:
        value, start = value_of(test.receiver, settled), test.arguments[0]
        return value.startswith(start.text.lower()) if value and start.kind == "string" else None
    value = value_of(test, settled)
    return _FLAGS.get(value) if value is not None else None


_NOTHING = ("none", "null", "~")
_NOT_GIVEN = ("none", "null", "")  # the default of what a command must give


def _compared(test: Expr, settled: Settled) -> bool | None:
    left, other = test.parts
    if test.text in ("in", "not in") and left.kind == "string":
        return _holds(left.text.lower(), other, test.text == "in", settled)
    value = value_of(left, settled)
    if value is None and (several := _several(left, settled)):
        return _differs(several, test.text, other)
    if value == "" and other.kind == "string" and not other.text and test.text in ("==", "!="):
        return test.text == "=="
    if value is None or (value in _NOT_GIVEN and other.kind == "string"):
        return None
    if other.text == "None" and (value == "false" or _is_made_of_section(left, settled)):
        return None  # a flag is never None: cfg.evaluate is no args.evaluate
    if test.text in ("==", "is", "!=", "is not") and other.kind in LITERALS:
        same = other.text.lower() == value or (other.kind == "number" and _is_number(value, other.text))
        same = same or (other.text == "None" and value in _NOTHING)
        return same == (test.text in ("==", "is"))
    if test.text in ("==", "is", "!=", "is not") and other.kind == "path":
        same_one = _is_member(value, other, settled)
        return None if same_one is None else same_one == (test.text in ("==", "is"))
    if test.text in ("in", "not in") and other.kind in ("list", "tuple", "set"):
        members = [_is_member(value, part, settled) for part in other.parts if part.kind == "path"]
        if members and len(members) == len(other.parts) and None not in members:
            return (True in members) == (test.text == "in")
        if all(part.kind in LITERALS for part in other.parts):
            return (value in [part.text.lower() for part in other.parts]) == (test.text == "in")
    elif test.text in ("in", "not in") and (keys := _keys(other, settled)):
        return (value in keys) == (test.text == "in")
    return None


def _is_member(value: str, other: Expr, settled: Settled) -> bool | None:
    """A setting says a member of a class of names, unet3d of Arch.UNet3D; None where it is none of them all."""
    own, every = members_like(settled.facts, settled.function, other) if "." in other.text else ((), ())
    return value in own if value in every else None


def _several(left: Expr, settled: Settled) -> list[str]:
    """The values of which one is that of worker.config.strategy.name, or of a name that is bound to it alone."""
    words = (bound_once(left, settled) or left).text.split(".")
    found = settled.known.get(f"{OR}.{words[-2]}.{words[-1]}", "") if len(words) > 2 else ""
    return found.split(OR) if found else []


def _differs(several: Iterable[str], operator: str, other: Expr) -> bool | None:
    """False (True for a denial) where none of the values is the literal, or among the literals."""
    given = other.parts if other.kind in ("list", "tuple", "set") else (other,)
    if any(one.kind != "string" for one in given) or any(one.text.lower() in several for one in given):
        return None
    return {"==": False, "in": False, "!=": True, "not in": True}.get(operator)


def _is_made_of_section(left: Expr, settled: Settled) -> bool:
    """An object that is made once, later, of the section that has its name: if self.net is None: self.net = make(cfg.net)"""
    return left.kind == "path" and left.text.startswith("self.") and f".{left.last}." in settled.known


def _is_number(value: str, literal: str) -> bool:
    """1 is 1.0, and 1e-3 is 0.001."""
    try:
        return float(value) == float(literal)
    except ValueError:
        return False


def _holds(word: str, holder: Expr, expected: bool, settled: Settled) -> bool | None:
    """ "vit" in args.model, and "scheduler" in config["training"]."""
    value = value_of(holder, settled)
    if value is not None and value not in _NOT_GIVEN:
        return (word in value) == expected
    below = {one.lower() for one in keys_below(holder, settled)}
    return (word in below) == expected if below else None


def keys_below(expr: Expr, settled: Settled) -> set[str]:
    """The keys of a section that settings were given for: of config["training"], and of a name that is bound to it."""
    expr = bound_once(expr, settled) or expr
    words = (expr.text if expr.kind == "path" else key_asked(expr)).split(".")
    for section in (".".join(words[cut:]).lower() + "." for cut in range(len(words)) if words[-1]):
        if found := {key[len(section) :].partition(".")[0] for key in settled.known if key.lower().startswith(section)}:
            return found
    return set()


def _keys(expr: Expr, settled: Settled) -> list[str]:
    """Of a table or list of the repository: MODELS, MODELS.keys(). [] for one that is not written down with strings alone."""
    name = expr.receiver if expr.kind == "call" and expr.last == "keys" and not expr.arguments else expr
    held = held_by_variable(settled.facts, settled.function, name) if name is not None else None
    table = held[1] if held is not None else None
    keys = [pair.parts[0] for pair in table.parts] if table is not None and table.kind == "dict" else []
    keys = list(table.parts) if table is not None and table.kind in ("list", "tuple", "set") else keys
    return [key.text.lower() for key in keys] if all(key.kind == "string" for key in keys) else []


def parameter_key(function: Function, name: str) -> str:
    """Under which settings hold what a parameter is worth."""
    return f"{function.path}:{function.qualname}:{name}"


def instance_key(function: Function, name: str) -> str:
    """Under which settings hold the classes of the object that a name is, by what they choose."""
    return f"instance {parameter_key(function, name)}"


def class_id(cls: Class) -> str:
    return f"{cls.path}:{cls.qualname}"


def _is_instance(asked: Expr, wanted: Expr, settled: Settled) -> bool | None:
    known = settled.known.get(instance_key(settled.function, asked.text), "") if asked.kind == "path" else ""
    if not known:
        return None
    named = wanted.parts if wanted.kind == "tuple" else (wanted,)
    classes = [settled.facts.resolve(settled.function, one.text) if one.kind == "path" else None for one in named]
    if any(isinstance(one, Class) and class_id(one) in known.split(OR) for one in classes):
        return True
    return False if all(isinstance(one, Class) for one in classes) else None


def asked_key(function: Function, name: str) -> str:
    """Under which settings hold what a name is worth wherever the function asks it: a subcommand."""
    return f"asked {parameter_key(function, name)}"


def value_of(expr: Expr, settled: Settled, names: tuple[str, ...] = ()) -> str | None:
    """Of an attribute of an object that holds settings, args.stage, and of a name that is bound to that alone.

    In small letters, as settings are compared. `names` are those whose values are being asked: kind = kind.lower().
    """
    if expr.kind in LITERALS:
        return expr.text.lower()
    if expr.kind == "call" and expr.last in _CASES and expr.receiver is not None and _is_plain(expr):
        return value_of(of_type(expr) or expr.receiver, settled, names)
    if expr.kind == "binary":
        return _joined(expr, settled, names)
    if expr.kind == "path" and "." not in expr.text:
        return _of_name(expr.text, settled, names) if expr.text not in names else None
    if expr.kind == "path":
        words = expr.text.split(".")
        known = _found(words, settled)
        return _found(section, settled) if known is None and (section := _of_section(words, settled)) else known
    if expr.kind == "call" and expr.callee == "bool" and len(expr.arguments) == 1:
        return value_of(expr.arguments[0], settled, names)
    if expr.kind == "choice":
        arms = arms_of(expr, settled) if _asks_of_outside(expr, settled) else ()
        return value_of(arms[0], settled, names) if len(arms) == 1 else None
    if expr.kind == "index" and (piece := _piece(expr, settled, names)) is not None:
        return piece
    key = key_asked(expr) or _of_whole(expr, settled) or _key_of_section(expr, settled)
    known = _found(key.split("."), settled) if key else None
    return _fallback(expr, key, settled.known) if key and known is None else known


def _is_plain(call: Expr) -> bool:
    """name.strip(), str.strip(name): not name.strip("/")"""
    return not call.arguments or of_type(call) is not None


def of_type(call: Expr) -> Expr | None:
    """What a method is asked of that is called on its class: name of str.lower(name)."""
    receiver = call.receiver
    is_type = receiver is not None and receiver.kind == "path" and receiver.text == "str"
    return call.arguments[0] if is_type and len(call.arguments) == 1 else None


def _joined(expr: Expr, settled: Settled, names: tuple[str, ...]) -> str | None:
    """args.model + "Net": a text, where one part is written as such."""
    parts = expr.parts if expr.text == "+" and len(expr.parts) == 2 else ()
    said = [value_of(one, settled, names) for one in parts if any(one.kind == "string" for one in parts)]
    words = [one for one in said if one]
    return "".join(words) if words and len(words) == len(said) else None


def _piece(expr: Expr, settled: Settled, names: tuple[str, ...]) -> str | None:
    """A piece of a value that is known: cfg.format.split("-", 1)[1]"""
    cut = expr.parts[0]
    if cut.kind != "call" or cut.last != "split" or cut.receiver is None or len(cut.arguments) not in (1, 2):
        return None
    between, *most = cut.arguments
    whole = value_of(cut.receiver, settled, names) if between.kind == "string" and between.text else None
    if whole is None or any(one.text != "1" for one in most) or expr.parts[-1].text not in ("0", "1"):
        return None
    pieces = whole.split(between.text.lower(), 1 if most else -1)
    return dict(zip(("0", "1"), pieces, strict=False)).get(expr.parts[-1].text)


def _asks_of_outside(choice: Expr, settled: Settled) -> bool:
    """Its test has no name that the function binds itself: such names may be made of each other."""
    names = [part.text for part in choice.parts[1].walk() if part.kind == "path"] if len(choice.parts) == 3 else []
    return not any("." not in name and name in bindings(settled.function) for name in names)


def _of_name(name: str, settled: Settled, names: tuple[str, ...]) -> str | None:
    bound = bindings(settled.function).get(name, ())
    if (word := settled.known.get(asked_key(settled.function, name))) is not None:
        return word
    if settled.function.parameter(name) is not None:  # if kind is None: kind = args.kind
        return None if bound else settled.known.get(parameter_key(settled.function, name))
    given = [one.value for one in bound if one.kind == "assign" and not one.items and one.value is not None]
    if len(given) < len(bound) or not any(map(_is_setting, given)):
        return None
    others = [one for one in given if not _is_itself(one, name)]
    values = {value_of(one, settled, (*names, name)) for one in others}
    return values.pop() if len(values) == 1 else None


def _is_itself(value: Expr, name: str) -> bool:
    """name = name.lower(): as settings are compared, nothing changes."""
    return value.kind == "call" and value.last in _CASES and value.receiver is not None and value.receiver.text == name


def _is_setting(value: Expr) -> bool:
    """Not a literal, and not another name."""
    return value.kind not in LITERALS and not (value.kind == "path" and "." not in value.text)


def _of_section(words: list[str], settled: Settled) -> list[str]:
    """net.kind as it is asked of the whole, where a line above says net = cfg.model; [] where none does."""
    held = _bound_once(words[0], settled) if len(words) > 1 else None
    above = (held.text if held.kind == "path" else key_asked(held)) if held is not None else ""
    holder, _, section = above.rpartition(".")
    return [*above.split("."), *words[1:]] if section and HOLDS.search(holder) else []


def _key_of_section(expr: Expr, settled: Settled) -> str:
    """net["kind"] as it is asked of the whole, where a line above says net = cfg["model"]."""
    holder = expr.parts[0] if expr.kind == "index" and len(expr.parts) == 2 else None
    if holder is None or holder.kind != "path" or "." in holder.text or expr.parts[1].kind != "string":
        return ""
    return ".".join(_of_section([holder.text, expr.parts[1].text], settled))


def _fallback(expr: Expr, key: str, known: Mapping[str, str]) -> str | None:
    """What get() gives for a key that nobody sets, in a section that somebody wrote: cfg.get("ema", {}).get("on", False)."""
    section, last = key.split(".")[-2:]
    fallback = expr.arguments[1] if expr.kind == "call" and len(expr.arguments) == 2 else None
    if fallback is None or fallback.kind not in LITERALS or f".{section}." not in known or f".{last}." in known:
        return None
    return fallback.text.lower()


def bound_once(name: Expr, settled: Settled) -> Expr | None:
    """What the only assignment binds to a plain name of the function, when that is no plain name again."""
    return _bound_once(name.text, settled) if name.kind == "path" and "." not in name.text else None


def _bound_once(name: str, settled: Settled) -> Expr | None:
    if settled.function.parameter(name) is not None:
        return None  # if kind is None: kind = args.kind
    only = only_value(settled.function, name)
    return None if only is None or (only.kind == "path" and "." not in only.text) else only


def key_asked(expr: Expr) -> str:
    """ "configs.model" of configs["model"] and configs.get("model", "asr")."""
    if expr.kind == "index" and len(expr.parts) == 2:
        holder, key = expr.parts[0], expr.parts[1]
    elif expr.kind == "call" and expr.last == "get" and expr.receiver is not None and expr.arguments:
        holder, key = expr.receiver, expr.arguments[0]
    else:
        return ""
    if key.kind != "string":
        return ""
    if holder.kind != "path":
        above = key_asked(holder)
        return f"{above}.{key.text}" if above else ""
    return f"{holder.text}.{key.text}" if HOLDS.search(holder.last) else ""


def whole_key(holder: str) -> str:
    """Under which settings say that a name holds the whole recipe: self._raw."""
    return f"whole {holder}"


def _of_whole(expr: Expr, settled: Settled) -> str:
    """The key that is asked of what holds the whole recipe, whatever it is called."""
    holder = expr.receiver if expr.kind == "call" and expr.last == "get" and expr.arguments else None
    if holder is None or expr.arguments[0].kind != "string" or whole_key(holder.text) not in settled.known:
        return ""
    return f"{holder.text}.{expr.arguments[0].text}"


def section_key(function: Function, name: str) -> str:
    """Under which settings hold the sections of the configuration that a parameter may be, with OR between them."""
    return f"section of {parameter_key(function, name)}"


OR = "|"


def _found(words: list[str], settled: Settled) -> str | None:
    """What is set under the words; below the section that the first of them is worth, where that is known."""
    sections = settled.known.get(section_key(settled.function, words[0]), "")
    if not sections:
        return _known(words, settled.known)
    values = {settled.known.get(".".join((one, *words[1:]))) for one in sections.split(OR)}
    return values.pop() if len(values) == 1 else None


def _known(words: list[str], known: Mapping[str, str]) -> str | None:
    for cut in range(len(words)):
        if (value := known.get(".".join(words[cut:]))) is not None:
            return value
    if len(words) > 2 and (value := known.get(f".{words[-2]}.{words[-1]}")) is not None:
        return value
    return known.get(f".{words[-1]}") if HOLDS.search(words[-2]) else None


HOLDS = re.compile(rf"(?:^|_)(?:{WORDS})$", re.I)
