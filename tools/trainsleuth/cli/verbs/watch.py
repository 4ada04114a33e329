"""start a run and stand watch over it to its end, at next to no cost"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from trainsleuth.cli.options import Command


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "trainsleuth watch [options] -- COMMAND ..."
    add = parser.add_argument
    add("--stop", action="store_true", help="end the run, with exit code 1, at the first breach that is kept")
    add("--bundles", metavar="DIR", type=Path, help="where to keep the step of a breach (default: the cache folder)")
    add("--exact", action="store_true", help="read each loss before its backward, which on a GPU waits for it")
    add("--root", metavar="DIR", type=Path, help="the repository (default: the one around this folder)")
    add("--python", metavar="PY", help="the interpreter that runs your program")


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.watched import watched

    how = watched(
        command, root=asked.root, python=asked.python, bundles=asked.bundles, stop=asked.stop, exact=asked.exact
    )
    become(how.words, how.environment)


def become(words: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """From here on this process is the command: its exit code and the signals that it gets are the command's own."""
    sys.stdout.flush()
    os.execvpe(words[0], list(words), environment)
