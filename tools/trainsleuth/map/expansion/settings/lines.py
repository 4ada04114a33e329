"""A section of the configuration as one line: what it builds, and each value with the line that sets it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from trainsleuth.facts.reading.config import BUILDING_TAGS

from ...configuration import Key, Layer, Truth
from ...drawing.wording import clean
from .sections import Section

MOST = 16  # values of a section that are shown
WIDTH = 70  # characters of one value


def line_of(truth: Truth, section: Section) -> str:
    built = section.built
    base = built.path if built is not None else _home(truth, section)
    said = [_value(truth, key, section, base) for key in section.keys[:MOST]]
    more = f", +{len(section.keys) - MOST} more" if len(section.keys) > MOST else ""
    text = _together(said) + more
    if built is None:
        name = "" if section.name.startswith("/") else f"{section.name} "
        return f"{name}{base}: {text}" if base else f"{name.strip() or 'the command'}: {text}"
    target = built.target
    what = f"{target.name} {target.path}:{target.line}" if target is not None else built.value
    if target is None and not built.key.endswith(BUILDING_TAGS):
        return f"{built.key}={built.value} {built.path}:{built.line}" + (f": {text}" if text else "")
    plain = built.key.endswith(BUILDING_TAGS) or (target is not None and built.value.endswith(f".{target.name}"))
    name = section.name if plain else f"{built.key}={built.value}"
    return f"{name} {built.path}:{built.line} is {what}" + (f": {text}" if text else "")


def _together(said: Sequence[tuple[str, str]]) -> str:
    """Names with their values; what stands under one name is put together: head.(dim=8 :3, bias=False :4)."""
    held: dict[str, list[str]] = {}
    for name, value in said:
        above, _, last = name.rpartition(".")
        held.setdefault(above or f"={name}", []).append(f"{last}={value}")
    return ", ".join(
        inner[0] if above.startswith("=") else f"{above}.({', '.join(inner)})" if inner[1:] else f"{above}.{inner[0]}"
        for above, inner in held.items()
    )


def _home(truth: Truth, section: Section) -> str:
    """The file that sets most of the values of a section."""
    if section.name.startswith("/"):
        return section.name.removeprefix("/")
    sources = [truth.last(key).source for key in section.keys]
    count = Counter(source.path for source in sources if source is not None and source.path)
    return count.most_common(1)[0][0] if count else ""


def _value(truth: Truth, key: Key, section: Section, base: str) -> tuple[str, str]:
    """Name, and value :line with the path when it is not that of the section."""
    name = key.name.removeprefix(f"{section.name}.") if not section.name.startswith("/") else key.name
    last = truth.last(key)
    value = clean(last.value, WIDTH)
    source = last.source
    where = " the command" if base else ""  # else the line begins with it
    if source is not None and source.path:
        where = f" :{source.line}" if source.path == base else f" {source.path}:{source.line}"
    changed = "" if source is None or source.how != "default" else " default"
    maybe = next((one for one in last.layers if not one.certain and one is not source), None)
    then = f" ({become(maybe)})" if maybe is not None else ""
    return name, f"{value or repr('')}{changed}{where}{then}"


_HOLDER = re.compile(r"\b(?:\w+_)?(?:cfg|config|conf|args|opts|spec)\.(?=\w)")


def become(layer: Layer, path: str = "") -> str:
    """What code may make of a key, and when; `path` is how its file is told."""
    when = f" when {clean(_HOLDER.sub('', layer.when), 90)}" if layer.when else ""
    where = f"{path or layer.path}:{layer.line}" if layer.path else "by the command"
    return f"may become {clean(layer.value, 60)} {where}{when}"
