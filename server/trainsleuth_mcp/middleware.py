"""What leaves the server: no character that breaks the wire or hides text, and no answer beyond all bounds.

A lone surrogate (an odd file name is enough) would kill the server inside of the transport.
"""

from __future__ import annotations

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pydantic import BaseModel
from trainsleuth.answers.answer import CHARACTERS_PER_TOKEN
from trainsleuth.wording import visible

HARD_CAP = 8_000  # tokens of text in one result
_CUT = "\n[cut: the answer is longer than a result may be; narrow the call]"


async def harmless(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Every string of every result, visible; the text of a tool's result, bounded."""
    result = await call_next(ctx)
    if isinstance(result, BaseModel):
        result = result.model_dump(by_alias=True, exclude_none=True)
    if result is None:
        return None
    cleaned: dict[str, Any] = _cleaned(result)
    return {**cleaned, "content": _bounded(cleaned["content"])} if ctx.method == "tools/call" else cleaned


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {_cleaned(name): _cleaned(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in value]
    return value


def _bounded(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    left = HARD_CAP * CHARACTERS_PER_TOKEN
    bounded = []
    for block in content:
        text = block.get("text", "")
        if len(text) > left:
            block = {**block, "text": text[: max(left - len(_CUT), 0)] + _CUT}
        left = max(left - len(text), 0)
        bounded.append(block)
    return bounded
