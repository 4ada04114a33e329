"""What the names in a statement are worth: keys of the configuration, constants, and what callers give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Class, Event, Expr, Function, bindings, written
from trainsleuth.facts.reading.scopes import Binding

from ...configuration import Key, Truth
from ...configuration.forms.clicked import is_option_of
from ...configuration.forms.literals import is_literal, text_of
from ...configuration.records import NO_VALUE
from ...configuration.truth import reads_in
from ...configuration.use.switched_off import is_switched_off
from ...configuration.use.untaken import untaken_by
from ...configuration.values.asked_settings import setting_of
from ...configuration.values.attribute_values import is_set_from_outside, kin
from ...configuration.values.named_values import key_asked, method_around
from ...drawing.wording import clean
from ...program import Program
from .in_force import in_force, is_loaded
from .lines import become
from .strangers import is_of_strangers
from .written_tables import table_of

MAX_VALUES = 6
MAX_CALLERS = 3
MAX_SITES = 40
MAX_WORDS = 4
MAX_SAID = 1000  # characters
MAX_HOPS = 3  # from name to name, and from a parameter to the callers that give it


def values_in(program: Program, truth: Truth, function: Function, event: Event, line: int) -> Iterator[tuple[str, str]]:
    """(name as written, value and where it is set) of the statement `event`, those that are known."""
    own = list(_at(event, line))
    if inner := list(_known_in(program, truth, function, own)):
        yield from inner
        return
    every = _known_in(program, truth, function, _parts(event, line))
    yield from (one for one in every if not own or "." in one[0])


def _known_in(program: Program, truth: Truth, function: Function, parts: Iterable[Expr]) -> Iterator[tuple[str, str]]:
    names = dict.fromkeys(name for expr in parts for name in reads_in(expr))
    known = ((name, value_of(program, truth, function, name)) for name in names)
    yield from islice(((name, value) for name, value in known if value), MAX_VALUES)


def _at(event: Event, line: int) -> Iterator[Expr]:
    """The argument that has a line of its own inside of the statement."""
    if event.value is not None and line != event.line:
        yield from (one for one in event.value.walk() if one.kind == "keyword" and one.line == line)


def _parts(event: Event, line: int) -> Iterator[Expr]:
    """The value of the statement, the calls at `line`, and the tests that it stands under."""
    if event.value is not None:
        yield event.value
    else:
        yield from (call for call in event.calls if call.line == line)
    yield from (branch.test for branch in event.block.branches[-2:] if branch.test is not None)


def value_of(program: Program, truth: Truth, function: Function, name: str) -> str:
    """The value of a name in `function` in words of one line; "" when it is not known."""
    return clean(_of_name(_Asked(program, truth, function.path), function, name, MAX_HOPS), MAX_SAID)


class _Asked(NamedTuple):
    """`here` is the file whose lines are told without their path."""

    program: Program
    truth: Truth
    here: str

    def at(self, function: Function, line: int) -> str:
        return f":{line}" if function.path == self.here else f"{function.path}:{line}"


def _of_name(asked: _Asked, function: Function, name: str, hops: int) -> str:
    """Through at most `hops` calls and names."""
    index = asked.program.index
    if "." in name:
        head, _, rest = name.partition(".")
        method = method_around(index, function)
        if head == method.self_name and "." not in rest:
            return _of_attribute(asked, method, rest, hops)
        return "" if is_loaded(function, head) else _of_key(asked.truth, name, function.path, index.class_of(method))
    bound = in_force(asked.truth, function, name)
    if len(bound) == 1 and function.parameter(name) is not None:
        return ""
    if len(bound) > 1:
        return _one_of(asked, function, bound) or _of_table(asked, function, bound)
    if bound and (value := bound[0].value) is not None and bound[0].kind == "assign":
        if not bound[0].items:
            return _of_bound(asked, value, name, function, hops)
        return ""
    if not bound and (parameter := function.parameter(name)) is not None:
        said = _given(asked, function, name, parameter.default, hops) if hops else ""
        return said or _of_signature(asked, function, name, parameter.default)
    if not bound and function.name != MODULE_BODY:
        outside = bindings(index.files[function.path].body).get(name, ())
        if len(outside) == 1 and (value := outside[0].value) is not None and is_literal(value):
            return _of_constant(asked.truth, name) or f"{text_of(value)} ({asked.at(function, value.line)})"
    return ""


def _one_of(asked: _Asked, function: Function, bound: Sequence[Binding]) -> str:
    """The words that it may be, where nothing else is given: auto (:103) or ddp (:108)."""
    values = [one.value for one in bound if one.value is not None and one.value.kind == "string" and not one.items]
    if len(values) < len(bound) or len(bound) > MAX_WORDS or any(one.kind != "assign" for one in bound):
        return ""
    return " or ".join(f"{text_of(value)} ({asked.at(function, value.line)})" for value in values)


def _of_attribute(asked: _Asked, function: Function, name: str, hops: int) -> str:
    """self.name: what the only statement of the class gives it that sets it; a setting that all are set from."""
    index, truth = asked.program.index, asked.truth
    owner = index.class_of(function)
    lineage = kin(asked.program, owner) if owner is not None else ()
    found = [
        (method, binding)
        for cls in lineage
        for method in cls.methods.values()
        if method.self_name
        for binding in bindings(method).get(f"{method.self_name}.{name}", ())
    ]
    if 1 < len(found) <= MAX_SET:
        found = [(method, one) for method, one in found if not _is_untaken(truth, method, one)]
    if not found:
        if said := _of_field(asked, lineage, name):
            return said
        key = truth.find(name, function.path)
        if key is None or key.name != name or key.source is None:
            return ""
        given = key.source.how != "default" or (truth.is_placed(key) and _takes_all(lineage))
        return _told(truth, key) if given else ""
    method, binding = found[0]
    if any(name in bindings(cls.body) for cls in lineage):  # a field: the method changes what it was given
        return _of_field(asked, lineage, name)
    if len(found) > 1 or binding.value is None or binding.kind != "assign" or binding.items:
        return ""
    value = binding.value
    if is_literal(value):
        is_first = text_of(value) in FIRST and is_set_from_outside(truth, name)
        return "" if is_first else f"{text_of(value)} ({method.path}:{value.line})"
    if value.kind == "path" and "." not in value.text and method.parameter(value.text) is not None:
        return _of_name(asked, method, value.text, hops)
    dotted = key_asked(value) if value.kind == "call" else next(iter(reads_in(value)), "")
    if value.kind in ("path", "index", "call") and "." in dotted:
        return _of_key(truth, dotted, method.path, owner)
    return ""


FIRST = ("None", "False", "True", "0", "''", "", "[]", "{}")  # what an attribute begins with that others set
MAX_SET = 4  # statements that set one attribute, of which settings may leave one


def _is_untaken(truth: Truth, method: Function, binding: Binding) -> bool:
    return bool(untaken_by(truth, method, method.events[binding.position].block.branches))


def _takes_all(lineage: Sequence[Class]) -> bool:
    """It takes every setting for an attribute: for key in config: setattr(self, key, config[key])."""
    return any(method.source.holds(_SETS_ALL) for cls in lineage for method in cls.methods.values())


_OF_LAUNCHER = ("local_rank", "rank", "node_rank", "global_rank", "local_process_index")  # each process has its own
_SETS_ALL = re.compile(rb"for \w+(?:, \w+)? in [^\n]*:\s+setattr\(self, *\w+,")


def _of_field(asked: _Asked, lineage: Sequence[Class], name: str) -> str:
    """What the recipe gives the field of an object, or its default there, where all such objects have the same."""
    made = asked.program.values.objects.made
    keys = {key for cls in lineage for section in made.get(cls, ()) if (key := f"{section}.{name}".lstrip("."))}
    told = {_told(asked.truth, key) for key in asked.truth.plain_keys if key.name in keys}
    return told.pop() if len(told) == 1 else ""


def _of_bound(asked: _Asked, value: Expr, name: str, function: Function, hops: int) -> str:
    truth = asked.truth
    if is_literal(value):
        if value.kind != "string" and len(bindings(function).get(name, ())) > 1:
            return ""  # a count or a flag to begin with
        said = _of_constant(truth, name) if function.name == MODULE_BODY else ""
        return said or f"{text_of(value)} ({asked.at(function, value.line)})"
    dotted = key_asked(value) if value.kind == "call" else next((one for one in reads_in(value)), "")
    if value.kind in ("path", "index", "call") and dotted and (said := _of_key(truth, dotted)):
        return f"{written(value)} = {said}"
    if value.kind == "path" and hops and (said := _of_name(asked, function, value.text, hops - 1)):
        return f"{written(value)} = {said}"
    if value.kind == "binary" and any(setting_of(truth, one, function.path) for one in reads_in(value)):
        return f"{written(value, 80)} ({asked.at(function, value.line)})"
    return _of_table(asked, function, bindings(function).get(name, ()))


def _of_table(asked: _Asked, function: Function, bound: Sequence[Binding]) -> str:
    """What a table that is written out holds, and what single keys of it are set to after it."""
    first = bound[0].value if bound and bound[0].kind == "assign" else None
    found = table_of(asked.program.index, function, first) if first is not None else None
    later = [function.events[one.position] for one in bound[1:]]
    if found is None or any(one.kind != "assign" or one.targets[0].kind != "index" for one in later):
        return ""
    then = "".join(f", then {written(one.targets[0])} = {written(one.value or one.targets[0])}" for one in later)
    return f"{written(found.table, TABLE)} ({asked.at(found.function, found.table.line)}){then}"


TABLE = 120  # characters of a table that is unpacked


def _of_constant(truth: Truth, name: str) -> str:
    """A name at the top of a file that is a setting."""
    key = truth.find(name) if name else None
    return _told(truth, key) if key is not None else ""


def _of_key(truth: Truth, name: str, path: str = "", owner: Class | None = None) -> str:
    """Value of a configuration key and the place that sets it; what it overrides, too. `owner` is the class that asks."""
    key = setting_of(truth, name, path) if name else None
    if owner is not None and name:
        key = truth.owners.of_class(owner, name, key)
    return _told(truth, key) if key is not None else ""


def _told(truth: Truth, key: Key) -> str:
    source = key.source
    if source is None or source.value in (*NO_VALUE, "[]") or _is_filled(truth, key) or is_switched_off(truth, key):
        return ""
    if source.how == "default" and key.name.rpartition(".")[2] in _OF_LAUNCHER:
        return ""
    if is_of_strangers(truth, key):
        return ""
    where = f"{source.path}:{source.line}" if source.path else "the given command"
    default = key.layers[0]
    over = f", default {default.value}" if default.value not in (source.value, *NO_VALUE) else ""
    later = key.layers[key.layers.index(source) + 1 :]
    maybe = "".join(f"; {become(one)}" for one in later[:1])
    return f"{truth.worth(source)} ({where}{over}){maybe}"


def _is_filled(truth: Truth, key: Key) -> bool:
    """An empty table by default, of which something is set: optimizer_params={}, and optimizer_params.weight_decay."""
    inside = f".{key.name.rpartition('.')[2]}."
    return key.value in ("{}", "dict()") and any(inside in f".{one.name}" for one in truth.plain_keys)


def _of_signature(asked: _Asked, function: Function, name: str, default: Expr | None) -> str:
    """What a command line gives a parameter of the function that it calls: of fire.Fire(train), of a command of typer."""
    key = asked.truth.find(name, function.path) if default is not None else None
    if key is None or default is None or (key.layers[0].path, key.layers[0].line) != (function.path, default.line):
        return ""
    return _told(asked.truth, key)


def _given(asked: _Asked, function: Function, name: str, default: Expr | None, hops: int) -> str:
    """What callers give for a parameter, and its default where one of them gives nothing; of an option its setting."""
    if is_option_of(function, name):
        return _of_key(asked.truth, name, function.path)
    order = [one.name for one in function.parameters if one.name != function.self_name]
    said: dict[str, None] = {}
    for site in islice(asked.program.sites_of(function), MAX_SITES) if name in order else ():
        value = site.call.argument(order.index(name), name)
        if value is None and any(part.kind in ("star", "doublestar") for part in site.call.parts):
            return ""  # whatever is unpacked may give it
        value = value or default
        if value is None:
            continue
        where = (
            f"default {asked.at(function, value.line)}" if value is default else f"{site.function.path}:{value.line}"
        )
        known = f"{text_of(value)} ({where})" if is_literal(value) else _known(asked, site.function, value, hops - 1)
        said.setdefault(known or "?")
        if len(said) > MAX_CALLERS:
            break
    return "" if "?" in said or len(said) > MAX_CALLERS else " or ".join(said)


def _known(asked: _Asked, function: Function, value: Expr, hops: int) -> str:
    """What a call in `function` gives: a setting, or a name whose value is known there."""
    dotted = next(iter(reads_in(value)), "")
    if value.kind in ("path", "index") and "." in dotted and (said := _of_key(asked.truth, dotted)):
        return f"{dotted} = {said}"
    return _of_name(asked, function, value.text, hops) if value.kind == "path" else ""
