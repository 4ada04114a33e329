"""Configuration files whose paths code joins from options and names of classes:
load(os.path.join(args.config_dir, f"{args.config_name}.yaml")), open(f"{Net.__name__}.yaml")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainsleuth.facts import Class, Expr, Function, Index
from trainsleuth.facts.reading.scopes import bindings
from trainsleuth.repository import CONFIG_SUFFIXES

from ..calling.reach import Reach
from ..configuration.values.templates import HOLE, template_of
from .composition import normal

MAX_HOPS = 4  # from a name to what it is bound to
_PUT_TOGETHER = re.compile(rb"""["'}](?:[\w-]*)\.(?:ya?ml|json|toml)["']""")
_SAME = frozenset(["Path", "str", "abspath", "realpath", "expanduser", "resolve", "absolute", "as_posix"])
_NAME = ".__name__"
_JOINS = frozenset(["join", "joinpath", "Path"])


def joined_files(
    index: Index, reached: Reach, options: Mapping[str, str], folders: Sequence[str]
) -> Iterator[tuple[str, Function]]:
    """Each with the function that joins its path. `folders` are those that the program may be started in, the likeliest
    first.
    """
    for function in reached.distance:
        if not function.source.holds(_PUT_TOGETHER):
            continue
        written = _Written(index, function, options)
        for event in function.events:
            for expr in event.value.walk() if event.value is not None else ():
                written.used.clear()
                text = written.of(expr) if expr.kind in ("call", "binary", "format") else None
                if text is None or not written.used or not text.endswith(CONFIG_SUFFIXES):
                    continue
                paths = (normal(f"{folder}/{text}") for folder in folders)
                if (path := next((one for one in paths if one in index.configs), None)) is not None:
                    yield path, function


class _Written:
    """Texts that a function puts together, as far as literals, options and names of classes are all that is in them."""

    def __init__(self, index: Index, function: Function, options: Mapping[str, str]) -> None:
        self._index, self._function, self._options = index, function, options
        self.used: set[str] = set()

    def of(self, expr: Expr, hops: int = MAX_HOPS) -> str | None:
        """None where something else is in it."""
        if expr.kind == "string":
            return expr.text
        if expr.kind == "binary" and expr.text in ("+", "/"):
            return self._together("" if expr.text == "+" else "/", expr.parts, hops)
        if expr.kind == "format":
            return self._filled(expr, hops)
        if expr.kind == "call":
            return self._called(expr, hops)
        if expr.kind == "path" and expr.text.endswith(_NAME):
            return self._class_name(expr.text.removesuffix(_NAME))
        if (bound := bindings(self._function).get(expr.text, ())) and expr.kind == "path":
            value = bound[0].value
            return self.of(value, hops - 1) if hops and len(bound) == 1 and value is not None else None
        return self._option(expr.parts[-1].text if expr.kind == "index" else expr.last)

    def _option(self, name: str) -> str | None:
        if name in self._options:
            self.used.add(name)
        return self._options.get(name)

    def _class_name(self, dotted: str) -> str | None:
        named = self._index.resolve(self._function, dotted)
        if not isinstance(named, Class):
            return None
        self.used.add(named.name)
        return named.name

    def _called(self, call: Expr, hops: int) -> str | None:
        if call.last == "format" and call.receiver is not None and call.receiver.kind == "string":
            return self._put_in(call.receiver.text, call.arguments, hops)
        if call.last == "getattr" and len(call.arguments) > 1:
            return self._option(call.arguments[1].text)
        if call.last in _JOINS and call.arguments:
            before = [call.receiver] if call.last == "joinpath" and call.receiver is not None else []
            return self._together("/", (*before, *call.arguments), hops)
        same = call.arguments[0] if call.arguments else call.receiver
        return self.of(same, hops) if call.last in _SAME and same is not None else None

    def _filled(self, expr: Expr, hops: int) -> str | None:
        template = template_of(self._function, expr)
        return self._put_in(template, expr.parts, hops) if template is not None else None

    def _put_in(self, template: str, given: Sequence[Expr], hops: int) -> str | None:
        literals = HOLE.split(template)
        if len(literals) != len(given) + 1:
            return None
        values = [self.of(one, hops) for one in given]
        known = [one for one in values if one is not None]
        return "".join(map("".join, zip(literals, [*known, ""], strict=True))) if len(known) == len(values) else None

    def _together(self, between: str, parts: Sequence[Expr], hops: int) -> str | None:
        """What is not known in front, the folder of the file itself, is left out: root / "configs" / name."""
        values = [self.of(one, hops) for one in parts]
        if values[0] is None and between == "/":
            values = values[1:]
        known = [one for one in values if one is not None]
        return between.join(known) if known and len(known) == len(values) else None
