"""Settings of a recipe that is a class in Python, named by the command: python main.py experiments/ant.py.

class AntExperiment(PPOExperiment): what the methods and the body of the class, and of those that it builds on, bind to
a literal, and what they give back in a dict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from trainsleuth.facts import Class, Event, Expr, Function, Index

from ...recipe.config_objects import is_config
from ...recipe.recipes import Choice, Setting
from .literals import is_literal, text_of

_NUMBERS = ("int", "float")
_MEMBER = re.compile(r"(?:^|\.)[A-Z]\w*\.\w+$")


def recipe_class(index: Index, words: Sequence[str], entry: str) -> Class | None:
    """The last class of the file among the `words` of a command that no other in it builds on, if it builds on another."""
    paths = (word.removeprefix("./") for word in words if word.endswith(".py") and "=" not in word)
    path = next((one for one in paths if one in index.files and one != entry), "")
    own = list(index.files[path].classes.values()) if path else []
    built = [cls for cls in own if len(index.lineage(cls)) > 1]
    below = {base for cls in built for base in index.lineage(cls)[1:]}
    return next((cls for cls in reversed(built) if cls not in below), None)


def class_settings(index: Index, cls: Class | None) -> Iterator[Setting]:
    """Of a method that is overridden what the override binds; what the class itself says comes last, and wins."""
    if cls is None:
        return
    seen: set[str] = set()
    bodies: list[Function] = []
    for one in index.lineage(cls):
        bodies += [method for name, method in one.methods.items() if name not in seen]
        bodies.append(one.body)
        seen.update(one.methods)
    latest: dict[str, Setting] = {}
    for body in reversed(bodies):
        for event in body.events:
            for name, value in _bound(event):
                latest.pop(name, None)  # what is bound to anything else is not worth what a base says
                if said := _said(value):
                    latest[name] = Setting(body.path, value.line, name, said)
    yield from latest.values()


def chosen_settings(index: Index, chosen: Iterable[Choice]) -> Iterator[Setting]:
    """Those of configuration classes that the command names: --model=HelloWorld."""
    named = (one.target for one in chosen if not one.path and one.table is None)
    for cls in dict.fromkeys(named):
        if isinstance(cls, Class) and any(map(is_config, index.lineage(cls))):
            yield from class_settings(index, cls)


def _bound(event: Event) -> Iterator[tuple[str, Expr]]:
    for call in event.calls:
        if call.last == "__init__":  # super().__init__(architecture="UNet3D")
            yield from ((part.text, part.parts[0]) for part in call.parts[1:] if part.kind == "keyword")
    value = event.value
    if value is not None and event.kind == "assign":
        for target in event.targets:
            name = target.text.removeprefix("self.").removeprefix("cls.") if target.kind == "path" else ""
            if name.isidentifier() and not name.startswith("_"):
                yield name, value
    elif value is not None and event.kind == "return" and value.kind == "dict":
        for pair in value.parts:
            if pair.kind == "pair" and pair.parts[0].kind == "string":
                yield pair.parts[0].text, pair.parts[1]


def _said(value: Expr) -> str:
    """A literal, int(3e7), 8 if mode == "train" else 1, the default of a field, a member of a class of names by its name;
    "" for anything else.
    """
    if value.kind == "call" and value.callee not in _NUMBERS:  # param.Integer(2), param.Selector(default=Loss.DICE)
        first = value.arguments[0] if value.arguments and value.callee.startswith("param.") else None
        value = value.keyword("default") or first or value
    if value.kind == "path" and _MEMBER.search(value.text) is not None:
        return value.last
    if value.kind == "call" and value.callee in _NUMBERS and len(value.arguments) == 1:
        value = value.arguments[0]
    if value.kind == "choice" and len(value.parts) == 3 and all(map(is_literal, value.parts[::2])):
        return text_of(value)
    return text_of(value) if is_literal(value) else ""
