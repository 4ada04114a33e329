"""Settings that hold the very name of a class, where no table was read that maps it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import NamedTuple

from trainsleuth.facts import Class, External, Function, Index

from ..loop.steps import is_optimizer
from ..programs.running import is_guarded
from ..programs.sidelines import NEVER
from ..recipe.choices import behind_folder, dotted
from ..recipe.recipes import Choice, Setting
from .labelled import labelled
from .made_in_arms import makes_another
from .named_choice import NO_NAMES, marks, plain
from .tables import Table

_CHOOSES = re.compile(
    r"(?:^|[._])(?:model|net|network|arch|architecture|backbone|dataset|data|method|algo|algorithm|trainer|learner|agent|policy|"
    r"loss|criterion|optimizer|scheduler|generator|discriminator|encoder|decoder|runner|engine|task|env|type|name|class)(?:_(?:name|type|class|cls))?$",
    re.I,
)
_TAG = re.compile(
    r"(?:^|[._])(?:type|kind|plugin|extension|task|algo|algorithm|method|trainer)(?:_(?:name|type))?$", re.I
)
_LABELS = re.compile(r"(?:^|[._])(?:project|group|run|job|session|exp\w*|title|author|desc\w*|wandb|log\w*|file|path|dir|tags?|entity)(?:_name|_id)?$", re.I)  # fmt: skip
MIN_NAME = 3  # letters


def named_outright(
    index: Index,
    given: Iterable[Setting],
    taken: Iterable[Choice],
    loaded: Collection[str],
    known: Mapping[str, Collection[Table]],
) -> Iterator[Choice]:
    """Settings whose value is the name of one class, or of one registered function, that the program may load.

    Of `known` tables the registries count: what is registered under the value.

    No table was read that says so: the program finds it by getattr, by an import under a name, by a decorator.
    """
    before = list(taken)
    done = {(choice.path, choice.line, choice.key) for choice in before}
    kinds = {choice.table.kind for choice in before if choice.table is not None}
    loadable = {path for path in loaded if path in index.files and not _is_program(index, path)}
    names = _Names(_by_name(index, loadable), labelled(index), _marked(index, loadable), known, frozenset(kinds))
    latest: dict[str, list[Choice]] = {}
    for setting in given:
        value = setting.value.strip("'\"")
        if (setting.path, setting.line, setting.key) in done:
            latest.pop(setting.key, None)  # it overrides what was set before
            continue
        if _LABELS.search(setting.key):
            continue
        if "." in value and (written_out := _written_out(index, setting.key, value)) is not None:
            latest[setting.key] = [Choice(setting.path, setting.line, setting.key, value, written_out)]
        elif value.endswith(")") and (made := [names.only(name) for name in _MADE.findall(value[:2000])]):
            every = (one for one in made if one is not None)
            latest[setting.key] = [Choice(setting.path, setting.line, setting.key, one.name, one) for one in every]
        elif len(value) >= MIN_NAME and value.replace("-", "_").isidentifier():
            found = names.of(setting.key, value)
            if len(found) == 1 and _fits(index, setting, found[0], loaded):
                latest[setting.key] = [Choice(setting.path, setting.line, setting.key, value, found[0])]
    yield from chain.from_iterable(latest.values())


def _written_out(index: Index, key: str, value: str) -> Class | None:
    """The class that `value` names with its module, whole or, of a choice, behind a package that code puts before it."""
    found = dotted(index, value)
    if isinstance(found, External) and _CHOOSES.search(key):
        found = behind_folder(index, value)
    return found if isinstance(found, Class) else None


_MADE = re.compile(r"\b([A-Z]\w+)\(")  # in an expression that is evaluated: "ConfLoss(Regr3D(L21), alpha=0.2)"


_OPTIMIZER = re.compile(r"(?:^|[._])(?:optim|optimizer)(?:_(?:name|type|class|cls))?$", re.I)


def _fits(index: Index, setting: Setting, named: Class | Function, loaded: Collection[str]) -> bool:
    """A namesake of an optimizer may be something else: a learner that is called Sgd. Nobody makes what is abstract, and
    code that asks for the very name may make another one for it."""
    if not isinstance(named, Class):
        return True
    if _is_abstract(named) or makes_another(index, setting, named, loaded):
        return False
    if _OPTIMIZER.search(setting.key) is None:
        return True
    return is_optimizer(index, named) or "optim" in f"{named.path} {named.name}".lower()


def _is_abstract(cls: Class) -> bool:
    return any(one.last == "abstractmethod" for method in cls.methods.values() for one in method.decorators)


class _Names(NamedTuple):
    """What a value may name. `kinds` are those of registries that settings have chosen from already."""

    by_name: Mapping[str, Sequence[Class | Function]]
    by_label: Mapping[str, Sequence[Class]]
    by_mark: Mapping[str, Sequence[Class | Function]]
    tables: Mapping[str, Collection[Table]]
    kinds: frozenset[str]

    def only(self, name: str) -> Class | Function | None:
        """The only class of that very name."""
        found = self.by_name.get(name, ())
        return found[0] if len(found) == 1 else None

    def of(self, key: str, value: str) -> Sequence[Class | Function]:
        """The first of these that holds any: a name letter by letter, but for case and bars, registered, a label, a mark."""
        chooses = _CHOOSES.search(key) is not None
        found = self.by_name.get(value, ()) if chooses or not value.islower() else ()
        if not found and chooses and plain(value) not in NO_NAMES:
            found = self.by_name.get("=" + plain(value), ())
        if not found and chooses:
            tables = [one for one in self.tables.get(value, ()) if one.kind and one.kind not in self.kinds]
            found = list({one for table in tables if isinstance(one := table.entries[value], Class | Function)})
        if not found and _TAG.search(key) and value not in NO_NAMES:
            found = self.by_label.get(value, ())
        if not found and value not in self.tables and (chooses or _TAG.search(key)):
            found = self.by_mark.get(value, ())
        return found


def _by_name(index: Index, loadable: Collection[str]) -> Mapping[str, list[Class | Function]]:
    """Classes and registered functions of these files by their names, and behind "=" without case and bars."""
    found: dict[str, list[Class | Function]] = {}
    for cls in index.classes():
        if cls.path in loadable and not NEVER.search(cls.path):
            found.setdefault(cls.name, []).append(cls)
            found.setdefault("=" + plain(cls.name), []).append(cls)
    for path in loadable:
        for function in index.files[path].functions.values():
            if any("regist" in decorator.last for decorator in function.decorators):
                found.setdefault(function.name, []).append(function)
        if (standing := _of_module(index, path)) is not None:
            found.setdefault("=" + plain(PurePosixPath(path).stem), []).append(standing)
    return found


def _marked(index: Index, loadable: Collection[str]) -> Mapping[str, list[Class | Function]]:
    """By what a decorator is given, of a registry that was not read: @register("dreamfusion-system")."""
    found: dict[str, list[Class | Function]] = {}
    for path in loadable:
        file = index.files[path]
        every: list[Class | Function] = [*file.classes.values(), *file.functions.values()]
        for code in every:
            for mark in marks(code) if any("regist" in one.last for one in code.decorators) else ():
                found.setdefault(mark, []).append(code)
    return found


def _is_program(index: Index, path: str) -> bool:
    """Started on its own: nobody loads it under a name."""
    return any(is_guarded(event) for event in index.files[path].body.events)


def _of_module(index: Index, path: str) -> Class | None:
    """The class that stands for its file: Model in PatchTST.py."""
    classes = index.files[path].classes
    return next((classes[name] for name in _PLAIN_NAMES if name in classes), None)


_PLAIN_NAMES = ("Model", "get_model", "Net", "Network")


def asked_in_code(index: Index, functions: Iterable[Function], chosen: Iterable[Choice]) -> Iterator[Setting]:
    """Names that code falls back on: getattr(models, config.get("generator_type", "HiFiGAN")); those that fields of
    classes have by default: model_class_type: str = "GenericModel"."""
    owners = {one.target: None for one in chosen if isinstance(one.target, Class)}
    for function in functions:
        if function.owner and (owner := index.class_of(function)) is not None:
            owners.update(dict.fromkeys(index.lineage(owner)))
        for event in function.events:
            for call in event.calls:
                if call.last in ("get", "getattr", "setdefault", "pop") and len(call.arguments) > 1:
                    key, value = call.arguments[-2:]
                    if value.kind == "string" and key.kind == "string":
                        yield Setting(function.path, value.line, key.text, value.text)
    yield from _fields(index, list(owners))


def _fields(index: Index, owners: list[Class]) -> Iterator[Setting]:
    """Names that stand in fields of these classes, and in those of the classes that they name.

    A class that says its own name chooses nothing.
    """
    named: dict[str, list[Class]] = {}
    for cls in owners:  # grows
        for event in cls.body.events if cls.body.source.holds(_FIELD) else ():
            value = event.value if event.kind == "assign" else None
            if value is not None and value.kind == "string" and value.text[:1].isupper() and value.text != cls.name:
                yield from (Setting(cls.path, event.line, one.text, value.text) for one in event.targets)
                if not named:
                    for other in index.classes():
                        named.setdefault(other.name, []).append(other)
                found = named.get(value.text, ())
                owners.extend(one for one in found if len(found) == 1 and one not in owners)


_FIELD = re.compile(rb"_(?:type|class|cls|name)\b[^\n=]{0,200}=\s*[\"'][A-Z]\w+[\"']")
