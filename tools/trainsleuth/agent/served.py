"""The tools of our own MCP server, with the folder and the command fixed by the agreement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from .agreement import PINNED, Agreement
from .tool import RefusedError, Tool

FINDS = ("find_silent_bugs", "run_probe")  # what they found goes into the notes at once; triage writes it itself


class Session(Protocol):
    """What is needed of an MCP client."""

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any: ...


def served(agreement: Agreement, listed: Iterable[Any], session: Session) -> Iterator[Tool]:
    """Each listed tool without the arguments that are not the model's to choose."""
    for one in listed:
        yield _pinned(agreement, one, session)


def _pinned(agreement: Agreement, listed: Any, session: Session) -> Tool:
    taken = listed.input_schema["properties"]
    pinned = {name: value for name, value in agreement.pinned.items() if name in taken}

    async def call(**given: Any) -> str:
        if "seconds" in taken:
            given["seconds"] = min(float(given.get("seconds", agreement.seconds)), agreement.seconds)
        text = await asked(session, listed.name, {**given, **pinned})
        if listed.name in FINDS:
            await asked(session, "add_to_notes", {"root": str(agreement.root), "include_findings": True})
        return text

    return Tool(listed.name, listed.description or "", _without(listed.input_schema), call)


def _without(schema: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: one for name, one in schema["properties"].items() if name not in PINNED}
    required = [name for name in schema.get("required", ()) if name not in PINNED]
    return {**schema, "properties": kept, "required": required, "additionalProperties": False}


async def asked(session: Session, name: str, arguments: dict[str, Any]) -> str:
    """The text that a tool of the server returns. Raises RefusedError with its text when it failed."""
    result = await session.call_tool(name, arguments)
    text = "\n".join(block.text for block in result.content if getattr(block, "text", None))
    if result.is_error:
        raise RefusedError(text)
    return text
