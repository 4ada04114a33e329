"""Where keys are read: attributes, subscripts and names of all code, asked for by the key's last word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Event, Expr, Function, Index, is_test

from ...recipe.held_settings import WORDS
from ..forms.clicked import is_option_of

_HOLDS = re.compile(rf"(?:^|_)(?:{WORDS}|param|exp|hyper|self|trainer|spec|meta)$", re.I)
_HOLDER = re.compile(r"_?(?:args?|opts?|cfg|conf|config|hparams?|params?|options?|settings?)$")
_AKIN = 4  # letters of what is left of the name of a holder


class Read(NamedTuple):
    """`text` is the whole dotted name or the subscripts that read it: "cfg.optim.lr", "optim.lr"."""

    function: Function
    line: int
    text: str
    kind: str  # attribute, key, name
    whole: bool = True  # the value itself is used, not only something inside of it
    is_callee: bool = False  # a method that is called: random.seed(1)


class Reads:
    """Every place of the project that names a word, by the word."""

    def __init__(self, index: Index, recipes: frozenset[str] = frozenset()) -> None:
        """`recipes` are names that hold the whole recipe: what is asked of them is at its top."""
        self._recipes = recipes
        self._named: dict[str, list[Read]] = {}
        self._said: set[str] = set()
        self._parsed: set[tuple[Function | str, str]] = set()  # of a function, or of a file: names of its options
        self._in_file = option_names(index)
        self._filled = _filled(index)
        for function in index.functions():
            if is_test(function.path):
                continue
            self._said.update(parameter.name for parameter in function.parameters)
            for event in function.events:
                self._parsed.update(_parsed(function, event))
                if event.value is not None:
                    self._read(function, event.value)
                for target in event.targets:
                    self._read_target(function, target)

    def is_said(self, word: str) -> bool:
        """The word stands anywhere in code as an attribute, a name, a key, a keyword or a parameter."""
        return word in self._said or word in self._named

    def inside(self, word: str) -> Iterator[Function]:
        """Functions that name the word as an attribute or a literal key."""
        yield from (read.function for read in self._named.get(word, ()) if read.kind != "name")

    def is_asked(self, section: str) -> bool:
        """A section at the top of the recipe is asked of something that holds settings."""
        found = (_holder(read) for read in self._named.get(section, ()) if read.kind != "name")
        return any(one not in ("self", "") and _HOLDS.search(one) for one in found)

    def is_taken(self, section: str) -> bool:
        """A whole section of the configuration is used at once: somebody may read what is in it."""
        return any(read.whole and read.kind != "name" for read in self._named.get(section, ()))

    def of(self, key: str, constant: bool) -> Iterator[Read]:
        """Places that read `key`, or may: an attribute or a literal key of its last word, on what holds settings.

        Of a nested key, places that name its section too, when there are any.
        """
        section, _, last = key.rpartition(".")
        named = (read for read in self._named.get(last, ()) if not read.is_callee)
        found = [read for read in named if constant or read.kind != "name" or is_option_of(read.function, last)]
        if section:
            found = [read for read in found if read.text.rpartition(".")[0] not in self._recipes]
        if constant:
            yield from (read for read in found if read.kind == "name")
            return
        near = section.rpartition(".")[2]
        exact = [read for read in found if near and f"{near}.{last}" in read.text]
        yield from exact or (read for read in found if self._is_of_settings(read))

    def of_any(self, last: str) -> Iterator[Read]:
        """Places that read a word as an attribute or a literal key of anything that holds settings."""
        named = (read for read in self._named.get(last, ()) if read.kind != "name" and not read.is_callee)
        yield from (read for read in named if self._is_of_settings(read))

    def of_kin(self, key: str) -> Iterator[Read]:
        """Those of them whose holder is called nearly like the section of a nested key: optim_config, generator_cfg."""
        section, _, last = key.rpartition(".")
        near = section.rpartition(".")[2].lower()
        for read in self.of_any(last):
            holder = _HOLDER.sub("", _holder(read).lower())
            if near and len(holder) >= _AKIN and (near.startswith(holder) or holder.startswith(near)):
                yield read

    def _is_of_settings(self, read: Read) -> bool:
        """By the name of what holds it, or by the parser that made that; of click itself."""
        if read.kind == "name":
            return True
        holder = _holder(read)
        places = (read.function, read.function.path)
        if _HOLDS.search(holder) is not None or holder in self._filled:
            return True
        if any((place, holder) in self._parsed for place in places):
            return True
        return read.function.parameter(holder) is not None and (read.function.path, holder) in self._in_file

    def _read(self, function: Function, expr: Expr) -> None:
        called: set[int] = set()  # ids of what is only gone through: to call it, or for something in it
        callees: set[int] = set()
        for part in expr.walk():
            if part.kind == "path":
                words = part.text.split(".")
                for place, word in enumerate(words):
                    kind = "attribute" if place else "name"
                    last = place == len(words) - 1
                    read = Read(
                        function, part.line, ".".join(words[: place + 1]), kind, last and id(part) not in called
                    )
                    self._add(word, read._replace(is_callee=last and id(part) in callees))
            elif part.kind == "attr":
                called.add(id(part.parts[0]))
                self._add(part.text, Read(function, part.line, f"?.{part.text}", "attribute"))
            elif part.kind == "index" and len(part.parts) == 2 and part.parts[1].kind == "string":
                called.add(id(part.parts[0]))
                read = Read(function, part.line, subscripts(part), "key", id(part) not in called)
                self._add(part.parts[1].text, read)
            elif part.kind == "call":
                called.add(id(part.parts[0]))
                callees.add(id(part.parts[0]))
                self._read_call(function, part)
            elif part.kind == "string" and len(part.text) < 60:
                self._said.update(part.text.split("."))
            elif part.kind == "keyword":
                self._said.add(part.text)

    def _read_call(self, function: Function, call: Expr) -> None:
        if call.last in ("get", "pop", "getattr", "setdefault", "select"):
            for argument in call.arguments[:2]:
                if argument.kind == "string":
                    holder = call.receiver.text if call.receiver is not None else call.arguments[0].text
                    last = argument.text.rpartition(".")[2]
                    self._add(last, Read(function, call.line, f"{holder}.{argument.text}", "key"))

    def _read_target(self, function: Function, target: Expr) -> None:
        if target.kind == "index":
            self._read(function, target)

    def _add(self, word: str, read: Read) -> None:
        self._named.setdefault(word, []).append(read)


def option_names(index: Index) -> frozenset[tuple[str, str]]:
    """(file, name) of what a function of the file binds what a parser gives to: it may hand that to the others."""
    sites = index.calls(*_PARSES)
    found = (name for site in sites for name in _parsed(site.function, site.event))
    return frozenset((where if isinstance(where, str) else where.path, name) for where, name in found)


_PARSES = ("parse_args", "parse_known_args")


def _filled(index: Index) -> frozenset[str]:
    """Names of tables that are handed all options, to be handed around themselves: H.update(parser.parse_args().__dict__)"""
    calls = (site.event.value for site in index.calls(*_PARSES))
    filling = (one for one in calls if one is not None and one.kind == "call" and one.last == "update")
    return frozenset(one.receiver.last for one in filling if one.receiver is not None and one.receiver.kind == "path")


def _parsed(function: Function, event: Event) -> Iterator[tuple[Function | str, str]]:
    """The names that a = parser.parse_args() and a, rest = parser.parse_known_args() bind, and where they are seen."""
    value, bound = event.value, event.targets[:1]
    if value is None or value.kind != "call" or value.last not in _PARSES:
        return
    name = bound[0].parts[0] if bound and bound[0].kind == "tuple" else bound[0] if bound else None
    if name is not None and name.kind == "path":
        yield function.path if function.name == MODULE_BODY else function, name.last


def _holder(read: Read) -> str:
    return read.text.rpartition(".")[0].rpartition(".")[2]


def subscripts(expr: Expr) -> str:
    """config["optim"]["lr"] is "config.optim.lr"."""
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        return f"{subscripts(expr.parts[0])}.{expr.parts[1].text}"
    return expr.text if expr.kind in ("path", "attr") else "?"
