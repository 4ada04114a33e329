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
    settings: Iterable[Setting],
    named: Iterable[Setting],
    functions: Iterable[Function],
    joining: Mapping[str, Function] | None = None,
) -> Iterator[Setting]:
    """`settings` without the sections of such tables that `named` do not pick; those of the picked under their own keys.

    `functions` read files that they name outright, those of `joining` the file whose path they put together.
    """
    by_file: dict[str, list[Setting]] = {}
    for one in settings:
        by_file.setdefault(one.path, []).append(one)
    values = {one.value: one.key.rpartition(".")[2] for one in named if one.value}
    code = list(functions)
    for path, found in by_file.items():
        readers = [one for one in code if one.source.holds(_of_file(path))]
        if (joins := (joining or {}).get(path)) is not None:
            readers.append(joins)
        yield from _narrowed(found, values, readers, False)


def _narrowed(
    found: Sequence[Setting], values: Mapping[str, str], readers: Sequence[Function], is_inside: bool
) -> Iterator[Setting]:
    sections: dict[str, list[Setting]] = {}
    for one in found if readers else ():
        name, dot, rest = one.key.partition(".")
        if dot and not rest.partition(".")[0].isdigit():
            sections.setdefault(name, []).append(one)
    named = {**dict(_recased(values, readers)), **values} if sections else values
    wanted = [one for one in sections if one in named and _asks(readers, named[one])]
    if len(wanted) != 1 or len(sections) < LEAST_SECTIONS or not (is_inside or _are_alike(sections)):
        yield from found
        return
    inside = [one._replace(key=one.key.partition(".")[2]) for one in sections[wanted[0]]]
    yield from (one for one in found if "." not in one.key)  # a list beside them says what there is
    yield from _narrowed(inside, values, readers, True)


def _recased(values: Mapping[str, str], readers: Sequence[Function]) -> Iterator[tuple[str, str]]:
    """What the readers make of these: name = name.upper()."""
    for value, key in values.items():
        for way, changed in ((b"upper", value.upper()), (b"lower", value.lower())):
            pattern = re.compile(rb"\b%s\.%s\(\)" % (re.escape(key.encode()), way))
            if changed != value and any(one.source.holds(pattern) for one in readers):
                yield changed, key


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
