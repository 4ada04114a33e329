"""which lines are the model, the loss, the loop ... of a training repository"""

from __future__ import annotations

import argparse
from pathlib import Path

from trainsleuth.answers.answer import FAILED, NOTHING_WRONG
from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.options import Command, add_cache, add_format, add_observe, count, observed_request
from trainsleuth.cli.scope import UsageError


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repo", nargs="?", type=Path, default=Path(), help="the repository (default: here)")
    parser.add_argument(
        "--scope", metavar="PATH", help="only this folder or file of it, or what this launch script starts"
    )
    parser.add_argument(
        "--recipe",
        metavar="FILE",
        help="the configuration (YAML, JSON, TOML, INI, Python) that chooses the parts, or the launch command or its script: "
        '"python train.py --lr 1"',
    )
    parser.add_argument(
        "--expand",
        metavar="PARTS",
        action="append",
        help="all about one of the ten components (optimizer_scheduler, config ...), the path of one batch (batch), or "
        "what is asked of every run on one sheet (run); 'lines REGEX in PATH' shows each statement that matches in one short "
        "line with the values of its names (without PATH: of all that the program loads), 'open PATH:FIRST-LAST' or 'open "
        "PATH' the statements there, 'open PATH:LINE' or 'open NAME' a function, 'ask QUESTION' answers in plain words, "
        "'find WORDS' shows the settings and code that hold the words; several, given one by one or with commas between "
        "them, share the budget: loss,data",
    )
    parser.add_argument(
        "--budget",
        metavar="TOKENS",
        type=count,
        help="size of the answer, at least 200, of ask, find, lines and open 60 (default: 2000, expand: 1500)",
    )
    add_observe(parser, "mark what really ran")
    add_cache(parser)
    add_format(parser, "mermaid")


def run(asked: argparse.Namespace, command: Command) -> int:
    if asked.observe and (asked.expand or asked.format == "mermaid"):
        raise UsageError("--observe marks the whole map; leave out --expand and --format mermaid")
    try:
        return _observed(asked, command) if asked.observe else _static(asked)
    except ValueError as error:  # the budget, or a component that does not exist
        raise UsageError(str(error)) from error


def _static(asked: argparse.Namespace) -> int:
    from trainsleuth.answers.reports import map_answer
    from trainsleuth.map import Expansion, Map, diagram, expand_component, map_repository
    from trainsleuth.repository import Repository, examined

    repository = Repository(asked.repo)
    given = {"scope": asked.scope, "recipe": asked.recipe}
    if asked.format == "mermaid":
        print(diagram(asked.repo, **given), end="")
        return NOTHING_WRONG if repository.sources() else FAILED
    found: Map | Expansion
    if asked.expand:
        found = expand_component(asked.repo, ",".join(asked.expand), **given, budget=asked.budget or 1500)
    else:
        found = map_repository(asked.repo, **given, budget=asked.budget or 2000)
    has_code = bool(examined(repository.sources(), found.skipped))
    answer = map_answer(found, repository.files, has_code)
    output.show(answer, asked.format)
    return answer.code


def _observed(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.reports import observed_map_answer
    from trainsleuth.observing import observed_map
    from trainsleuth.repository import Repository

    with cancellable() as cancelled, output.progress() as say:
        request = observed_request(asked, command, cancelled, say)
        found = observed_map(request, asked.repo, asked.scope, asked.recipe, asked.budget or 2000)
    answer = observed_map_answer(found, Repository(asked.repo).files)
    output.show(answer, asked.format)
    return answer.code
