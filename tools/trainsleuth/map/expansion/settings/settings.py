"""The settings that decide one component, section by section: what a recipe builds, and each value with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainsleuth.facts import MODULE_BODY, Index
from trainsleuth.facts.memo import kept_per_index

from ...configuration import Key, Truth, is_settings
from ...drawing.statements import enclosing, is_class_body
from ...program import Program
from ...recipe.recipes import Choice, refers_to
from ..blocks.writing import Block
from .kinds import kind_of
from .lines import MOST, line_of
from .pipelines import Pipeline, pipelines
from .replacing import replaced_at
from .sections import OF, TELLING, Section, is_set, section_of
from .unset import defaults_of


def blocks(truth: Truth, component: str, home: Mapping[str, str]) -> Iterator[tuple[Block, bool]]:
    """One block for each section that decides the component, the most telling first; whether files or commands set it.

    `home` is the part of keys whose names do not tell.
    """
    if component not in OF:
        return
    shown: set[str] = set()
    lists = list(pipelines(truth))
    unsaid: list[tuple[int, str]] = []
    for place, (pipeline, rank) in enumerate(_lists(lists, component)):
        item = {"section": pipeline.name, "keys": [key.to_dict() for key in pipeline.items]}
        yield Block(("# settings",), (-len(lists) + place,), (f"  {pipeline.line(truth)}",), item), rank >= TELLING
        if rank >= TELLING and _ELSEWHERE.search(pipeline.name) is None:
            unsaid.append((-len(lists) + place, pipeline.defaults(truth)))
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
        built = section.built
        kind = kind_of(truth, built) if built is not None else None
        if built is not None and kind in (component, ""):
            text = defaults_of(truth, built, section.name)
            if kind == component and 0 < len(text) <= SHORT:
                yield _default(place, text), section.rank >= TELLING
            else:
                unsaid.append((place, text))
    told: set[str] = set()
    for place, text in unsaid:
        if text and text not in told:
            told.add(text)
            yield _default(place, text), True


SHORT = 300  # characters of defaults that stand at once below what they belong to


def _default(place: int, text: str) -> Block:
    return Block(("# settings",), (place, 1), (f"    default: {text}",), {"section": "", "defaults": text})


_HOLDS = ("_conf", "_config", "_cfg", "_args", "_kwargs", "_params")


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
    chosen = {
        one.key.rpartition(".")[0]: one for one in truth.program.choices if "." in one.key and _is_ours(truth, one)
    }
    held: dict[str, list[Key]] = {}
    for key in truth.keys:
        if key.source is not None and not key.name.endswith((".!new", ".!name")) and not is_of_others(truth, key):
            held.setdefault(_section_of(key, chosen), []).append(key)
    for name in chosen:
        held.setdefault(name, [])
    for choice in truth.program.choices:  # encoder: A, with its arguments in encoder_conf
        chosen.update({name: choice for end in _HOLDS if (name := f"{choice.key}{end}") in held and choice.target})
    left = set(_alternatives(held))
    left.update(name for name in held for one in lists if name.startswith(f"{one.name}."))
    found = [
        section_of(truth, component, pattern, name, keys, chosen.get(name))
        for name, keys in held.items()
        if name not in left
    ]
    return sorted((one for one in found if one is not None), key=lambda one: -one.rank)


def _is_ours(truth: Truth, choice: Choice) -> bool:
    """With a recipe: not a table at the top of a file that is no setting of this program."""
    program = truth.program
    if not program.told or choice.path in (*program.config_paths, program.entry.path):
        return True
    file = program.index.files.get(choice.path)
    function = enclosing(file, choice.line) if file is not None else None
    return function is None or (function.name != MODULE_BODY and program.is_reached(function))


def is_of_others(truth: Truth, key: Key) -> bool:
    """A default in code that no part of the program runs, or of a class of which it makes no object."""
    source, program = key.source, truth.program
    file = program.index.files.get(source.path) if source is not None and source.how == "default" else None
    if not program.told or file is None or source is None:
        return False
    if source.path in program.config_paths:
        return False
    if source.path not in program.entry.reach.files:
        return True  # of another program
    if program.config_paths and is_settings(source.path, file) and not _is_imported(program, source.path):
        return True  # another recipe
    function = enclosing(file, source.line)
    cls = file.classes.get(function.owner) if program.values.objects.made else None
    if cls is not None and cls not in program.constructed:
        return True  # a configuration object that nobody makes
    return not (function.name == MODULE_BODY or is_class_body(file, function) or program.is_reached(function))


def _is_imported(program: Program, path: str) -> bool:
    """Code of the program takes names from a file of settings."""
    files = program.index.files
    ours = (one for one in importers(program.index).get(path, ()) if one in program.entry.reach.files)
    return any(not is_settings(one, files[one]) for one in ours)


@kept_per_index
def importers(index: Index) -> Mapping[str, tuple[str, ...]]:
    """By a file, those that import a name from it."""
    found: dict[str, dict[str, None]] = {}
    for path, file in index.files.items():
        for entry in file.imports:
            module = index.names.module(path, entry.module, entry.level) if entry.name else None
            if module is not None and module.path:
                found.setdefault(module.path, {})[path] = None
    return {path: tuple(by) for path, by in found.items()}


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
