"""Settings of a Sacred experiment: names that functions under @ex.config bind, and under @ex.named_config where named; what
ex.add_config(lr=0.1) and ex.add_named_config("small", width=8) are given."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from trainsleuth.facts import Class, Expr, Function, Index, Site

from ...launching.command_words import words_behind
from ...naming.only_values import Held, held_by_variable, only_value
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


def added_settings(index: Index, loaded: Collection[str], command: str) -> Iterator[Setting]:
    """What calls add to the experiment, under names only where `command` says them; the last that sets a key wins."""
    named: dict[str, Site] = {}
    plain: list[Site] = []
    for site in index.calls(_ADDS, _ADDS_NAMED):
        if site.function.path in loaded and _is_of_sacred(index, site.function.path, site.call):
            first = site.call.arguments[0] if site.call.arguments else None
            if site.call.last == _ADDS:
                plain.append(site)
            elif first is not None and first.kind == "string":
                named[first.text] = site
    words = words_behind(command)
    latest: dict[str, Setting] = {}
    for site in (*plain, *(named[word] for word in words if word in named)):
        latest.update((one.key, one) for one in _added(index, site, named))
    yield from latest.values()


def _added(index: Index, site: Site, named: Mapping[str, Site]) -> Iterator[Setting]:
    """Keywords, tables, and what another call has added under a name: **ex.named_configs["base"]()"""
    for part in site.call.parts[1:]:
        value = part.parts[0] if part.kind in ("keyword", "doublestar") else part
        below = _named_in(value) if part.kind == "doublestar" else ""
        if below in named and named[below] is not site:
            yield from _added(index, named[below], {name: one for name, one in named.items() if name != below})
        elif part.kind == "keyword" or value.kind == "dict":
            function, table = _followed(index, site.function, value)
            for key, inner in flat(table, part.text if part.kind == "keyword" else ""):
                yield Setting(function.path, inner.line, key, text_of(inner))


def _named_in(expr: Expr) -> str:
    """ "base" of ex.named_configs["base"]()"""
    asked = expr.parts[0] if expr.kind == "call" else expr
    is_named = asked.kind == "index" and len(asked.parts) == 2 and asked.parts[0].last == "named_configs"
    return asked.parts[1].text if is_named and asked.parts[1].kind == "string" else ""


def _followed(index: Index, function: Function, value: Expr) -> Held:
    """A name at the top of a file that is bound once, to a table: that table, where it stands."""
    held = held_by_variable(index, function, value)
    return held if held is not None and held[1].kind in ("dict", "call") else (function, value)


_ADDS, _ADDS_NAMED = "add_config", "add_named_config"


def _is_of_sacred(index: Index, path: str, decorator: Expr) -> bool:
    """Its file imports sacred, or what decorates is an object of a class that inherits from there."""
    if any(entry.module == "sacred" for entry in index.files[path].imports):
        return True
    holder = (decorator.callee or decorator.text).rpartition(".")[0]
    body = index.files[path].body
    made = only_value(body, holder)
    cls = index.resolve(body, made.callee) if made is not None and made.callee else None
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
