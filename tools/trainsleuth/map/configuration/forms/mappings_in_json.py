"""The keys of an option whose value is a mapping in JSON: --model-args '{"lr": 0.001, "decoder": {"layers": 2}}'."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping


def unfolded(name: str, value: str) -> Iterator[tuple[str, str]]:
    """Each (key, value) of the mapping that `value` writes down, the key below `name`; nothing for any other value."""
    held = _mapping(value) if value.startswith("{") and value.endswith("}") else None
    if held is not None:
        yield from _below(name, held)


def _mapping(value: str) -> Mapping[str, object] | None:
    try:
        return json.loads(value)  # type: ignore[no-any-return]  # what begins with a brace is a mapping
    except ValueError:
        return None


def _below(name: str, held: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for last, value in held.items():
        if isinstance(value, Mapping) and value:
            yield from _below(f"{name}.{last}", value)
        else:
            yield f"{name}.{last}", value if isinstance(value, str) else json.dumps(value)
