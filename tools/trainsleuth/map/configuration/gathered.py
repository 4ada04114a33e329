"""What definitions, files, the launch command and code say of every key, before it is asked which of it applies."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from trainsleuth.facts import Class

from ..launching.launch import Command
from ..program import Program
from .forms.engines import engine_settings
from .forms.fields import fields, of_class, of_constructed
from .forms.handed import arguments
from .forms.lists import together
from .forms.named_by_chosen import named_by_chosen
from .forms.options import options
from .forms.sections import sections
from .forms.unpacked import taken_out, unpacked
from .forms.whole import made_of_all
from .records import NO_VALUE, ORDER, REQUIRED, Definition, Key, Layer
from .values.absent import absent
from .values.come_to_be import replaced_fields
from .values.fallbacks import fallbacks
from .values.kept_fields import kept_fields
from .values.overrides import names_given, of_code, of_command
from .values.unset_attributes import unset

_NOT_KEYS = re.compile(
    r"^(?:defaults(?:\.\d.*)?$|hydra\.|_base_|_BASE_$|default_scope$)|(?:.*\.)?(?:_+comments?\w*|_(?:convert|recursive|partial)_|//.*)$"
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_IS_CLASS = re.compile(r"^(?!(?:None|True|False)$)[A-Z]\w*[a-z]\w*(?:\(\))?$")


@dataclass
class Gathered:
    """What is known of every key while it is put together."""

    layers: dict[str, list[Layer]]
    constants: set[str]
    about: dict[str, str]
    flags: dict[str, str]
    negated: dict[str, str]
    fields: set[str] = field(
        default_factory=set
    )  # of classes and tables of which it is not known which section fills them
    recipes: frozenset[str] = frozenset()  # names that hold the whole recipe
    absent: set[str] = field(default_factory=set)  # keys that code asks of the recipe, which does not have them

    def key(self, name: str) -> Key:
        ordered = tuple(sorted(self.layers[name], key=lambda layer: ORDER.index(layer.how)))
        return Key(name, ordered, (), "unknown", "", self.about.get(name, ""))


def gathered_for(program: Program, launch: Command | None) -> Gathered:
    """All that definitions, files, the command and code say of each key, in whatever branch the code stands."""
    filled = unpacked(program)
    made = {cls.name: found for cls, found in program.values.objects.made.items()}
    offered = list(options(program))
    named = _without_offered(named_by_chosen(program), {one.name for one in offered})
    under = {cls.name: (name,) for cls, name in named.items() if name}
    known = {
        **under,
        **made_of_all(program),
        **{cls.name: found for cls, found in filled.items()},
        **sections(program),
        **made,
    }
    fields_of = chain.from_iterable(taken_out(cls) for cls in filled)
    classes = _that_count(program, known, named)
    engines = list(engine_settings(program))
    defined = [*engines, *offered, *of_constructed(program), *classes, *fields_of, *arguments(program)]
    defined = list(_without_handed_on(list(_unique(defined))))
    kept = kept_fields(program, defined, names_given(program, launch))
    defined = [one for one in defined if one not in kept]
    gathered = Gathered({}, set(), {}, {}, {})
    _define_all(gathered, defined, known)
    parameters = frozenset(filter(None, named.values()))  # their names are no sections of files
    fixed = set(chain.from_iterable(known.values())) - parameters
    meant = _of_files(program, gathered.layers, fixed, set(gathered.flags.values()), parameters)
    _define_rest(program, gathered)
    _without_sections(program, gathered)
    given = of_command(program, launch, gathered.flags, gathered.negated)
    command = [(meant.get(name, name), layer) for name, layer in given]
    _without_copies(gathered, defined, {name for name, _ in command})
    _override(program, gathered, command, {(one.path, one.line) for one in defined})
    return gathered


def _define_all(gathered: Gathered, defined: Sequence[Definition], known: Mapping[str, tuple[str, ...]]) -> None:
    """What code defines. A class of settings of which no section is known leaves its fields without one."""
    groups: dict[str, set[str]] = {}
    for one in defined:
        groups.setdefault(one.name, set()).add(one.group)
    for one in defined:
        for name in _names(one, groups, known):
            _define(gathered, one, name)
            if one.group not in ("", "node", "constant", *known):
                gathered.fields.add(name)


def _define_rest(program: Program, gathered: Gathered) -> None:
    """What only a reader knows of: the value it falls back to, what nothing sets, what the recipe does not have."""
    layers = gathered.layers
    ends = {end for name in layers for end in (name.rpartition(".")[2], ".".join(name.split(".")[-2:]))}
    ends.update(
        section for name in layers for section in name.split(".")[:-1]
    )  # cfg.get("val", False), and val: is one
    for one in fallbacks(program):
        if one.name not in ends:
            _define(gathered, one, one.name)
    for one in unset(program):
        if all(layer.value == REQUIRED for layer in layers.get(one.name, ())):
            _define(gathered, one, one.name)
    if program.told:
        without = absent(program.index, program.entry.reach.distance, program.settings)
        gathered.recipes = without.holders
        for one in without.keys:
            if one.name not in layers:
                _define(gathered, one, one.name)
                gathered.absent.add(one.name)
    gathered.flags.update({flag: flag for flag, name in gathered.flags.items() if flag != name and flag in layers})


def _override(
    program: Program, gathered: Gathered, command: Sequence[tuple[str, Layer]], defined: Container[tuple[str, int]]
) -> None:
    """What code sets later, the command gives, and code then replaces."""
    layers = gathered.layers
    for name, layer in (*of_code(program, layers), *command):
        if layer.how == "code" and (layer.path, layer.line) in defined:
            continue
        below = layers.setdefault(_same(name, layers), [])
        below.append(layer._replace(certain=layer.certain or _is_given(layer, below)))
    for name, layer in list(replaced_fields(program, layers)):
        layers[name].append(layer)


def _is_given(layer: Layer, below: Iterable[Layer]) -> bool:
    """A variable of the shell in place of nothing: --pretrained_model ${MODEL}. Its value is unknown, and it has one."""
    return (
        layer.how == "command" and bool(_VARIABLE.fullmatch(layer.value)) and all(one.value in _NONE for one in below)
    )


_VARIABLE = re.compile(r"\$\{?[A-Za-z_]\w*\}?")
_NONE = ("None", *NO_VALUE)


def _without_offered(named: Mapping[Class, str], offered: Container[str]) -> dict[Class, str]:
    """Not a class of which most fields are options of the command line: these fill it."""
    fields = {cls: [one.name for one in of_class(cls)] for cls in named}
    return {cls: named[cls] for cls, names in fields.items() if 2 * sum(one in offered for one in names) < len(names)}


def _without_sections(program: Program, gathered: Gathered) -> None:
    """A field that is worth a class of settings is no key of its own where its section is known, nor is one that is
    nothing by default where somebody sets what is below it.
    """
    layers, above = gathered.layers, _sections_of(gathered.layers)
    filled = _sections_of(one.key for one in program.settings)
    ends = {one.rpartition(".")[2] for one in filled}
    for name in [name for name, found in layers.items() if all(layer.how == "default" for layer in found)]:
        is_class = name in above and all(_IS_CLASS.match(layer.value) for layer in layers[name])
        if is_class or name in filled or (name in gathered.fields and name in ends):
            del layers[name]


def _sections_of(names: Iterable[str]) -> set[str]:
    return {".".join(words[:end]) for words in (name.split(".") for name in names) for end in range(1, len(words))}


def _define(gathered: Gathered, one: Definition, name: str) -> None:
    gathered.layers.setdefault(name, []).append(Layer(one.how, one.path, one.line, one.value, one.certain))
    for flag in one.flags:
        gathered.flags.setdefault(flag, name)  # an option before the field of a class that it fills
    gathered.negated.update(dict.fromkeys(one.negated, name))
    if one.about:
        gathered.about[name] = one.about
    if one.group == "constant":
        gathered.constants.add(name)


def _without_copies(gathered: Gathered, defined: Iterable[Definition], given: Container[str]) -> None:
    """A field that is called like an option of the command line gets what the command gives: no key of its own."""
    plain = {one.name for one in defined if not one.group and one.name in given}
    for one in defined:
        if one.group and one.name in plain:
            gathered.layers.pop(f"{one.group}.{one.name}", None)


def _without_handed_on(defined: Sequence[Definition]) -> Iterator[Definition]:
    """Not alpha=args.alpha of a library's class, where alpha is a setting of its own."""
    own = {one.name for one in defined if not one.value.endswith(f".{one.name}")}
    yield from (one for one in defined if one.name not in own or not _is_attribute(one))


