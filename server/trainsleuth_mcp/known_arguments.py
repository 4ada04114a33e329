"""Arguments that a tool does not take: said in a line, for which the SDK has pages of its validator, or nothing."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from pydantic import ValidationError, create_model, model_validator
from trainsleuth.wording import one_line


class PlainTool(Tool):
    """A tool whose refusals name the argument, what was expected and what came."""

    async def run(self, *given: Any, **named: Any) -> Any:
        try:
            return await super().run(*given, **named)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(f"{self.name} was not called: {_words(error.__cause__)}") from error.__cause__


def only_known(arguments: type[ArgModelBase]) -> type[ArgModelBase]:
    """The model of a tool's arguments that refuses others by name."""
    known = list(arguments.model_fields)

    def check(given: Any) -> Any:
        unknown = [name for name in given if name not in known] if isinstance(given, dict) else []
        if unknown:
            raise ValueError(f"there is no argument {unknown[0]!r}; there are {', '.join(known)}")
        return given

    validators: dict[str, Any] = {"known": model_validator(mode="before")(check)}
    return create_model(arguments.__name__, __base__=arguments, __validators__=validators)


def _words(error: ValidationError) -> str:
    """Of each argument that was refused, in one line; of a choice of types all that it may be."""
    refused: dict[str, list[Any]] = {}
    for one in error.errors(include_url=False):
        refused.setdefault(str(one["loc"][0]) if one["loc"] else "", []).append(one)
    return "; ".join(_of_one(name, found) for name, found in refused.items())


def _of_one(name: str, found: list[Any]) -> str:
    if not name or found[0]["type"] == "missing":
        return f"{name} has to be given" if name else found[0]["msg"].removeprefix("Value error, ")
    wanted = dict.fromkeys(one["msg"].removeprefix("Input should be ") for one in found)
    return f"{name}: expected {' or '.join(wanted)}, got {one_line(repr(found[0]['input']), 80)}"
