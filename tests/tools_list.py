"""What every host holds of us before the first call: tools/list and the instructions, as a file that shows each change.

python tests/tools_list.py    writes tools_list.json anew; tools and server must be on PYTHONPATH
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from trainsleuth_mcp.serving import build

FILE = Path(__file__).parent / "tools_list.json"


def as_text(tools: Sequence[Any], instructions: str) -> str:
    """As it goes over the wire, but readable."""
    plain = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    return json.dumps({"instructions": instructions.splitlines(), "tools": plain}, indent=1, sort_keys=True) + "\n"


async def _listed() -> str:
    async with Client(build()) as client:
        return as_text((await client.list_tools()).tools, client.instructions or "")


if __name__ == "__main__":
    FILE.write_text(anyio.run(_listed), encoding="utf-8")