def _is_attribute(one: Definition) -> bool:
    return _DOTTED.fullmatch(one.value) is not None and one.value.endswith(f".{one.name}")


def _that_count(program: Program, known: Mapping[str, tuple[str, ...]], named: Iterable[Class]) -> Iterator[Definition]:
    """Fields; with a recipe that chooses, not those of classes that it did not choose."""
    chosen = set(chain.from_iterable(known.values())) & {
        section
        for section, _, last in (choice.key.rpartition(".") for choice in program.choices)
        if section and last != "_target_"
    }
    for one in fields(program, named):
        if not chosen or not program.told or one.group in ("", "node", "constant") or one.group in known:
            yield one


def _of_files(
    program: Program,
    layers: dict[str, list[Layer]],
    known: Container[str],
    options: Container[str],
    parameters: Container[str],
) -> Mapping[str, str]:
    """Adds what files set. A name that only one definition has is that one, unless it stands in another section, or
    it is an option of the command line and code reads the key of the section beside it. Of several the one counts that
    the chosen class gets under one of its `parameters`.

    Gives back under which name each key of the files is found.
    """
    meant: dict[str, str] = {}
    lasts: dict[str, list[str]] = {}
    for name in layers:
        lasts.setdefault(name.rpartition(".")[2], []).append(name)
    given = list(together(program.settings))
    keys = [setting.key for setting in given]
    built = tuple(f"{choice.key.rpartition('.')[0]}." for choice in program.choices if "." in choice.key)
    for setting in given:
        if _NOT_KEYS.match(setting.key):
            continue
        last = setting.key.rpartition(".")[2]
        name = setting.key
        own = [one for one in lasts.get(last, ()) if one.rpartition(".")[0] in parameters]
        defined = own or lasts.get(last, [])
        if name not in layers and len(defined) == 1 and (own or not name.startswith(built)):
            alike = {key for key in keys if key.rpartition(".")[2] == last}
            if len(alike) == 1 and defined[0].rpartition(".")[0] not in known:
                one = defined[0]
                name = name if one in options and not own and _is_read_in_its_section(program, name) else one
        meant[setting.key] = name
        layers.setdefault(name, []).append(Layer("file", setting.path, setting.line, setting.value))
    return meant


