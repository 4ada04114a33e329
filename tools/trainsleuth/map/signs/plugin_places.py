"""What of a plug-in a reader looks for beside the classes: the imports that register them, sizes by name, what is logged."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class

from ..program import Program
from ..records import Place


def plugin_places(program: Program, component: str) -> Iterator[Place]:
    if program.plugin is not None and component in _BY_COMPONENT:
        yield from _BY_COMPONENT[component](program)


def _imports(program: Program) -> Iterator[Place]:
    """Lines of the package's own file that load what the library looks up."""
    for one in program.index.files[program.entry.path].imports:
        if one.level or one.module.partition(".")[0] in program.entry.path.split("/"):
            yield Place(program.entry.path, one.line, "registers", 0.9)


def _sizes(program: Program) -> Iterator[Place]:
    """Functions under a second name beside that of the network: they set its sizes."""
    for choice in program.choices:
        if isinstance(choice.target, Class):
            for function in program.index.files[choice.target.path].functions.values():
                named = (one.text for decorator in function.decorators for one in decorator.arguments[1:])
                if choice.value in named:
                    yield program.at_target(function, "sizes", 0.8)


def _logged(program: Program) -> Iterator[Place]:
    for cls in program.plugin.classes if program.plugin is not None else ():
        if "reduce_metrics" in cls.methods:
            yield program.at_target(cls.methods["reduce_metrics"], "logs", 0.7)


_BY_COMPONENT = {"entry_point": _imports, "config": _sizes, "logging": _logged}
