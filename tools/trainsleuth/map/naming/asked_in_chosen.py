"""Tables that one key asks in several files, each for its own: ATTENTION[kind] in the file of every model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from trainsleuth.facts import Class, Function

from ..recipe.recipes import Choice
from .tables import Table


def asked_in_chosen(
    chosen: Iterable[Choice], known: Mapping[str, Sequence[Table]], named: Collection[str]
) -> Iterator[Choice]:
    """The choices; of several such tables that counts which stands in a file of `named`, or of what another setting
    chooses."""
    every = tuple(chosen)
    for choice in every:
        tables = _of_its_key(choice, known)
        if len({table.site[0].path for table in tables if table.site is not None}) < 2:
            yield choice
            continue
        other = (one.target for one in every if one.key != choice.key)
        files = {one.path for one in other if isinstance(one, Class | Function)}.union(named)
        own = [table for table in tables if table.site is not None and table.site[0].path in files]
        yield _by(choice, own[0], tables) if own and choice.table not in own else choice


def _of_its_key(choice: Choice, known: Mapping[str, Sequence[Table]]) -> list[Table]:
    key = choice.table.key if choice.table is not None else ""
    holding = known.get(choice.value, ()) if key else ()
    return [table for table in holding if table.key == key and choice.value in table.entries]


def _by(choice: Choice, own: Table, tables: Iterable[Table]) -> Choice:
    entry = own.entries[choice.value]
    alike = (table.site for table in tables if table.entries[choice.value] is entry)
    sites = tuple(site for site in alike if site is not None)
    return choice._replace(table=own, target=entry if isinstance(entry, Class | Function) else None, sites=sites)
