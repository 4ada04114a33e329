"""The MCP face of trainsleuth: short typed tools over the engine, served over stdio."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Serves until the client closes stdin or a signal ends us."""
    from trainsleuth import __version__

    parser = argparse.ArgumentParser(
        prog="trainsleuth-mcp",
        description="Serves trainsleuth's tools by MCP over stdin and stdout. A host starts this; it is no use by hand.",
    )
    parser.add_argument("--version", action="version", version=f"trainsleuth-mcp {__version__}")
    parser.parse_args()
    if sys.stdin.isatty():
        print("waiting for an MCP client on stdin; Ctrl-D ends, trainsleuth --help shows the commands", file=sys.stderr)
    from trainsleuth_mcp.serving import serve  # mcp is slow to import: only who serves pays for it

    serve()
