"""Configuration that functions build: config.training.lr = 2e-4, config.net = get_net_config(width=8) in get_config()."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from trainsleuth.facts import Class, ConfigValue, Event, Expr, External, FileFacts, Function, Index, Variable

from ...naming.only_values import only_value
from .literals import is_literal, is_table, text_of

_BUILDS = re.compile(r"^(?:get_)?(?:default_)?configs?$|^get_\w*config\w*$")
_OBJECT = ("config", "cfg", "c", "conf")  # what the table of a function is called that gives nothing back
_SAME = frozenset(
    {"value_mode", "lock", "unlock", "copy", "copy_and_resolve_references", "deepcopy", "to_dict", "freeze"}
)
_EMPTY = re.compile(r"(?:Config|ConfigDict|Params|Parameters|Configuration|Cfg|Namespace|Munch|Dict)$")
_NAMES_CLASS = re.compile(rb"class_path|_target_")
MAX_HOPS = 5  # from a function to those that it calls
MAX_VALUES = 2000  # of one configuration; and that are computed for it, each function that gives some counted as one


class _Leaf(NamedTuple):
    value: str
    path: str
    line: int


class _Table(dict[str, "_Node"]):
    """By the names in it; a list is one whose names are 0, 1, ..."""


_Node = _Leaf | _Table


def built_settings(index: Index, path: str, file: FileFacts) -> dict[str, ConfigValue]:
    """Every value of the table that the function of the file gives back, with where it is set; {} for none."""
    for function in file.functions.values():
        if _BUILDS.match(function.name) and not function.self_name and (found := set_in(index, function)):
            return found
    return {}


def set_in(index: Index, function: Function) -> dict[str, ConfigValue]:
    """The table that one function gives back, or fills."""
    table = _Builder(index).result(function, {}, 0)
    return dict(islice(_flat(table, function.path), MAX_VALUES)) if isinstance(table, _Table) else {}


def _flat(node: _Node, path: str, prefix: str = "", seen: tuple[int, ...] = ()) -> Iterator[tuple[str, ConfigValue]]:
    if isinstance(node, _Leaf):
        if prefix:
            yield prefix, ConfigValue(node.value, node.line, node.path if node.path != path else "")
    elif id(node) not in seen:
        for name, inner in node.items():
            yield from _flat(inner, path, f"{prefix}.{name}" if prefix else name, (*seen, id(node)))


class _Builder:
    """Statements are taken in their order, whatever arm they stand in."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._left = MAX_VALUES

    def result(self, function: Function, given: dict[str, _Node], hops: int) -> _Node | None:
        """What a call of the function gives back, else the table that it fills."""
        if not self._left:  # functions that call each other many times over
            return None
        self._left -= 1
        own: dict[str, _Node] = dict(given)
        for event in function.events:
            if event.kind == "return" and event.value is not None:
                return self._of(event.value, function, own, hops)
            self._take(event, function, own, hops)
        return next((own[name] for name in _OBJECT if name in own), None)

    def _take(self, event: Event, function: Function, own: dict[str, _Node], hops: int) -> None:
        if event.kind == "assign" and event.value is not None and self._left:
            self._left -= 1
            node = self._of(event.value, function, own, hops)
            for target in event.targets:
                if target.kind in ("tuple", "list"):
                    for place, one in enumerate(target.parts):
                        inner = node.get(str(place)) if isinstance(node, _Table) else None
                        self._put(one, inner or self._leaf(event.value, function), own)
                else:
                    self._put(target, node, own)
        elif event.kind == "augment" and event.text == "+=" and event.value is not None and event.targets:
            held = self._named(event.targets[0], own)
            self._extend(held, self._of(event.value, function, own, hops))
        for call in event.calls if event.kind == "expression" else ():
            held = self._named(call.receiver, own) if call.receiver is not None else None
            if call.last == "append" and call.arguments:
                self._extend(held, _Table({"0": self._of(call.arguments[0], function, own, hops)}))

    def _extend(self, held: _Node | None, more: _Node) -> None:
        if isinstance(held, _Table) and isinstance(more, _Table):
            held.update({str(place): one for place, one in enumerate(list(more.values()), len(held))})

    def _put(self, target: Expr, node: _Node, own: dict[str, _Node]) -> None:
        """A name, or one in a table: config.optim.lr, config["optim"]["lr"]."""
        *above, last = _names(target) or [""]
        if not last or (above and above[0] not in own and above[0] not in _OBJECT):
            return
        table: dict[str, _Node] = own
        for name in above:
            inner = table.get(name)
            if not isinstance(inner, _Table):
                inner = table[name] = _Table()
            table = inner
        table[last] = node

    def _named(self, expr: Expr, own: dict[str, _Node]) -> _Node | None:
        names = _names(expr)
        table: _Node | None = own.get(names[0]) if names else None
        for name in names[1:]:
            table = table.get(name) if isinstance(table, _Table) else None
        return table

    def _of(self, expr: Expr, function: Function, own: dict[str, _Node], hops: int) -> _Node:
        if (held := self._named(expr, own)) is not None:
            return held
        if expr.kind in ("tuple", "list"):
            return _Table({str(place): self._of(one, function, own, hops) for place, one in enumerate(expr.parts)})
        if is_table(expr):
            return _Table(self._pairs(expr, function, own, hops))
        if expr.kind == "binary" and expr.text == "+":
            left, right = (self._of(one, function, own, hops) for one in expr.parts[:2])
            if isinstance(left, _Table) and isinstance(right, _Table):
                self._extend(joined := _Table(left), right)
                return joined
        if expr.kind == "path":
            return self._constant(expr, function)
        return self._called(expr, function, own, hops) if expr.kind == "call" else self._leaf(expr, function)

    def _pairs(self, expr: Expr, function: Function, own: dict[str, _Node], hops: int) -> Iterator[tuple[str, _Node]]:
        """Of {"a": 1}, dict(a=1) and ConfigDict({"a": 1}, b=2)."""
        parts: Sequence[Expr] = expr.parts if expr.kind == "dict" else expr.parts[1:]
        for part in parts:
            if part.kind == "pair" and part.parts[0].kind == "string":
                yield part.parts[0].text, self._of(part.parts[1], function, own, hops)
            elif part.kind == "keyword":
                yield part.text, self._of(part.parts[0], function, own, hops)
            elif part.kind == "dict":
                yield from self._pairs(part, function, own, hops)

    def _called(self, call: Expr, function: Function, own: dict[str, _Node], hops: int) -> _Node:
        if call.receiver is not None and (held := self._named(call.receiver, own)) is not None:
            first = call.arguments[0] if call.arguments else None
            if call.last in ("get_ref", "get") and first is not None and first.kind == "string":
                inner = held.get(first.text) if isinstance(held, _Table) else None
                return inner or self._leaf(call, function)
            return held if call.last in _SAME else self._leaf(call, function)
        symbol = self._index.resolve(function, call.callee) if call.callee else None
        if isinstance(symbol, Function):
            if _names_class(symbol) and call.arguments:
                made = _Table({"_target_": self._of(call.arguments[0], function, own, hops)})
                made.update(self._pairs(call, function, own, hops))
                return made
            given = dict(self._given(symbol, call, function, own, hops))
            node = self.result(symbol, given, hops + 1) if hops < MAX_HOPS else None
            return node or self._leaf(call, function)
        if isinstance(symbol, Class | External) and _EMPTY.search(symbol.name):
            return _Table(self._pairs(call, function, own, hops))
        return self._leaf(call, function)

    def _given(
        self, called: Function, call: Expr, function: Function, own: dict[str, _Node], hops: int
    ) -> Iterator[tuple[str, _Node]]:
        """What a call gives the parameters of a function, else their defaults."""
        for place, parameter in enumerate(called.parameters):
            value = call.argument(place, parameter.name)
            if value is not None:
                yield parameter.name, self._of(value, function, own, hops)
            elif parameter.default is not None:
                yield parameter.name, self._leaf(parameter.default, called)

    def _constant(self, expr: Expr, function: Function) -> _Node:
        """What a name at the top of a file is worth, or the full name of a class."""
        symbol = self._index.resolve(function, expr.text)
        if isinstance(symbol, Class | Function):
            return _Leaf(f"{_module(symbol.path)}.{symbol.name}", function.path, expr.line)
        if isinstance(symbol, External):
            return _Leaf(symbol.name, function.path, expr.line)
        if isinstance(symbol, Variable):
            value = only_value(symbol.scope, symbol.name)
            if value is not None and is_literal(value):
                return _Leaf(text_of(value), function.path, expr.line)
        return self._leaf(expr, function)

    def _leaf(self, expr: Expr, function: Function) -> _Leaf:
        return _Leaf(text_of(expr), function.path, expr.line)


def _names(expr: Expr) -> list[str]:
    """The links of a.b["c"]; [] for what is no such name."""
    if expr.kind == "path":
        return expr.text.split(".")
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind in ("string", "number"):
        above = _names(expr.parts[0])
        return [*above, expr.parts[1].text] if above else []
    if expr.kind == "attr":
        above = _names(expr.parts[0])
        return [*above, expr.text] if above else []
    return []


def _names_class(function: Function) -> bool:
    """It writes down a class and what it is made with: class_config(Net, width=8)."""
    takes_more = any(one.kind == "**" for one in function.parameters)
    return takes_more and function.source.holds(_NAMES_CLASS)


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".").removeprefix("src.")
