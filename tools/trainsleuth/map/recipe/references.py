"""Classes and functions that settings hand to others by name, as gin does: Trainer.algorithm = @agents.Sac."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainsleuth.facts import Class, Function, Index

from .recipes import Choice, Setting

SIGN = "@"
_REFERENCE = re.compile(r"@(?:[\w./-]*/)?([A-Za-z_][\w.]*)(\(\))?")


class Given(NamedTuple):
    """What a parameter is handed: the class or function itself, or what a call of it gives."""

    target: Class | Function
    is_called: bool


def references(index: Index, settings: Iterable[Setting]) -> Iterator[Choice]:
    """What the references in the settings mean, where only one thing of the project can be meant."""
    asked = [(one, match[1]) for one in settings if (match := _REFERENCE.fullmatch(one.value)) is not None]
    wanted = {name.rpartition(".")[2] for _, name in asked}
    named: dict[str, list[Class | Function]] = {}
    for file in index.files.values() if wanted else ():
        for name in wanted:
            thing = file.classes.get(name) or file.functions.get(name)
            if thing is not None:
                named.setdefault(name, []).append(thing)
    for setting, name in asked:
        module, _, last = name.rpartition(".")
        found = named.get(last, [])
        of_module = [one for one in found if _is_in(one.path, module)]
        for one in of_module if len(of_module) == 1 else found if len(found) == 1 else ():
            yield Choice(setting.path, setting.line, setting.key, setting.value, one)


def _is_in(path: str, module: str) -> bool:
    """The file is the module, or lies in the package, that a reference names by the end of its name."""
    end = "/" + module.replace(".", "/")
    stem = f"/{path.removesuffix('.py').removesuffix('/__init__')}"
    return bool(module) and (stem.endswith(end) or stem.rpartition("/")[0].endswith(end))


def given_by_name(chosen: Iterable[Choice]) -> dict[tuple[str, str], Given]:
    """What parameters are handed, by the class or function whose they are, and their name."""
    found = {}
    for choice in chosen:
        parts = choice.key.rpartition("/")[2].split(".")
        if choice.value.startswith(SIGN) and choice.target is not None and len(parts) > 1:
            found[parts[-2], parts[-1]] = Given(choice.target, choice.value.endswith("()"))
    return found
