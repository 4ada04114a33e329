"""go or no go in a minute, before a run is started"""

from __future__ import annotations

import argparse
import os
import sys

from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.options import Command, add_run, run_request
from trainsleuth.cli.verbs.watch import become

SECONDS = 60.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "trainsleuth preflight [options] -- COMMAND ..."
    add = parser.add_argument
    add("--then-run", action="store_true", help="after a go, become the command itself; what is said goes to stderr")
    add("--then-watch", action="store_true", help="the same, and stand watch over it (trainsleuth watch)")
    add("--whole-epochs", action="store_true", help="cut no epoch short: evaluation is met only where it comes soon")
    add_run(parser, seconds=SECONDS, default=f"{SECONDS:g}")


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.preflight import preflight_answer
    from trainsleuth.preflight import preflight
    from trainsleuth.watched import watched, words_of

    with cancellable() as cancelled, output.progress() as say:
        request = run_request(asked, command, cancelled, say)
        said = preflight(request, short_epochs=not asked.whole_epochs)
    answer = preflight_answer(said, request, output.width())
    if not (asked.then_run or asked.then_watch):
        output.show(answer, asked.format)
        return answer.code
    print(answer.json() if asked.format == "json" else answer.text(), file=sys.stderr, flush=True)
    if said.verdict != "go":
        return answer.code
    if asked.then_watch:
        how = watched(command, root=asked.root, python=asked.python)
        return become(how.words, how.environment)
    return become(words_of(command, os.environ, asked.python) if asked.python else command, os.environ)
