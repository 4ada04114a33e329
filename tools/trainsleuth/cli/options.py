"""Options that several commands share, and the kinds of values that options take."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from trainsleuth.cli.scope import folder_of

if TYPE_CHECKING:
    from trainsleuth.probing import Request

Command = tuple[str, ...]


def add_only(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--only", metavar="ID", type=_names, action="extend", help=f"only this {what}, or several: a,b")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def add_format(parser: argparse.ArgumentParser, *more: str) -> None:
    parser.add_argument("--format", choices=["text", "json", *more], default="text", help="default: text")


def add_cache(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-cache", action="store_true", help="read everything anew, keep nothing (for always: TRAINSLEUTH_CACHE=off)"
    )


def add_observe(parser: argparse.ArgumentParser, purpose: str) -> None:
    parser.add_argument("--observe", action="store_true", help=f"run two steps of the command after --, and {purpose}")
    _add_limits(parser, seconds=60.0, default="60")


def add_run(parser: argparse.ArgumentParser, seconds: float | None, default: str) -> None:
    parser.add_argument("--steps", metavar="N", type=count, help="training steps to watch at most (default: 200)")
    parser.add_argument("--root", metavar="DIR", type=Path, help="the repository (default: the one around this folder)")
    _add_limits(parser, seconds, default)
    add_format(parser)


def _add_limits(parser: argparse.ArgumentParser, seconds: float | None, default: str) -> None:
    parser.add_argument(
        "--time",
        metavar="SECONDS",
        type=_seconds,
        default=seconds,
        help=f"for all, with the start of your program (default: {default})",
    )
    parser.add_argument("--python", metavar="PY", help="the interpreter that runs your program")
    parser.add_argument(
        "--contain",
        choices=["auto", "overlay", "copy", "none"],
        default="auto",
        help="keep what the program writes out of the repository: by an overlay, in a copy, or not at all",
    )


def run_request(
    asked: argparse.Namespace, command: Command, cancelled: Callable[[], bool], say: Callable[[str], None] | None
) -> Request:
    """What `add_run` asked for."""
    from trainsleuth.probing import Request

    return Request(
        command,
        steps=asked.steps,
        seconds=asked.time,
        root=asked.root,
        python=asked.python,
        contain=asked.contain,
        cancelled=cancelled,
        progress=say,
    )


def observed_request(
    asked: argparse.Namespace, command: Command, cancelled: Callable[[], bool], say: Callable[[str], None] | None
) -> Request:
    """What `add_observe` asked for. The command runs here when this is a folder of the repository, else in its root."""
    from trainsleuth.probing import Request

    root, here = folder_of(asked.repo.resolve()), Path.cwd().resolve()
    return Request(
        command,
        seconds=asked.time,
        root=root,
        cwd=here if here.is_relative_to(root) else root,
        python=asked.python,
        contain=asked.contain,
        cancelled=cancelled,
        progress=say,
    )


def count(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds
