"""What decorators file under several words at once: @register_trainer(family=[Families.LLAMA], phase="sft").

A setting says one of the words (phase: sft), or one that only one other registration joins with it: of
@register_config(family="llama", arch="llama-7b") the setting arch: llama-7b says llama, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, Function, Index
from trainsleuth.facts.reading.scopes import bindings

from ..recipe.constants import constant_text
from ..recipe.recipes import Choice, Setting
from .filled_registries import Registry, lookups
from .tables import Table

Thing = Class | Function
MIN_LETTERS = 3  # of a word that is no switch


class _Registration(NamedTuple):
    """`words` are the sets that the decorator files it under, each with the name of its parameter."""

    thing: Thing
    words: tuple[tuple[str, frozenset[str]], ...]


def by_labels(index: Index, settings: Iterable[Setting]) -> Iterator[Choice]:
    """The one thing of each such registry that the settings choose by all the words that it is filed under."""
    filed = _filed(index)
    if not any(len(one.words) > 1 for found in filed.values() for one in found):
        return
    said = _said(settings, filed)
    joined = _joined(filed, said)
    for filler, found in filed.items():
        fits = [one for one in found if all(_meant(name, words, said, joined) for name, words in one.words)]
        first = next(_settings_of(fits[0], said, joined), None) if len(fits) == 1 < len(found) else None
        if first is not None:
            kind = filler.name.removeprefix("register_")
            sites = [(site.function, site.call.line) for site, _, _ in lookups(index, [Registry(kind, filler)])]
            entries = {f"{one.thing.path}:{one.thing.line}": one.thing for one in found}
            table = Table(entries, "", kind, sites[0] if sites else None)
            yield Choice(first.path, first.line, first.key, first.value, fits[0].thing, table, tuple(sites))


def _filed(index: Index) -> dict[Function, list[_Registration]]:
    """By the function of the project that files them; those of which all words are constants."""
    found: dict[Function, list[_Registration]] = {}
    things: list[Thing] = [*index.classes(), *index.functions()]
    for thing in things:
        for decorator in thing.decorators:
            if decorator.kind == "call" and decorator.last.startswith("register"):
                filler = index.resolve(index.files[thing.path].body, decorator.callee)
                words = tuple(_words(index, thing, decorator, filler)) if isinstance(filler, Function) else ()
                if isinstance(filler, Function) and words and all(some for _, some in words):
                    found.setdefault(filler, []).append(_Registration(thing, words))
    return found


def _words(index: Index, thing: Thing, decorator: Expr, filler: Function) -> Iterator[tuple[str, frozenset[str]]]:
    for place, parameter in enumerate(filler.parameters):
        given = decorator.argument(place, parameter.name)
        if given is not None:
            yield parameter.name, frozenset(one.lower() for one in _texts(index, index.files[thing.path].body, given))


def _texts(index: Index, body: Function, given: Expr) -> Iterator[str]:
    """A string or a constant, each of a list of them, all that a class of names holds: Families.names()"""
    if given.kind in ("list", "tuple", "set"):
        for part in given.parts:
            yield from _texts(index, body, part)
    elif given.kind == "call" and not given.arguments and given.receiver is not None:
        owner = index.resolve(body, given.receiver.text) if given.receiver.kind == "path" else None
        for bound in bindings(owner.body).values() if isinstance(owner, Class) else ():
            yield from (one.value.text for one in bound if one.value is not None and one.value.kind == "string")
    elif text := constant_text(index, body, given):
        yield text


def _said(settings: Iterable[Setting], filed: Mapping[Function, Sequence[_Registration]]) -> dict[str, list[Setting]]:
    """By word: the settings that say one under which something is filed."""
    known = {word for found in filed.values() for one in found for _, words in one.words for word in words}
    said: dict[str, list[Setting]] = {}
    for setting in settings:
        if (word := setting.value.lower()) in known and len(word) >= MIN_LETTERS:
            said.setdefault(word, []).append(setting)
    return said


def _joined(
    filed: Mapping[Function, Sequence[_Registration]], said: Mapping[str, Sequence[Setting]]
) -> dict[str, list[Setting]]:
    """Words that stand beside one that is said, in the only registration of its registry that has it."""
    joined: dict[str, list[Setting]] = {}
    for found in filed.values():
        for word, settings in said.items():
            having = [one for one in found if any(word in words for _, words in one.words)]
            if len(having) == 1 < len(found):
                for _, words in having[0].words:
                    if word not in words and len(words) == 1:
                        joined.setdefault(next(iter(words)), []).extend(settings)
    return joined


def _meant(
    name: str, words: frozenset[str], said: Mapping[str, Sequence[Setting]], joined: Mapping[str, Sequence[Setting]]
) -> bool:
    """A setting that is called like the parameter says one of the words; where none is, a word that is joined, or any."""
    called = {word for word, found in said.items() for one in found if one.key.rpartition(".")[2] == name}
    return bool(words & called) if called else not words.isdisjoint({*joined, *said})


def _settings_of(
    one: _Registration, said: Mapping[str, Sequence[Setting]], joined: Mapping[str, Sequence[Setting]]
) -> Iterator[Setting]:
    for _, words in one.words:
        for word in sorted(words):
            yield from (*said.get(word, ()), *joined.get(word, ()))
