"""Networks that a project registers with the Auto classes of transformers: AutoModelForX.register(Config, Net)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, Index

GIVES = ("from_config", "from_pretrained")
FEW = 3  # of more nothing is said where no setting tells them apart
_KIND = "model_type"


def auto_classes(index: Index, settings: Mapping[str, str]) -> dict[str, tuple[Class, ...]]:
    """By the name of the Auto class what it may give: of those registered the one whose configuration the setting
    `model_type` names, where it is known.
    """
    named: dict[Class, str] = {}
    registered: dict[str, list[tuple[Class, Class]]] = {}
    for auto, first, second in _registered(index):
        if isinstance(first, Class) and isinstance(second, Class):
            registered.setdefault(auto, []).append((first, second))
        elif isinstance(first, str) and isinstance(second, Class):
            named[second] = first.lower()
    kind = settings.get(_KIND) or settings.get(f".{_KIND}", "")
    found = {}
    for auto, pairs in registered.items():
        asked = [net for config, net in pairs if kind and named.get(config) == kind]
        nets = asked or [net for _, net in pairs]
        if len(nets) <= FEW:
            found[auto] = tuple(dict.fromkeys(nets))
    return found


def _registered(index: Index) -> Iterator[tuple[str, Class | str | None, Class | None]]:
    for site in index.calls("register"):
        auto = site.call.receiver
        if auto is None or not auto.last.startswith("Auto") or len(site.call.arguments) < 2:
            continue
        first, second = site.call.arguments[:2]
        resolved = [index.resolve(site.function, one.text) if one.kind == "path" else None for one in (first, second)]
        key = first.text if first.kind == "string" else resolved[0] if isinstance(resolved[0], Class) else None
        yield auto.last, key, resolved[1] if isinstance(resolved[1], Class) else None
