"""try the step of a bundle here, in your own program"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.options import Command, add_only, add_run, run_request


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "trainsleuth replay BUNDLE [options] [-- COMMAND ...]"
    parser.add_argument("bundle", metavar="BUNDLE", type=Path, help="a folder that trainsleuth watch has written")
    add_only(parser, "probe")
    add_run(parser, seconds=60.0, default="60")


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.replay import bundle_answer, replay_answer
    from trainsleuth.replaying import read_bundle, replay

    bundle = read_bundle(asked.bundle)
    if not command:
        answer = bundle_answer(bundle, output.width())
        output.show(answer, asked.format)
        return answer.code
    with cancellable() as cancelled, output.progress() as say:
        request = run_request(asked, command, cancelled, say)
        said = replay(bundle, replace(request, only=frozenset(asked.only) if asked.only else None))
    answer = replay_answer(said, request, output.width())
    output.show(answer, asked.format)
    return answer.code
