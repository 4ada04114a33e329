"""what stands behind an id: a test, a hypothesis, a claim, a source"""

from __future__ import annotations

import argparse

from trainsleuth.cli import output
from trainsleuth.cli.options import Command, add_format


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="as answers show it; without one, all tests and hypotheses")
    add_format(parser)


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.explain import everything, explain

    answer = explain(asked.id) if asked.id else everything(output.width())
    output.show(answer, asked.format)
    return answer.code
