"""serve the same tools to an agent, by MCP over stdio"""

from __future__ import annotations

import argparse

from trainsleuth.cli.options import Command


def add_options(parser: argparse.ArgumentParser) -> None:
    pass


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth_mcp.serving import serve

    serve()
