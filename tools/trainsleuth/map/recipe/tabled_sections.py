"""Tables of settings in a file, of which settings pick one: tasks.json[config["task"]][model]["trainer"]."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainsleuth.facts import Function

from .recipes import Setting

LEAST_SECTIONS = 3
LEAST_SHARED = 2  # keys that most sections have
MOST = 0.6


def picked_sections(
    settings: Iterable[Setting], named: Iterable[Setting], functions: Iterable[Function]
) -> Iterator[Setting]:
    """`settings` without the sections of such tables that `named` do not pick; those of the picked under their own keys."""
    by_file: dict[str, list[Setting]] = {}
    for one in settings:
        by_file.setdefault(one.path, []).append(one)
    values = {one.value: one.key.rpartition(".")[2] for one in named if one.value}
    code = list(functions)
    for path, found in by_file.items():
        yield from _narrowed(found, values, [one for one in code if one.source.holds(_of_file(path))], False)


def _narrowed(
    found: Sequence[Setting], values: Mapping[str, str], readers: Sequence[Function], is_inside: bool
) -> Iterator[Setting]:
    sections: dict[str, list[Setting]] = {}
    for one in found if readers else ():
        name, dot, rest = one.key.partition(".")
        if dot and not rest.partition(".")[0].isdigit():
            sections.setdefault(name, []).append(one)
    wanted = [one for one in sections if one in values and _asks(readers, values[one])]
    if len(wanted) != 1 or len(sections) < LEAST_SECTIONS or not (is_inside or _are_alike(sections)):
        yield from found
        return
    inside = [one._replace(key=one.key.partition(".")[2]) for one in sections[wanted[0]]]
    yield from (one for one in found if "." not in one.key)  # a list beside them says what there is
    yield from _narrowed(inside, values, readers, True)


def _are_alike(sections: Mapping[str, Sequence[Setting]]) -> bool:
    """Most have the same keys."""
    shared = Counter(
        key for found in sections.values() for key in {one.key.split(".")[1] for one in found if "." in one.key}
    )
    return sum(number >= MOST * len(sections) for number in shared.values()) >= LEAST_SHARED


def _of_file(path: str) -> re.Pattern[bytes]:
    return re.compile(re.escape(path.rpartition("/")[2].encode()))


def _asks(readers: Iterable[Function], key: str) -> bool:
    pattern = re.compile(rb"\[[^\]\n]*\b" + re.escape(key.encode()) + rb"\b")
    return any(one.source.holds(pattern) for one in readers)
