"""Classes that are looked for by their name in all files of a folder: find_class(folder, "FastTrainer", "pkg.trainers")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from trainsleuth.facts import Class, Expr, Function, Index, Site
from trainsleuth.repository import is_under

MAX_CALLERS = 12
MAX_HOPS = 3  # from the function that searches up to the one that says where


def searched(index: Index, function: Function) -> Mapping[str, Class]:
    """By name: classes of the folder whose package a caller of `function` names, of the family that most belong to."""
    folders = dict.fromkeys(_folders(index, function, set(), 0))
    inside = (
        [one for one in index.classes() if any(is_under(one.path, folder) for folder in folders)] if folders else []
    )
    return {one.name: one for one in reversed(_family(index, inside)) if "." not in one.qualname}


def _family(index: Index, found: list[Class]) -> list[Class]:
    """Those below the class that most of them have above all others: what helps them is not chosen by a name."""
    tops = {one: index.lineage(one)[-1] for one in found}
    most = next((top for top, number in Counter(tops.values()).most_common(1) if number > 1), None)
    return [one for one in found if most is None or tops[one] is most]


def _folders(index: Index, function: Function, seen: set[Function], hops: int) -> Iterator[str]:
    if function in seen or hops >= MAX_HOPS:
        return
    seen.add(function)
    sites = [site for site in islice(index.calls(function.name), MAX_CALLERS) if site.function is not function]
    named = [folder for site in sites for folder in _packages(index, site)]
    yield from named
    for site in sites if not named else ():
        yield from _folders(index, site.function, seen, hops + 1)


def _packages(index: Index, site: Site) -> Iterator[str]:
    for text in _strings(site.call.parts[1:]):
        module = index.names.module(site.function.path, text) if text.replace(".", "_").isidentifier() else None
        if "." in text and module is not None and module.folder not in ("", "."):
            yield module.folder


def _strings(given: Iterable[Expr]) -> Iterator[str]:
    for part in given:
        value = part.parts[0] if part.kind == "keyword" else part
        if value.kind == "string":
            yield value.text
