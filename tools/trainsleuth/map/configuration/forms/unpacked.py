"""Classes that a section of the configuration is unpacked into, and what they take out of it: TrainConfig(**conf["train"])."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, Expr, Function, bindings

from ...program import Program
from ..records import Definition
from .literals import is_literal, text_of

_ASKS = ("get", "pop")


def unpacked(program: Program) -> Mapping[Class, tuple[str, ...]]:
    """Each class whose constructor takes named values out of its keywords, with the sections that it is made of.

    A section that no file sets keeps the name under which the code asks for it.
    """
    known = _sections(program)
    found: dict[Class, tuple[str, ...]] = {}
    for called in program.reached_calls:
        given = [part.parts[0] for part in called.call.parts[1:] if part.kind == "doublestar" and part.parts]
        for cls in called.targets if len(given) == 1 else ():
            if isinstance(cls, Class) and (word := _word(called.function, given[0])) and any(taken_out(cls)):
                section = known.get(word, word)
                found[cls] = tuple(dict.fromkeys((*found.get(cls, ()), section)))
    return {cls: tuple(one for one in names if one in known.values()) or names for cls, names in found.items()}


def taken_out(cls: Class) -> Iterator[Definition]:
    """self.lr = kwargs.get("lr", 1e-4)"""
    init = cls.methods.get("__init__")
    keywords = next((one.name for one in init.parameters if one.kind == "**"), "") if init is not None else ""
    for event in init.events if init is not None and keywords else ():
        for call in event.calls:
            if call.last in _ASKS and call.receiver is not None and call.receiver.text == keywords:
                name, default = call.argument(0), call.argument(1)
                if name is not None and name.kind == "string" and default is not None and is_literal(default):
                    yield Definition(name.text, cls.path, call.line, text_of(default), (), "", cls.name)


def _sections(program: Program) -> dict[str, str]:
    """Sections that files set by their last name, where only one is called so."""
    every: dict[str, set[str]] = {}
    for setting in program.settings:
        words = setting.key.split(".")
        for end in range(1, len(words)):
            if not words[end - 1].isdigit():
                every.setdefault(words[end - 1], set()).add(".".join(words[:end]))
    return {word: names.pop() for word, names in every.items() if len(names) == 1}


def _word(function: Function, expr: Expr, hops: int = 2) -> str:
    """The last name by which a section is asked for: "train" of self.get_conf("train", {}) and of cfg.train."""
    if expr.kind == "path" and "." not in expr.text and hops:
        bound = [one.value for one in bindings(function).get(expr.text, ()) if one.value is not None and not one.items]
        asked = [word for value in bound if (word := _word(function, value, hops - 1))]
        return asked[0] if asked else expr.text
    if expr.kind == "path":
        return expr.text.rpartition(".")[2]
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        return expr.parts[1].text
    if expr.kind == "call" and expr.arguments and expr.arguments[0].kind == "string":
        return expr.arguments[0].text.rpartition(".")[2]
    return ""
