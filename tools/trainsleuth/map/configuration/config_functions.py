"""Configuration that a Python function builds: config.training.lr = 2e-4 in get_config()."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainsleuth.facts import ConfigValue, FileFacts, Function

from .literals import text_of

_BUILDS = re.compile(r"^(?:get_)?(?:default_)?configs?$|^get_\w*config\w*$")
_OBJECT = ("config", "cfg", "c", "conf")
MAX_BASES = 3


def built_settings(
    files: Mapping[str, FileFacts], path: str, file: FileFacts, hops: int = MAX_BASES
) -> dict[str, ConfigValue]:
    """Every value that the function of the file sets, over those of the function that it starts from; {} for none."""
    for function in file.functions.values():
        if _BUILDS.match(function.name) and not function.self_name:
            table = dict(_of_base(files, file, function, hops)) if hops else {}
            table.update(set_in(function))
            if table:
                return table
    return {}


def _of_base(
    files: Mapping[str, FileFacts], file: FileFacts, function: Function, hops: int
) -> Iterator[tuple[str, ConfigValue]]:
    """What the function that gives the object sets; its lines are of another file, so only what is overridden counts."""
    called = {call.callee for event in function.events if event.kind == "assign" for call in event.calls}
    for entry in file.imports:
        if entry.alias in called and _BUILDS.match(entry.name):
            base = f"{entry.module.replace('.', '/')}.py"
            if base in files:
                line = next(event.line for event in function.events if event.kind == "assign")
                for key, value in built_settings(files, base, files[base], hops - 1).items():
                    yield key, ConfigValue(value.value, line)


def set_in(function: Function) -> Iterator[tuple[str, ConfigValue]]:
    """What a function sets of the object that it calls config, cfg, conf or c."""
    names = dict.fromkeys(_OBJECT, "")
    for event in function.events:
        if event.kind != "assign" or event.value is None:
            continue
        keys = [key for target in event.targets if (key := _key(target.text, names)) is not None]
        if event.value.kind == "path" and (section := _key(event.value.text, names)):
            names.update((target.text, section) for target in event.targets if target.text.isidentifier())
        elif event.value.kind == "call":
            section = next(filter(None, keys), "")
            names.update((t.text, section) for t in event.targets if section and t.text.isidentifier())
        else:
            for key in keys:
                if key:
                    yield key, ConfigValue(text_of(event.value), event.line)


def _key(text: str, names: Mapping[str, str]) -> str | None:
    """The key that a dotted name means; None when it is none of the object's."""
    head, _, rest = text.partition(".")
    return ".".join(filter(None, (names[head], rest))) if head in names else None
