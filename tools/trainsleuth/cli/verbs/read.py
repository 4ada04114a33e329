"""the questions of a reading in three passes, in the notes, answered as far as is known"""

from __future__ import annotations

import argparse
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.options import Command, add_format, add_observe, observed_request
from trainsleuth.cli.scope import folder_of


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repo", nargs="?", type=Path, default=Path(), help="the repository (default: here)")
    parser.add_argument("--scope", metavar="PATH", help="only this folder or file of it")
    parser.add_argument("--recipe", metavar="FILE", help="the YAML or JSON configuration that chooses the parts")
    parser.add_argument("--notes", metavar="FILE", type=Path, help="the notes (default: trainsleuth-notes.md in REPO)")
    add_observe(parser, "let what ran answer")
    add_format(parser)


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.reading import reading_answer
    from trainsleuth.notes import Notes
    from trainsleuth.reading import PASSES, read_repository

    notes = Notes(asked.notes or folder_of(asked.repo))
    if not asked.observe:  # no program runs, so a signal ends us at once
        reading = read_repository(asked.repo, notes, asked.scope, asked.recipe)
    else:
        with cancellable() as cancelled, output.progress() as say:
            request = observed_request(asked, command, cancelled, say)
            reading = read_repository(asked.repo, notes, asked.scope, asked.recipe, request)
    answer = reading_answer(reading, PASSES, output.width())
    output.show(answer, asked.format)
    return answer.code
