"""The MCP face of trainsleuth: short typed tools over the engine, served over stdio."""

from __future__ import annotations

from typing import NoReturn


def main() -> NoReturn:
    """Serves until the client closes stdin or a signal ends us."""
    from trainsleuth_mcp.serving import serve  # mcp is slow to import: only who serves pays for it

    serve()
