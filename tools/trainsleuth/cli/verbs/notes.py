"""show the notes of a case, or add to them"""

from __future__ import annotations

import argparse
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.options import Command, add_format
from trainsleuth.cli.scope import UsageError, folder_of


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "repo", nargs="?", type=Path, default=Path(), help="the repository, or the notes (default: here)"
    )
    parser.add_argument("--add", metavar="TEXT", help="add what you saw")
    parser.add_argument("--answers", metavar="ID", help="with --add: the question of the reading that it answers")
    parser.add_argument("--at", metavar="PATH:LINE", type=_place, default=(None, None), help="where you saw it")
    add_format(parser)


def _place(text: str) -> tuple[str, int | None]:
    path, _, line = text.rpartition(":")
    return (path, int(line)) if path and line.isdecimal() else (text, None)


def _check_place(repo: Path, path: str | None, line: int | None) -> None:
    """In the repository, or here when the notes lie elsewhere."""
    from trainsleuth.repository import missing_line

    if path is None:
        return
    root = folder_of(repo)
    file = next((one for one in (root / path, Path(path)) if one.exists()), None)
    if file is None:
        raise UsageError(f"--at {path}: there is no such file in {root.resolve()}; give its path from there")
    if why := missing_line(file, line):
        raise UsageError(f"--at {path}:{line}: there is no such line, {why}")


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.notes import notes_answer
    from trainsleuth.notes import Notes

    if not asked.repo.exists():
        raise UsageError(f"{asked.repo} does not exist; give a repository, or a file of notes")
    notes = Notes(asked.repo)
    if asked.answers is not None and asked.add is None:
        raise UsageError(f"say with --add what answers {asked.answers!r}, and with --at where")
    if asked.add is not None:
        path, line = asked.at
        _check_place(asked.repo, path, line)
        if asked.answers is not None:
            from trainsleuth.reading import answer_question

            added = answer_question(notes, asked.answers, asked.add, path, line)
        else:
            added = notes.add_note(asked.add, path=path, line=line)
        output.say(f"added to {notes.path}" if added else f"{notes.path} says so already")
    answer = notes_answer(notes.read(), notes.path, output.width())
    output.show(answer, asked.format)
    return answer.code
