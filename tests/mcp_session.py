"""One conversation with the server, over stdio, by the official client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp import Client, StdioServerParameters
from small_programs import PYTHON, environment
from trainsleuth_mcp.serving import build

SERVER = "from trainsleuth_mcp import main"
Call = tuple[str, dict[str, Any]]
_T = TypeVar("_T")


def talk(
    home: Path,
    cwd: Path,
    conversation: Callable[[Client], Awaitable[_T]],
    mode: str = "auto",
    verb: str = "",
    **env: str,
) -> _T:
    """What `conversation` returns; the server is started for it in `cwd`, by `verb` if given, and ends with it."""

    async def run() -> _T:
        server = StdioServerParameters(
            command=PYTHON,
            args=["-m", "trainsleuth", verb] if verb else ["-c", f"{SERVER}; main()"],
            env=environment(home, **env),
            cwd=cwd,
        )
        async with Client(server, mode=mode, read_timeout_seconds=120) as client:
            return await conversation(client)

    return anyio.run(run)


def talk_within(conversation: Callable[[Client], Awaitable[_T]]) -> _T:
    """The same with the server in this process and in its folder."""

    async def run() -> _T:
        async with Client(build(), read_timeout_seconds=120) as client:
            return await conversation(client)

    return anyio.run(run)


def ask(home: Path, cwd: Path, *calls: Call) -> list[str]:
    """The texts that the calls return, one after the other; "ERROR: " before those that are errors."""
    return talk(home, cwd, partial(_told, calls))


def ask_within(*calls: Call) -> list[str]:
    """The same of the server in this process."""
    return talk_within(partial(_told, calls))


async def _told(calls: Iterable[Call], client: Client) -> list[str]:
    return [told(await client.call_tool(name, arguments)) for name, arguments in calls]


def told(result: Any) -> str:
    """The text of one result."""
    assert result.structured_content is None
    text = "".join(block.text for block in result.content)
    return f"ERROR: {text}" if result.is_error else text
