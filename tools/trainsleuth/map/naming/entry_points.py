"""Classes that are registered by where they lie: register(id="maze", entry_point="mazes.env:Maze"), as gym has it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from trainsleuth.facts import Class, Function, Index

from ..recipe.choices import dotted
from ..recipe.recipes import Choice, Setting

_ASKS = re.compile(r"(?:^|[._])(?:env|environment|task|game)s?(?:_?(?:id|name|class|cls|type))?$", re.I)
_REGISTERS = ("register", "register_env", "register_envs")


def by_entry_point(index: Index, given: Iterable[Setting], loaded: Collection[str]) -> Iterator[Choice]:
    """The class that the id in a setting stands for, of those that code of `loaded` files registers."""
    found = {name: target for path, name, target in _registered(index) if path in loaded}
    latest = {one.key.rpartition(".")[2]: one for one in given if found and _ASKS.search(one.key)}
    for setting in latest.values():
        value = setting.value.strip("'\"")
        if (target := found.get(value)) is not None:
            yield Choice(setting.path, setting.line, setting.key, value, target)


def _registered(index: Index) -> Iterator[tuple[str, str, Class | Function]]:
    for site in index.calls(*_REGISTERS):
        name, where = site.call.argument(0, "id"), site.call.argument(1, "entry_point")
        if name is None or where is None or name.kind != "string" or where.kind != "string" or ":" not in where.text:
            continue
        target = dotted(index, where.text.replace(":", ".", 1))
        if isinstance(target, Class | Function):
            yield site.function.path, name.text, target
