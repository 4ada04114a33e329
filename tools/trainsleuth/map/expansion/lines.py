"""A section of the configuration as one line: what it builds, and each value with the line that sets it."""

from __future__ import annotations

from collections import Counter

from trainsleuth.facts.config import BUILDING_TAGS

from ..configuration import Key, Layer, Truth
from ..wording import clean
from .sections import Section

MOST = 16  # values of a section that are shown
WIDTH = 70  # characters of one value


def line_of(truth: Truth, section: Section) -> str:
    built = section.built
    base = built.path if built is not None else _home(truth, section)
    said = [_value(truth, key, section, base) for key in section.keys]
    more = f", +{len(said) - MOST} more" if len(said) > MOST else ""
    text = ", ".join(said[:MOST]) + more
    if built is None:
        name = "" if section.name.startswith("/") else f"{section.name} "
        return f"{name}{base}: {text}" if base else f"{name.strip()}: {text}"
    target = built.target
    what = f"{target.name} {target.path}:{target.line}" if target is not None else built.value
    if target is None and not built.key.endswith(BUILDING_TAGS):
        return f"{built.key}={built.value} {built.path}:{built.line}" + (f": {text}" if text else "")
    plain = built.key.endswith(BUILDING_TAGS) or (target is not None and built.value.endswith(f".{target.name}"))
    name = section.name if plain else f"{built.key}={built.value}"
    return f"{name} {built.path}:{built.line} is {what}" + (f": {text}" if text else "")


def _home(truth: Truth, section: Section) -> str:
    """The file that sets most of the values of a section."""
    if section.name.startswith("/"):
        return section.name.removeprefix("/")
    sources = [truth.last(key).source for key in section.keys]
    count = Counter(source.path for source in sources if source is not None and source.path)
    return count.most_common(1)[0][0] if count else ""


def _value(truth: Truth, key: Key, section: Section, base: str) -> str:
    """name=value :line, with the path when it is not that of the section."""
    name = key.name.removeprefix(f"{section.name}.") if not section.name.startswith("/") else key.name
    last = truth.last(key)
    value = clean(last.value, WIDTH)
    source = last.source
    where = "the command" if source is None or not source.path else f":{source.line}"
    if source is not None and source.path and source.path != base:
        where = f"{source.path}:{source.line}"
    changed = "" if source is None or source.how != "default" else " default"
    maybe = next((one for one in last.layers if not one.certain and one is not source), None)
    then = f" ({become(maybe)})" if maybe is not None else ""
    return f"{name}={value or repr('')}{changed} {where}{then}"


def become(layer: Layer) -> str:
    """What code may make of a key, and when."""
    when = f" when {clean(layer.when, 60)}" if layer.when else ""
    return f"may become {clean(layer.value, 40)} {layer.path}:{layer.line}{when}"
