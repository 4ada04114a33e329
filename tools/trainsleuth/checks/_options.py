"""Options of a program and what each is when nobody gives it: of the command line, fields of a class, keys of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from trainsleuth.facts import Class, Expr, FileFacts, Function, Index, Spot, bindings, is_module_class, plain_name
from trainsleuth.facts.memo import kept_per_index

from ._imports import imported, is_of_one_program

_ON_THE_COMMAND_LINE = ("add_argument", "add_option", "option", "Option")
_TABLES = ("HParams", "EasyDict", "edict", "AttrDict", "SimpleNamespace", "Namespace", "Munch", "DotMap")
_FLAGS = re.compile(r"DEFINE_\w+$")
_OF_SECTIONS = ("getint", "getfloat", "getboolean")  # of configparser; get() of two texts may be that of a table
_SIMPLE = ("constant", "number", "string")
_CONSTANT = re.compile(rb"None|True|False|-?\d[\d.e-]*|'[^']*'|\"[^\"]*\"")
_NAME = re.compile(rb"[A-Za-z_]\w*")
_UNKNOWN = "?"


def option_name(expr: Expr) -> str:
    """clip of args.clip, cfg.train.clip, cfg["clip"] and parser.getfloat("train", "clip"); "" of anything else."""
    if expr.kind == "path" and "." in expr.text:
        return expr.last
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        return expr.parts[1].text
    if expr.kind == "call" and expr.callee == "getattr" and len(expr.arguments) in (2, 3):
        return expr.arguments[1].text if expr.arguments[1].kind == "string" else ""
    if expr.kind == "call" and expr.last in _OF_SECTIONS and len(expr.arguments) == 2:
        return expr.arguments[1].text if expr.arguments[1].kind == "string" else ""
    if expr.kind == "call" and expr.last == "get" and expr.receiver is not None and expr.arguments:
        return expr.arguments[0].text if expr.arguments[0].kind == "string" else ""
    return ""


def member_named(index: Index, expr: Expr, function: Function) -> str:
    """Kind.FULL of a member of an enumeration of the project, whatever its class is called here; "" of anything else."""
    owner = expr.receiver if expr.kind == "path" else None
    cls = index.resolve(function, owner.text) if owner is not None else None
    is_member = isinstance(cls, Class) and any(one.startswith("enum.") for one in index.external_bases(cls))
    return f"{cls.name}.{expr.last}" if isinstance(cls, Class) and is_member else ""


def left_out(expr: Expr) -> str:
    """The last resort of getattr(args, "clip", 0) and table.get("clip"); "?" of anything else."""
    if expr.kind != "call" or expr.last not in ("get", "getattr"):
        return _UNKNOWN
    place = 1 if expr.last == "get" else 2
    given = expr.arguments[place:]
    return as_written(given[0]) if given else "None" if expr.last == "get" else _UNKNOWN


def defaults(index: Index, option: str, path: str, runs: Callable[[Spot], bool]) -> set[str]:
    """What it may be where the program starts with nothing given: as written, "?" where that is no constant.

    Of several commands, or tables of settings, with such an option those count that the file at `path` imports.
    """
    near = set(imported(index, path))
    declared = [*_declared(index, option), *_fields(index, option, path)]
    beside = [text for where, text in declared if where in near]
    found = set(beside or [text for _, text in declared])
    found |= {value.value for value in index.configured(option)}
    return found or _keyed(index, option, path) | set_to(index, option, runs=runs)


def _declared(index: Index, option: str) -> Iterator[tuple[str, str]]:
    """By parser.add_argument("--clip", default=0), @click.option, absl's flags.DEFINE_float, HParams(clip=0) and sacred's @ex.config."""
    for site in index.calls(*_ON_THE_COMMAND_LINE):
        if any(text.startswith("-") and _same(text, option) for text in _strings(site.call)):
            yield site.function.path, _default(site.call)
    for name in {name for file in index.files.values() for name in file.names if _FLAGS.match(name)}:
        for site in index.calls(name):
            given = site.call.arguments
            if len(given) > 1 and given[0].kind == "string" and given[0].text == option:
                yield site.function.path, as_written(given[1])
    for site in index.calls(*_TABLES):
        if (value := site.call.keyword(option)) is not None:
            yield site.function.path, as_written(value)
    for function in index.functions():
        if any(mark.last == "config" for mark in function.decorators) and option in bindings(function):
            value = bindings(function)[option][-1].value
            yield function.path, as_written(value) if value is not None else _UNKNOWN


def _strings(call: Expr) -> Iterator[str]:
    return (one.text for one in call.arguments if one.kind == "string")


def _same(flag: str, option: str) -> bool:
    return option.replace("-", "_") in map(plain_name, flag.split("/"))


def _default(call: Expr) -> str:
    default, action = call.keyword("default"), call.keyword("action")
    if default is not None:
        return as_written(default)
    if call.keyword("is_flag") is not None:
        return "False"
    if action is None:
        return "None" if call.keyword("required") is None else _UNKNOWN
    return {"store_true": "False", "store_false": "True"}.get(action.text, _UNKNOWN)


def as_written(expr: Expr) -> str:
    """Of a constant; "?" of all else."""
    if expr.kind == "unary" and expr.text == "-" and expr.parts[0].kind == "number":
        return f"-{expr.parts[0].text}"
    return expr.text if expr.kind in _SIMPLE else _UNKNOWN


def _fields(index: Index, option: str, path: str) -> Iterator[tuple[str, str]]:
    """Of classes that hold settings: clip: float = None, amp = False, clip: float = field(default=None).

    Where the file says by annotations which of them it gets, of those.
    """
    owners = [cls for cls in index.classes() if option in bindings(cls.body) and not is_module_class(index, cls)]
    named = {word for function in index.files[path].functions.values() for word in _annotated(function)}
    chosen = [cls for cls in owners if cls.name in named]
    for cls in chosen or owners:
        yield cls.path, _field(cls, option)


def _annotated(function: Function) -> Iterator[str]:
    for parameter in function.parameters:
        yield from re.findall(r"\w+", parameter.annotation)


def _field(cls: Class, option: str) -> str:
    value = bindings(cls.body)[option][-1].value
    if value is not None and value.kind == "call" and value.last.lower() == "field":
        value = value.argument(0, "default")
    return as_written(value) if value is not None else _UNKNOWN


@kept_per_index
def _keyed(index: Index, option: str, path: str) -> set[str]:
    """Of tables that are written out: {"clip": 0}, dict(clip=0); of those of programs that come to the file, if any."""
    name = re.escape(option.encode())
    key = re.compile(rb"[\"']%s[\"'][ \t]*:[ \t]*([^\n,}#]*)|\bdict\([^()]*\b%s[ \t]*=[ \t]*([^\n,)#]*)" % (name, name))
    word = re.compile(rb"\b%s\b" % name)
    holding = (file for file in index.files.values() if file.body.source.holds(word))
    texts = {file.path: set(_values_of(file, key)) for file in holding}
    near = [found for where, found in texts.items() if found and is_of_one_program(index, path, where)]
    return {_shown(one) for found in near or texts.values() for one in found}


def _values_of(file: FileFacts, key: re.Pattern[bytes]) -> Iterator[bytes]:
    """What the pattern finds; of a name the constants that the file gives it, if nothing else: flag = False, {"amp": flag}"""
    for one in file.body.source.found(key):
        text = (b"".join(one) if isinstance(one, tuple) else one).strip()
        sets = re.compile(rb"(?m)^[ \t]*%s[ \t]*=(?!=)[ \t]*([^\n#]*)" % re.escape(text))
        given = [value.strip() for value in file.body.source.found(sets)] if _NAME.fullmatch(text) else []
        yield from given if given and all(map(_CONSTANT.fullmatch, given)) else [text]


def set_to(index: Index, option: str, path: str = "", runs: Callable[[Spot], bool] = lambda spot: True) -> set[str]:
    """What cfg.TRAIN.CLIP = 0 makes of it where that `runs`: as written, "?" where that is no constant. With a `path`, not
    what other programs set that never come to that file.

    `self.clip = args.clip`, `self.clip = config["clip"]` and `args.clip = parser.getfloat("train", "clip")` hand it on and
    set nothing.
    """
    name = re.escape(option.encode())
    handed_on = rb"(?:\w+\.)*%s[ \t]*(?:#|$)|[\w.]+\[[\"']%s[\"']\][ \t]*(?:#|$)" % (name, name)
    handed_on += (
        rb"|[\w.]+\.get(?:int|float|boolean)?\((?:[\"'][\w.-]+[\"'], *)?[\"']%s[\"'][^\n]*|getattr\([\w.]+, *[\"']%s[\"'][^\n]*"
        % (name, name)
    )
    text = re.compile(rb"(?m)\.%s[ \t]*=(?!=)(?![ \t]*(?:%s))[ \t]*([^\n#]*)" % (name, handed_on))
    found: set[str] = set()
    for file in index.files.values():
        if not file.body.source.holds(text):
            continue
        setting = list(_setting(file, option))
        skipped = [spot for spot in setting if not runs(spot)]
        is_alone = bool(path) and (
            (path not in imported(index, file.path) and all(map(_is_guarded, setting)))
            or not (path == file.path or is_of_one_program(index, path, file.path))
        )
        if setting and (is_alone or len(skipped) == len(setting)):
            continue
        never = {_set_there(spot) for spot in skipped} - {_set_there(one) for one in setting if one not in skipped}
        told = (_shown(one) if _CONSTANT.fullmatch(one.strip()) else _UNKNOWN for one in file.body.source.found(text))
        found |= set(told) - never
    return found


def _setting(file: FileFacts, option: str) -> Iterator[Spot]:
    """Statements that set the option of some object."""
    for function in file.functions.values():
        for position, event in enumerate(function.events):
            if any("." in one.text and one.last == option for one in event.targets):
                yield Spot(function, position)


def _set_there(spot: Spot) -> str:
    value = spot.function.events[spot.position].value
    return as_written(value) if value is not None else _UNKNOWN


def _is_guarded(spot: Spot) -> bool:
    """It stands where the file is started by itself."""
    tests = (branch.test for branch in spot.function.events[spot.position].block.branches if branch.test is not None)
    return any(one.kind == "compare" and one.parts[0].text == "__name__" for one in tests)


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "replace").strip().strip("\"'")
