"""Which section of the configuration a settings class stands for: optimization.lr is OptimizationConfig.lr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, Event, Expr, Function

from ...program import Program
from .fields import is_settings_class

MAX_DEPTH = 8  # of sections in sections


def sections(program: Program) -> Mapping[str, tuple[str, ...]]:
    """Name of a settings class -> the sections that it fills.

    One for a field of a root class and for what is chosen by a name; for what `_target_` makes, each that has it.
    """
    found: dict[str, tuple[str, ...]] = {}
    for cls, section in (*_chosen(program), *_of_roots(program)):
        for one in program.index.lineage(cls):
            found.setdefault(one.name, (section,))
    for cls, section in _made_by_target(program):
        for one in program.index.lineage(cls):
            found[one.name] = tuple(dict.fromkeys((*found.get(one.name, ()), section)))
    return found


def _made_by_target(program: Program) -> Iterator[tuple[Class, str]]:
    """`_target_: pkg.config.ActorConfig` in a section that fills the fields of that class."""
    for choice in program.choices:
        section, _, last = choice.key.rpartition(".")
        if last == "_target_" and section and isinstance(choice.target, Class):
            if is_settings_class(program, choice.target):
                yield choice.target, section


def _chosen(program: Program) -> Iterator[tuple[Class, str]]:
    """@register_model("hubert", dataclass=HubertConfig), when the recipe says model._name: hubert."""
    for choice in program.choices:
        section = choice.key.rpartition(".")[0]
        if choice.target is None or not section:
            continue
        for decorator in choice.target.decorators if isinstance(choice.target, Class | Function) else ():
            for part in decorator.parts[1:] if decorator.kind == "call" else ():
                cls = _class(program, choice.target, part.parts[0]) if part.kind == "keyword" else None
                if cls is not None:
                    yield cls, section


def _class(program: Program, thing: Class | Function, value: Expr) -> Class | None:
    body = program.index.files[thing.path].body
    found = program.index.resolve(body, value.text) if value.kind == "path" else None
    return found if isinstance(found, Class) else None


def _of_roots(program: Program) -> Iterator[tuple[Class, str]]:
    """Fields of a class whose value is made by another: optimization: OptimizationConfig = OptimizationConfig()."""
    made: dict[Class, tuple[Class, str]] = {}
    for path in sorted(program.entry.reach.files):
        for cls in program.index.files[path].classes.values():
            for event in cls.body.events:
                inner = _made(program, cls, event)
                if inner is not None and inner is not cls:
                    made.setdefault(inner, (cls, event.targets[0].text))
    for cls in made:
        yield cls, ".".join(_path(cls, made))


def _path(cls: Class, made: Mapping[Class, tuple[Class, str]]) -> list[str]:
    words: list[str] = []
    for _ in range(MAX_DEPTH):
        if cls not in made:
            break
        cls, word = made[cls]
        words.insert(0, word)
    return words


def _made(program: Program, cls: Class, event: Event) -> Class | None:
    if event.kind != "assign" or not event.text or event.value is None or event.value.kind != "call":
        return None
    call = event.value
    name = call.parts[0]
    if call.last in ("field", "Field"):
        given = call.argument(0, "default", "default_factory")
        if given is None:
            return None
        name = given.parts[0] if given.kind in ("call", "lambda") and given.parts else given
        name = name.parts[0] if name.kind == "call" else name
    return _class(program, cls, name)
