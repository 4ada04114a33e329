"""the notes as one HTML page"""

from __future__ import annotations

import argparse
from pathlib import Path

from trainsleuth.answers.answer import NOTHING_WRONG
from trainsleuth.cli.options import Command


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--notes", metavar="FILE", type=Path, default=Path(), help="the notes, or their folder (default: here)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="default: a file outside of the repository")


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.notes import Notes
    from trainsleuth.report import write_report

    print(write_report(Notes(asked.notes), asked.output))
    return NOTHING_WRONG
