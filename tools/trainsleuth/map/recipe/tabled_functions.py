"""Tables of settings that functions make, of which a setting picks one: CONFIGS[args.size], CONFIGS = {"s": get_small()}."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainsleuth.facts import Function, Index, Variable, bindings

from ..configuration.forms.config_functions import set_in
from .recipes import Setting

LEAST = 2  # functions of a table
_HOLDS = re.compile(rb"[\"']\s*:\s*[A-Za-z_][\w.]*\(\s*\)")


class FunctionTable(NamedTuple):
    """The table called `name` at the top of the file at `path`: by word, the function that makes what it holds."""

    path: str
    name: str
    functions: Mapping[str, Function]


def function_tables(index: Index, paths: Iterable[str]) -> Iterator[FunctionTable]:
    """Those of the files at `paths` that hold calls without arguments and nothing else, each making settings."""
    for path in sorted(paths):
        body = index.files[path].body
        for name, bound in bindings(body).items() if body.source.holds(_HOLDS) else ():
            value = bound[0].value if len(bound) == 1 else None
            pairs = value.parts if value is not None and value.kind == "dict" else ()
            made = {pair.parts[0].text: pair.parts[1] for pair in pairs if pair.kind == "pair"}
            found = {
                word: target
                for word, call in made.items()
                if call.kind == "call" and len(call.parts) == 1 and call.callee
                and isinstance(target := index.resolve(body, call.callee), Function)
            }  # fmt: skip
            if len(found) >= LEAST and len(found) == len(pairs) and all(set_in(index, one) for one in found.values()):
                yield FunctionTable(path, name, found)


def picked_functions(
    index: Index, tables: Iterable[FunctionTable], functions: Iterable[Function], options: Mapping[str, str]
) -> Iterator[Setting]:
    """What the function sets that code picks by an option whose value is known."""
    code = list(functions)
    for table in tables:
        words = {
            word
            for function in code
            if function.source.holds(re.compile(rb"\b%s\[" % re.escape(table.name.encode())))
            for word in _words(index, table, function, options)
        }
        if len(words) == 1:
            made = table.functions[words.pop()]
            for key, value in set_in(index, made).items():
                yield Setting(value.path or made.path, value.line, key, value.value)


def left_aside(tables: Iterable[FunctionTable], settings: Iterable[Setting]) -> frozenset[Function]:
    """The functions of the tables of which `settings` are what one function makes: what the others set counts for nothing."""
    places: dict[str, list[int]] = {}
    for one in settings:
        places.setdefault(one.path, []).append(one.line)
    return frozenset(
        function
        for table in tables
        if any(
            one.line <= line <= one.end_line for one in table.functions.values() for line in places.get(one.path, ())
        )
        for function in table.functions.values()
    )


def _words(index: Index, table: FunctionTable, function: Function, options: Mapping[str, str]) -> Iterator[str]:
    for event in function.events:
        for part in event.value.walk() if event.value is not None else ():
            if part.kind == "index" and len(part.parts) == 2 and part.parts[0].kind == "path":
                word = options.get(part.parts[1].last, "")
                if word in table.functions and _is(index, table, function, part.parts[0].text):
                    yield word


def _is(index: Index, table: FunctionTable, function: Function, name: str) -> bool:
    symbol = index.resolve(function, name)
    return isinstance(symbol, Variable) and symbol.scope.path == table.path and symbol.name == table.name
