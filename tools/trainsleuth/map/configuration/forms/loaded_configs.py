"""Classes of settings whose values come with the weights that are loaded: Net.from_pretrained(path) reads its NetConfig."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, Function, Index, Site, bindings

from ...drawing.statements import enclosing
from ...program import Program
from ...recipe.branches import Settled, is_not_chosen
from ..records import Key

_BASES = (".PretrainedConfig", ".PreTrainedConfig")


def loaded_configs(program: Program) -> frozenset[Class]:
    """Those that reached code gets from a saved model, and makes no object of itself."""
    index = program.index
    configs = {cls for cls in index.classes() if any(base.endswith(_BASES) for base in index.external_bases(cls))}
    loaded = {cls for site in _sites(program, "from_pretrained") for cls in _read(index, site)} if configs else set()
    return frozenset(cls for cls in loaded & configs if not _is_made(program, cls))


def is_default_of(index: Index, key: Key, classes: frozenset[Class]) -> bool:
    """A parameter of the constructor of one of them gives the value."""
    source = key.source
    file = index.files.get(source.path) if source is not None and source.how == "default" and classes else None
    init: Function | None = enclosing(file, source.line) if file is not None and source is not None else None
    return init is not None and init.name == "__init__" and index.class_of(init) in classes


def _sites(program: Program, name: str) -> Iterator[Site]:
    for site in program.index.calls(name):
        settled = Settled(program.values.known.settings, program.index, site.function)
        if program.is_reached(site.function) and not is_not_chosen(site.event, settled):
            yield site


def _read(index: Index, site: Site) -> Iterator[Class]:
    """The class of settings itself, or the one that the model names as its own."""
    receiver = site.call.receiver
    cls = index.resolve(site.function, receiver.text) if receiver is not None and receiver.kind == "path" else None
    for one in index.lineage(cls) if isinstance(cls, Class) else ():
        yield one
        for binding in bindings(one.body).get("config_class", ()):
            held = index.resolve(one.body, binding.value.text) if binding.value is not None else None
            if isinstance(held, Class):
                yield held


def _is_made(program: Program, cls: Class) -> bool:
    return any(program.index.resolve(site.function, site.call.callee) is cls for site in _sites(program, cls.name))
