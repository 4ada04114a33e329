"""What may be asked on the command line, and what is said about wrong usage."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from trainsleuth import __version__
from trainsleuth.answers.answer import FAILED
from trainsleuth.cli import running
from trainsleuth.cli.verbs import VERBS

_WITH_COMMAND = frozenset({"compare", "preflight", "probe", "triage", "watch"})
_MAY_RUN = frozenset({"replay"})  # a command, or none
_MAY_OBSERVE = frozenset({"map", "read"})
_EXIT_CODES = "exit code: 0 nothing wrong found, 1 something found, 2 wrong usage, nothing examined, or we failed"


class _Parser(argparse.ArgumentParser):
    """argparse, but wrong usage shows the help."""

    def error(self, message: str) -> NoReturn:
        self.print_help(sys.stderr)
        self.exit(FAILED, f"\n{self.prog}: {message}\n")


def run(given: Sequence[str]) -> int:
    """Parses, runs and shows one command; returns its exit code."""
    ours, command = _split(given)
    parser, verbs = _parsers()
    try:
        asked, unknown = parser.parse_known_args(ours)
        if asked.verb is None:
            parser.error("no command was given")
        _check_command(verbs[asked.verb], asked, command, unknown)
    except SystemExit as end:
        return int(end.code or 0)
    return running.run(asked, tuple(command))


def _check_command(
    parser: argparse.ArgumentParser, asked: argparse.Namespace, command: Sequence[str], unknown: Sequence[str]
) -> None:
    """A command is there where one is run, and nowhere else; `unknown` words are none of ours."""
    observes = asked.verb in _MAY_OBSERVE and asked.observe
    again = getattr(asked, "again", None)
    if again and command:
        parser.error("--again runs the command of the earlier run; leave out the -- and what follows it")
    if (asked.verb in _WITH_COMMAND or observes) and not command and not again:
        words = f"{asked.verb} --observe" if observes else asked.verb
        example = _example(unknown)
        parser.error(f"put your own command after --, for example: trainsleuth {words} -- {example}")
    if unknown:
        parser.error(f"{asked.verb} does not know {shlex.join(unknown)}")
    if command and not observes and asked.verb in _MAY_OBSERVE:
        parser.error(f"{asked.verb} runs no program unless you say --observe")
    if command and not observes and asked.verb not in _WITH_COMMAND | _MAY_RUN:
        parser.error(f"{asked.verb} runs no program; leave out the -- and what follows it")


def _example(unknown: Sequence[str]) -> str:
    """The command that was meant, when it was given without its `--`."""
    if not unknown or unknown[0].startswith("-"):
        return "python train.py"
    return shlex.join(["python", *unknown] if unknown[0].endswith(".py") else unknown)


def _split(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is ours, and the user's own command behind the first `--`."""
    place = list(given).index("--") if "--" in given else len(given)
    command = list(given[place + 1 :])
    if len(command) == 1 and " " in command[0] and not os.path.exists(command[0]):
        command = shlex.split(command[0])  # it was quoted as a whole
    return list(given[:place]), command


def _parsers() -> tuple[_Parser, dict[str, _Parser]]:
    """The whole, and the one of each command."""
    parser = _Parser(
        prog="trainsleuth", description="Find why a neural network trains silently wrong.", epilog=_EXIT_CODES
    )
    parser.add_argument("--version", action="version", version=f"trainsleuth {__version__}")
    add = parser.add_subparsers(dest="verb", metavar="COMMAND", parser_class=_Parser).add_parser
    verbs = {name: add(name, help=verb.__doc__) for name, verb in VERBS.items()}
    for name, verb in VERBS.items():
        verb.add_options(verbs[name])
    return parser, verbs