def _is_read_in_its_section(program: Program, key: str) -> bool:
    """cfg.launcher.nodes, launcher_conf["nodes"] for "launcher.nodes"."""
    section, _, last = key.rpartition(".")
    holder, name = (re.escape(one.encode()) for one in (section.rpartition(".")[2], last))
    read = re.compile(rb"%s(?:_\w+)?(?:\.%s\b|\[[\"']%s[\"']\]|\.get\([\"']%s[\"'])" % (holder, name, name, name))
    return bool(section) and any(function.source.holds(read) for function, _ in program.functions())


def _same(name: str, layers: Mapping[str, object]) -> str:
    """The key that a command or code means by `name`: itself, or the only one that ends in it."""
    if name in layers:
        return name
    name = name.replace("/", ".")
    ends = [one for one in layers if one.endswith(f".{name}")]
    return ends[0] if len(ends) == 1 else name


def _names(one: Definition, groups: Mapping[str, set[str]], known: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Its own name behind each of its sections; with its class before it when another definition has the same."""
    if one.group in known:
        yield from (f"{section}.{one.name}".lstrip(".") for section in known[one.group])
    elif one.group in ("", "node", "constant") or len(groups[one.name]) == 1:
        yield one.name
    else:
        yield f"{one.group}.{one.name}"


def _unique(found: Iterable[Definition]) -> Iterator[Definition]:
    seen: set[tuple[str, str, int]] = set()
    for one in found:
        if (mark := (one.name, one.path, one.line)) not in seen:
            seen.add(mark)
            yield one
