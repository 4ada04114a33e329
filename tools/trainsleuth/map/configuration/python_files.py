"""Configuration that is written as Python: model = dict(type="ResNet", depth=50), batch_size = 12."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from trainsleuth.facts import ConfigValue, Event, Expr, FileFacts, Index

from ..running import is_guarded
from .calculated import calculated, number_of
from .config_functions import built_settings
from .configuring_calls import configured_by_calls, configures
from .handed_tables import handed_settings
from .imported_settings import imported_names
from .literals import flat, is_table, text_of

_FOLDER = re.compile(r"(?:^|/)(?:configs?|cfgs?|confs?|recipes|hparams)/", re.I)
_NAMED = re.compile(r"(?:config|cfg)[^/]*\.py$", re.I)
_BASES = re.compile(rb"_base_")
_ASSIGNS = re.compile(rb"^[A-Za-z_]\w*[ \t]*=", re.M)
_DOES_MORE = re.compile(
    rb"^(?:if|try|match|for|while|with|def|class|async|return|raise|assert|break|continue|global|nonlocal)\b|^@", re.M
)
_MADE_LATER = re.compile(rb"(?:=|\breturn)[ \t]*\w+\([\w.]+\)\(")  # L(Network)(depth=50)
_PLAIN = frozenset({"assign", "augment", "expression", "delete"})


class PythonConfigs(Mapping[str, Mapping[str, ConfigValue]]):
    """Tables of the configuration files of an index, and of the files of settings that are Python: flat like those.

    There may be a thousand of these, and a program asks for few: one is read when it is asked for.
    """

    def __init__(self, index: Index) -> None:
        self._files, self._others = index.files, index.configs
        self._read: dict[str, Mapping[str, ConfigValue]] = {}

    @cached_property
    def _own(self) -> dict[str, None]:
        return {path: None for path, file in self._files.items() if path.endswith(".py") and self._has_some(path, file)}

    def _has_some(self, path: str, file: FileFacts) -> bool:
        if only_assigns(path, file):
            return True
        if is_settings(path, file):
            table = settings_of(path, file)
        else:
            table = built_settings(self._files, path, file) if _FOLDER.search(path) is not None else {}
            table = table or (handed_settings(file) if _NAMED.search(path) is not None else {})
        self._read[path] = table
        return bool(table)

    def __getitem__(self, path: str) -> Mapping[str, ConfigValue]:
        if path not in self._own:
            return self._others[path]
        if path not in self._read:
            self._read[path] = settings_of(path, self._files[path])
        return self._read[path]

    def __contains__(self, path: object) -> bool:
        return path in self._own or path in self._others

    def __iter__(self) -> Iterator[str]:
        return iter((*self._others, *self._own))

    def __len__(self) -> int:
        return len(self._others) + len(self._own)


def only_assigns(path: str, file: FileFacts) -> bool:
    """Told by the beginnings of its lines: it lies in a folder of configurations, and nothing in it does more."""
    if _FOLDER.search(path) is None or path.endswith("__init__.py") or len(file.functions) > 1:
        return False
    return file.body.source.holds(_ASSIGNS) and not file.body.source.holds(_DOES_MORE)


def is_settings(path: str, file: FileFacts) -> bool:
    """It names its bases, or lies in a folder of configurations and only assigns, but for what starting it runs.

    In such a folder, what writes down objects that are made later does so too, whatever else it does.
    """
    if only_assigns(path, file):
        return True
    body = file.body
    if configures(body) and not file.classes and any(True for _ in configured_by_calls(body)):
        return True
    if body.source.holds(_BASES) and any(target.text == "_base_" for event in body.events for target in event.targets):
        return True
    if _FOLDER.search(path) is None or path.endswith("__init__.py"):
        return False
    if body.source.holds(_MADE_LATER):
        return True
    return len(file.functions) == 1 and all(event.kind in _PLAIN or _is_start(event) for event in body.events)


def _is_start(event: Event) -> bool:
    """The guard of a file that is started, or what stands under it."""
    tests = event.value.walk() if event.kind == "if" and event.value is not None else ()
    return is_guarded(event) or any(part.text == "__name__" for part in tests)


def settings_of(path: str, file: FileFacts) -> dict[str, ConfigValue]:
    """Every name that the file assigns at its top, nested tables flat, later assignments winning."""
    table: dict[str, ConfigValue] = {}
    named: dict[str, Expr] = {}
    numbers: dict[str, float] = {}
    imported = imported_names(path, file)
    for event in file.body.events:
        if event.kind != "assign" or event.value is None:
            for target in event.targets:
                numbers.pop(target.text, None)
            continue
        given = _unpacked(event.value, named)
        worth = number_of(given, numbers) if not (event.block.branches or event.block.loops) else None
        for target in event.targets:
            if target.kind == "path":
                named[target.text] = given
                numbers.pop(target.text, None)
                if worth is not None:
                    numbers[target.text] = worth
                for key, value in flat(given, target.text):
                    if value.kind in ("list", "tuple") and target.text == "_base_":
                        table.update(_listed(key, value.parts))
                    else:
                        known = table.get(value.text) if value.kind == "path" else None
                        table[key] = ConfigValue(
                            known.value if known else _text(calculated(value, numbers), imported), value.line
                        )
    if configures(file.body):
        table.update(configured_by_calls(file.body))
    return table


def _text(value: Expr, imported: Mapping[str, str]) -> str:
    """As a configuration file would have it: an imported name in full."""
    head, dot, rest = value.text.partition(".") if value.kind == "path" else ("", "", "")
    return f"{imported[head]}{dot}{rest}" if head in imported else text_of(value)


def _unpacked(value: Expr, named: Mapping[str, Expr]) -> Expr:
    """A table with what it unpacks in its place: dict(type="A", **shared)."""
    if not any(part.kind == "doublestar" for part in value.walk()):
        return value
    parts: list[Expr] = []
    for part in value.parts:
        table = named.get(part.parts[0].text) if part.kind == "doublestar" and is_table(value) else None
        if table is None or not is_table(table) or table.kind != value.kind:
            parts.append(_unpacked(part, named))
        else:
            parts += table.parts if table.kind == "dict" else table.parts[1:]
    return value._replace(parts=tuple(parts))


def _listed(key: str, items: tuple) -> Iterator[tuple[str, ConfigValue]]:  # type: ignore[type-arg]
    for place, item in enumerate(items):
        yield f"{key}.{place}", ConfigValue(text_of(item), item.line)
