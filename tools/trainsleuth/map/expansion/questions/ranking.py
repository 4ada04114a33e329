"""What of a program answers some terms best: settings, and statements of the code that it runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...configuration.records import NO_VALUE
from .pages import Page, Pages, Setting
from .sources import Source
from .terms import Term, parts
from .units import Unit

FURTHER = 0.25  # what a second name of the same subject counts
AROUND = 0.3  # what a subject counts that the function speaks of, but not the statement
NAMED = 1.2  # what a subject counts that is in the name of the function
_HANDS_ON = re.compile(r"(?:self\.)?(\w+) = (?:[\w.]*\.)?\1$")
_BESIDE = re.compile(
    r"(?:^|[._])(?:validat(?:e|ing)_\w*(?:config|args)|convert|check|deprecat|migrat|compat|plot|log_plot)(?:_|$)"
)
TALKS = re.compile(
    r"\blog(?:ger|ging)?[._]|\bmsg\b|_str\b|print\(|warn|add_argument\(|help=|^(?:raise|assert)\b|^import |^from |^__|^\w*doc_\w+ = |plt\."
)


class Hit(NamedTuple):
    """The statement `place` of a page; `said` is what each subject that it holds is worth, `worth` all together."""

    page: Page
    place: int
    worth: float
    said: Mapping[int, float]


def best_settings(pages: Pages, terms: Sequence[Term]) -> list[tuple[float, Setting]]:
    """Those that somebody set or that the program reads, best first."""
    found = [one for one in pages.settings if one.is_set or not one.is_others]
    found = [one for one in found if not one.name.rpartition(".")[2].startswith("_") and one.value not in NO_VALUE]
    found = [one for one in found if one.is_set or one.value != one.name.rpartition(".")[2]]  # the name of a variable
    told = {one.name.rpartition(".")[2] for one in found if one.is_set}
    found = [one for one in found if one.is_set or one.is_left_out or one.name.rpartition(".")[2] not in told]
    count = Counter(part for one in found for part in set(one.name.split(".")[:-1]))
    shared = {part for part, times in count.items() if times > SHARED * len(found)}
    names = {one.name: parts(".".join(part for part in one.name.split(".") if part not in shared)) for one in found}
    rare = _rarity(terms, [names[one.name] for one in found])
    scored = [(_of_setting(one, names[one.name], terms, rare), one) for one in found]
    return sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1].name))


_TAGS = ("type", " target ", "name", "class path", "class name")  # what says what the section is
SHARED = 0.4  # of all keys: a section that holds so many tells nothing


def _of_setting(one: Setting, name: str, terms: Sequence[Term], rare: Mapping[Term, float]) -> float:
    above, _, last = name.rpartition(".")
    if last in _TAGS:
        last = above.rpartition(".")[2]
    worths: dict[int, list[float]] = {}
    for term in terms:
        if term.pattern.search(last):
            share = 1.0 if len(last) <= len(term.name) + 2 else 0.8
        elif term.pattern.search(name):
            share = 0.5
        elif one.line and term.pattern.search(parts(one.line)):
            share = 0.4
        elif term.pattern.search(parts(one.value)) or term.pattern.search(parts(one.about)):
            share = 0.3
        else:
            continue
        worths.setdefault(term.subject, []).append(share * term.worth * rare[term])
    total = sum(map(_together, worths.values())) * (OTHER_USE if _ELSEWHERE.search(one.name) else 1.0)
    total *= OFF if one.is_off else 1.0
    return (
        total
        * (1.0 if one.is_set or one.is_left_out else DEFAULT if one.reads else 0.5 * DEFAULT)
        * (0.6 if one.is_unread else 1.0)
    )


OTHER_USE = 0.7  # what a setting of validation or tests counts beside that of training
_ELSEWHERE = re.compile(r"(?:^|[_.])(?:test|val|valid|eval|infer|sample)(?:[_.]|$)")
OFF = 0.5  # what one counts in a section that is switched off
DEFAULT = 0.5  # what a value counts that nobody set


def _together(worths: Sequence[float]) -> float:
    best = max(worths)
    return best + FURTHER * min(1.0, sum(worths) - best)


def _rarity(terms: Sequence[Term], texts: Sequence[str]) -> dict[Term, float]:
    """1 for a term that one text has, near 0 for one that all have."""
    every = math.log(1 + len(texts))
    count = {term: sum(1 for text in texts if term.pattern.search(text)) for term in terms}
    return {term: math.log(1 + len(texts) / times) / every if times else 1.0 for term, times in count.items()}


def best_statements(source: Source, terms: Sequence[Term]) -> list[Hit]:
    """Statements of code that the program runs, best first."""
    spoken = source.spoken
    held = {term: spoken.with_term(term) for term in terms}
    every = math.log(1 + len(spoken.texts))
    rare = {term: math.log(1 + len(spoken.texts) / len(found)) / every for term, found in held.items() if found}
    worths: dict[int, dict[int, list[float]]] = {}
    for term, found in held.items():
        for one in found:
            worths.setdefault(one, {}).setdefault(term.subject, []).append(term.worth * rare[term])
    for term in terms:
        for one, score in source.roles.get(term.part, {}).items():
            worths.setdefault(one, {}).setdefault(term.subject, []).append(term.worth * score)
    known: dict[Page, list[tuple[int, dict[int, float]]]] = {}
    for one, said in worths.items():
        page, place = spoken.where[one]
        known.setdefault(page, []).append((place, {subject: _together(found) for subject, found in said.items()}))
    hits = [hit for page, found in known.items() for hit in _of_page(page, source, found, terms, rare)]
    return sorted(hits, key=lambda one: (-one.worth, one.page.path, one.place, one.page.line))


def _subjects(text: str, terms: Sequence[Term], rare: Mapping[Term, float]) -> dict[int, float]:
    worths: dict[int, list[float]] = {}
    for term in terms:
        if term in rare and term.pattern.search(text):
            worths.setdefault(term.subject, []).append(term.worth * rare[term])
    return {subject: _together(said) for subject, said in worths.items()}


def _of_page(
    page: Page,
    source: Source,
    known: Sequence[tuple[int, dict[int, float]]],
    terms: Sequence[Term],
    rare: Mapping[Term, float],
) -> Iterator[Hit]:
    around: dict[int, float] = {}
    for _, said in known if page.name and not page.is_class else ():
        for subject, worth in said.items():
            around[subject] = max(around.get(subject, 0.0), AROUND * worth)
    for subject, worth in _subjects(parts(page.name), terms, rare).items():
        around[subject] = max(around.get(subject, 0.0), NAMED * worth)
    idle = {note.line for note in page.notes if note.off}
    every = source.units(page)
    near = (
        (BASE + page.weight)
        * (BESIDE if _BESIDE.search(page.name) else 1.0)
        * (CHOSEN if page.is_chosen else 1.0)
        * (0.4 if page.off else 1.0)
    )
    for place, said in known:
        unit = every[place]
        is_idle = unit.line in idle or _leads_to(every, place) in idle
        aside = near * (0.35 if TALKS.search(unit.text) else 1.0) * (0.4 if is_idle else 1.0)
        aside *= (0.4 if _HANDS_ON.match(unit.text) else 1.0) / (1 + max(0, len(unit.text) - PLAIN) / LENGTH)
        if unit.line == page.line and page.name:
            aside *= 0.3 if page.is_class else 0.8
        whole = {**{subject: worth for subject, worth in around.items() if subject not in said}, **said}
        yield Hit(page, place, aside * sum(whole.values()), {one: aside * worth for one, worth in whole.items()})


def _leads_to(every: Sequence[Unit], place: int) -> int:
    """The line of the first statement under a test for one of several values; 0 for anything else."""
    below = every[place + 1] if place + 1 < len(every) and _TESTS.match(every[place].text) else None
    return below.line if below is not None and place in below.above else 0


_TESTS = re.compile(r"(?:el)?if [\w.]+ == (['\"])[^'\"]*\1:$")


def spread(hits: Sequence[Hit]) -> Iterator[Hit]:
    """The same in another order: what says of a subject what others have said before counts less."""
    left, told = list(hits), Counter[int]()
    while left:
        best = max(left, key=lambda one: sum(worth * AGAIN ** told[subject] for subject, worth in one.said.items()))
        left.remove(best)
        told.update(best.said.keys())
        yield best


AGAIN = 0.9  # of what a subject counts, with each statement on it
BASE = 0.4
BESIDE = 0.4  # of code that draws, warns or reads old inputs
PLAIN = 80  # characters of a statement of common length
LENGTH = 500  # beyond it, with so many more what it says counts half
CHOSEN = 1.3  # of code of the classes that a recipe names
