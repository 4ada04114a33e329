"""say where two runs part that should train the same"""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.options import Command, add_run, run_request
from trainsleuth.cli.scope import UsageError


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = 'trainsleuth compare (--with "COMMAND" | --in DIR) [options] -- COMMAND ...'
    add = parser.add_argument
    add("--with", metavar="COMMAND", dest="other", default="", help="the other command, quoted as one word")
    add(
        "--in", metavar="DIR", dest="folder", type=Path, help="where the other runs: another checkout, another worktree"
    )
    add_run(parser, seconds=90.0, default="90")


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.compare import compare_answer
    from trainsleuth.comparing import compare

    if not asked.other and asked.folder is None:
        raise UsageError('name what to compare with: --with "another command", --in another/folder, or both')
    if asked.folder is not None and not asked.folder.is_dir():
        raise UsageError(f"--in {asked.folder} is not a folder")
    try:
        words = tuple(shlex.split(asked.other)) or command
    except ValueError as error:
        raise UsageError(f"--with cannot be read as a command: {error}") from error
    with cancellable() as cancelled, output.progress() as say:
        one = run_request(asked, command, cancelled, say)
        other = replace(one, command=words)
        if asked.folder is not None:
            other = replace(other, cwd=asked.folder.resolve(), root=None)
        found = compare(one, other)
    answer = compare_answer(found, one, other, output.width())
    output.show(answer, asked.format)
    return answer.code
