"""put questions to your own training program while it runs"""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.options import Command, add_only, add_run, run_request


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "trainsleuth probe [options] -- COMMAND ..."
    add_only(parser, "probe")
    parser.add_argument("--notes", metavar="FILE", type=Path, help="add what was found to these notes (default: none)")
    parser.add_argument(
        "--again",
        metavar="RUN",
        help='after a change: what failed in this earlier run once more ("last" is the newest)',
    )
    add_run(parser, seconds=60.0, default="60")


def run(asked: argparse.Namespace, command: Command) -> int:
    if asked.again:
        return _again(asked)
    from trainsleuth.answers.reports import probe_answer
    from trainsleuth.notes import Notes
    from trainsleuth.probing import run_probes

    notes = Notes(asked.notes) if asked.notes is not None else None
    if notes is not None:
        notes.read()  # what cannot hold notes is said before the program runs
    with cancellable() as cancelled, output.progress() as say:
        request = run_request(asked, command, cancelled, say)
        request = replace(request, only=frozenset(asked.only) if asked.only else None)
        report = run_probes(request)
    if notes is not None:
        notes.add_findings(report.findings, command=shlex.join(command))
    answer = probe_answer(report, request, output.width(), asked.notes)
    output.show(answer, asked.format)
    return answer.code


def _again(asked: argparse.Namespace) -> int:
    from trainsleuth.again import probe_again
    from trainsleuth.answers.reports import again_answer

    with cancellable() as cancelled, output.progress() as say:
        request = run_request(asked, (), cancelled, say)
        request = replace(request, only=frozenset(asked.only) if asked.only else None)
        again = probe_again(asked.again, request)
    answer = again_answer(again, output.width())
    output.show(answer, asked.format)
    return answer.code
