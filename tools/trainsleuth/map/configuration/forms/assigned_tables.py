"""What a Python file assigns at its top as a flat table: model = dict(type="ResNet", depth=50) is {"model.type": ...}."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import ConfigValue, Expr, FileFacts, Index
from trainsleuth.facts.memo import kept_per_index

from ..values.calculated import calculated, number_of
from .configuring_calls import configured_by_calls, configures
from .imported_settings import imported_names
from .literals import flat, is_table, text_of

_COPIES = ("copy", "deepcopy")
MAX_ENTRIES = 20_000  # tables of tables of tables double with every line


def settings_of(path: str, file: FileFacts, whole: bool = False) -> dict[str, ConfigValue]:
    """Every name that the file assigns at its top, nested tables flat, later assignments winning.

    What a name in a table stands for is told where the name is bound; of `whole` tables it is in the table too.
    """
    table: dict[str, ConfigValue] = {}
    named: dict[str, Expr] = {}
    nested: set[str] = set()  # names of tables
    numbers: dict[str, float] = {}
    imported = imported_names(path, file)
    for event in file.body.events:
        if event.kind != "assign" or event.value is None:
            for target in event.targets:
                numbers.pop(target.text, None)
            continue
        given = _unpacked(event.value, named)
        worth = number_of(given, numbers) if not (event.block.branches or event.block.loops) else None
        for name in filter(None, map(_dotted, event.targets)):
            named[name] = given
            numbers.pop(name, None)
            if worth is not None:
                numbers[name] = worth
            for key, value in flat(given, name):
                if value.kind in ("list", "tuple") and name == "_base_":
                    table.update(_listed(key, value.parts))
                elif whole and (source := _source(value)) in nested and len(table) < MAX_ENTRIES:
                    table.update([(f"{key}{one[len(source) :]}", table[one]) for one in table if _is_in(one, source)])
                    nested.add(name)
                else:
                    known = table.get(value.text) if value.kind == "path" else None
                    text = known.value if known else _text(calculated(value, numbers), imported)
                    table[key] = ConfigValue(text, value.line)
                if key != name:
                    nested.add(name)
    if configures(file.body):
        table.update(configured_by_calls(file.body))
    return table


@kept_per_index
def assigned(index: Index, path: str) -> Mapping[str, ConfigValue]:
    """Whole tables of a file of the index."""
    return settings_of(path, index.files[path], whole=True)


def _dotted(target: Expr) -> str:
    """small.optimizer.lr, also of small["optimizer"]["lr"]; "" for anything else."""
    if target.kind == "path":
        return target.text
    if target.kind != "index" or len(target.parts) != 2 or target.parts[1].kind != "string":
        return ""
    head = _dotted(target.parts[0])
    return f"{head}.{target.parts[1].text}" if head else ""


def _source(value: Expr) -> str:
    """The name that a value is, or is a copy of."""
    if value.kind == "path":
        return value.text
    if value.kind != "call" or value.last not in _COPIES:
        return ""
    copied = value.arguments[0] if value.arguments else value.receiver
    return copied.text if copied is not None and copied.kind == "path" else ""


def _is_in(key: str, section: str) -> bool:
    return key.startswith(section) and key[len(section) : len(section) + 1] == "."


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
