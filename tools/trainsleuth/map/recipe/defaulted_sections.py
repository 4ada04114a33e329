"""Sections of a file that each replace some values of its section DEFAULT: [DEFAULT] before [small] and [large]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .recipes import Setting

DEFAULT = "DEFAULT"


def over_defaults(settings: Iterable[Setting], named: Iterable[Setting]) -> Iterator[Setting]:
    """`settings`; of a file of such sections what DEFAULT says and the one section that `named` settings name replaces.

    Only where no section has a key of its own: then they are alternatives, and each is worth nothing unless it is named.
    """
    by_file: dict[str, list[Setting]] = {}
    for one in settings:
        by_file.setdefault(one.path, []).append(one)
    values = {one.value for one in named}
    for found in by_file.values():
        sections = _sections(found)
        yield from _chosen(sections, values) if _are_alternatives(found, sections) else found


def _sections(found: Iterable[Setting]) -> dict[str, dict[str, Setting]]:
    """By the section, its settings under their keys inside it."""
    sections: dict[str, dict[str, Setting]] = {}
    for one in found:
        section, dot, key = one.key.partition(".")
        if dot:
            sections.setdefault(section, {})[key] = one._replace(key=key)
    return sections


def _are_alternatives(found: Iterable[Setting], sections: Mapping[str, Mapping[str, Setting]]) -> bool:
    common = sections.get(DEFAULT)
    if common is None or len(sections) == 1 or any("." not in one.key for one in found):
        return False
    return all(keys.keys() <= common.keys() for keys in sections.values())


def _chosen(sections: Mapping[str, Mapping[str, Setting]], values: Iterable[str]) -> Sequence[Setting]:
    picked = (sections.keys() - {DEFAULT}) & set(values)
    over = sections[picked.pop()] if len(picked) == 1 else {}
    return list({**sections[DEFAULT], **over}.values())
