"""Arguments that a tool does not have: said, where the SDK drops them and the tool would answer about another folder."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from pydantic import create_model, model_validator


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
