"""what stands behind an id: a test, a hypothesis, a claim, a source, a finding"""

from __future__ import annotations

import argparse
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.options import Command, add_format


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="as answers show it; without one, all tests and hypotheses")
    parser.add_argument(
        "--notes",
        metavar="FILE",
        type=Path,
        default=Path(),
        help="where findings are kept: the notes, or their folder (default: here)",
    )
    add_format(parser)


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.explain import everything, explain
    from trainsleuth.notes import Notes

    notes = Notes(asked.notes)
    answer = explain(asked.id, lambda: notes.read().findings) if asked.id else everything(output.width())
    output.show(answer, asked.format)
    return answer.code
