"""A tool as the model sees it, whoever serves it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any


class RefusedError(Exception):
    """The tool was not run or gave nothing; the text tells the model why, and what to do instead."""


@dataclass(frozen=True)
class Tool:
    """`schema` is JSON Schema of an object; `call` takes its properties and returns text. Raises RefusedError."""

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[..., Awaitable[str]]

    def argued(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """`given`, when it fits the schema's names. Raises RefusedError for an unknown or a missing argument."""
        known = self.schema["properties"]
        if odd := sorted(set(given) - set(known)):
            raise RefusedError(f"{self.name} takes no {odd[0]!r}; it takes {', '.join(known) or 'nothing'}")
        if missing := [name for name in self.schema.get("required", ()) if name not in given]:
            raise RefusedError(f"{self.name} needs {missing[0]!r}")
        return given


def object_schema(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """JSON Schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }
