"""Settings of a Sacred experiment: names that functions under @ex.config bind, and under @ex.named_config where named."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from trainsleuth.facts import Class, Expr, Function, Index, bindings

from ...launching.command_words import words_behind
from ...recipe.recipes import Choice, Setting
from .literals import flat, text_of


def experiment_configs(index: Index, loaded: Collection[str], command: str) -> tuple[Function, ...]:
    """Functions that configure the experiment, in the order in which they apply; `command` names some of them."""
    words = words_behind(command)
    plain: list[Function] = []
    named: dict[str, Function] = {}
    for path in sorted(loaded):
        for function in index.files[path].functions.values():
            for decorator in function.decorators:
                if decorator.last in _CONFIGURES and _is_of_sacred(index, path, decorator):
                    if decorator.last == "config":
                        plain.append(function)
                    else:
                        named[function.name] = function
    return (*plain, *(named[word] for word in words if word in named))


_CONFIGURES = ("config", "named_config")


def _is_of_sacred(index: Index, path: str, decorator: Expr) -> bool:
    """Its file imports sacred, or what decorates is an object of a class that inherits from there."""
    if any(entry.module == "sacred" for entry in index.files[path].imports):
        return True
    holder = (decorator.callee or decorator.text).rpartition(".")[0]
    bound = bindings(index.files[path].body).get(holder, ())
    made = bound[0].value.callee if len(bound) == 1 and bound[0].value is not None else ""
    cls = index.resolve(index.files[path].body, made) if made else None
    return isinstance(cls, Class) and any(one.startswith("sacred.") for one in index.external_bases(cls))


def experiment_settings(functions: Collection[Function]) -> Iterator[Setting]:
    """What they bind, the last that binds a name winning."""
    latest: dict[str, Setting] = {}
    for function in functions:
        for event in function.events:
            if event.kind == "assign" and event.value is not None:
                for target in event.targets:
                    if target.kind == "path" and target.text.isidentifier():
                        for key, value in flat(event.value, target.text):
                            latest[key] = Setting(function.path, value.line, key, text_of(value))
    yield from latest.values()


def experiment_choices(functions: Collection[Function]) -> Iterator[Choice]:
    yield from (Choice(one.path, one.line, "experiment", one.name, one) for one in functions)
