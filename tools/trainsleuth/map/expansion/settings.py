"""The settings that decide one component, section by section: what a recipe builds, and each value with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..configuration import Key, Truth
from ..recipes import Choice, refers_to
from .lines import MOST, line_of
from .pipelines import Pipeline, pipelines
from .replacing import replaced_at
from .sections import OF, TELLING, Section, is_set, section_of
from .writing import Block


def blocks(truth: Truth, component: str, home: Mapping[str, str]) -> Iterator[tuple[Block, bool]]:
    """One block for each section that decides the component, the most telling first; whether files or commands set it.

    `home` is the part of keys whose names do not tell.
    """
    if component not in OF:
        return
    shown: set[str] = set()
    lists = list(pipelines(truth))
    for place, (pipeline, rank) in enumerate(_lists(lists, component)):
        item = {"section": pipeline.name, "keys": [key.to_dict() for key in pipeline.items]}
        yield Block(("# settings",), (-len(lists) + place,), (f"  {pipeline.line(truth)}",), item), rank >= TELLING
    for place, section in enumerate(_sections(truth, component, lists, home)):
        keys = [key for key in section.keys if section.built is not None or key.name not in shown]
        if not keys and section.built is None:
            continue
        shown.update(refers_to(key.value) for key in section.keys)
        line = line_of(truth, section._replace(keys=tuple(keys)))
        if section.built is None and (said := replaced_at(truth.program, section.name)):
            line += f"; {said}"
        item = {"section": section.name, "keys": [key.to_dict() for key in keys[:MOST]]}
        yield Block(("# settings",), (place,), (f"  {line}",), item), section.rank >= TELLING


def _lists(found: Sequence[Pipeline], component: str) -> Iterator[tuple[Pipeline, float]]:
    """Lists that belong to a component by their name or by what they build, those for training first."""
    pattern = re.compile(OF[component], re.I)
    wanted = [one for one in found if pattern.search(one.name) or one.kind == component]
    for one in sorted(wanted, key=lambda one: _ELSEWHERE.search(one.name) is not None):
        yield one, TELLING if any(map(is_set, one.items)) else 0.0


_ELSEWHERE = re.compile(r"(?:^|[_.])(?:test|val|valid|eval|infer\w*|predict\w*)(?:[_.]|$)", re.I)


def _sections(truth: Truth, component: str, lists: Sequence[Pipeline], home: Mapping[str, str]) -> list[Section]:
    own = [re.escape(name) for name, part in home.items() if part == component]
    pattern = re.compile("|".join([OF[component], *(f"^{name}$" for name in own)]), re.I)
    chosen = {choice.key.rpartition(".")[0]: choice for choice in truth.program.choices if "." in choice.key}
    held: dict[str, list[Key]] = {}
    for key in truth.keys:
        if key.source is not None and not key.name.endswith((".!new", ".!name")):
            held.setdefault(_section_of(key, chosen), []).append(key)
    for name in chosen:
        held.setdefault(name, [])
    left = set(_alternatives(held))
    left.update(name for name in held for one in lists if name.startswith(f"{one.name}."))
    found = [
        section_of(truth, component, pattern, name, keys, chosen.get(name))
        for name, keys in held.items()
        if name not in left
    ]
    return sorted((one for one in found if one is not None), key=lambda one: -one.rank)


def _alternatives(held: Mapping[str, Sequence[Key]]) -> Iterator[str]:
    """Sections that a key beside them does not name: schedule.step, when schedule.kind is cosine."""
    values: dict[str, set[str]] = {}
    for keys in held.values():
        for key in keys:
            values.setdefault(key.name.rpartition(".")[0], set()).add(key.value)
    decided = {name.rpartition(".")[0] for name in held if name.rpartition(".")[2] in values.get(name.rpartition(".")[0], ())}  # fmt: skip
    for name in held:
        parent, _, last = name.rpartition(".")
        if parent and parent in decided and last not in values[parent] and len(values[parent]) == 1:
            yield name


def _section_of(key: Key, chosen: dict[str, Choice]) -> str:
    """The prefix of a key, up to what is built as a whole; of a plain name, the file that sets it."""
    words = key.name.split(".")
    for cut in range(len(words), 0, -1):
        if ".".join(words[:cut]) in chosen:
            return ".".join(words[:cut])
    source = key.source
    return ".".join(words[:-1]) or f"/{source.path if source is not None else ''}"
