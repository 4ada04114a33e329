"""verify the claims, their sources and their measurements"""

from __future__ import annotations

import argparse

from trainsleuth.cli import output
from trainsleuth.cli.options import Command, add_format


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["verify"], help="look for claims, numbers and anchors without support")
    parser.add_argument(
        "--source", metavar="[ID=]FILE", action="append", default=[], help="a copy of a source, or a folder of copies"
    )
    parser.add_argument("--fetch", action="store_true", help="also ask the web for the sources that are not given")
    add_format(parser)


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth import evidence
    from trainsleuth.answers.evidence import evidence_answer
    from trainsleuth.evidence import texts

    held, missing = texts.local(asked.source), dict[str, str]()
    if asked.fetch:
        wanted = [source["id"] for source in evidence.installed().sources if source["id"] not in held]
        for id, text, why in texts.fetched(wanted):
            held.update({id: text} if text is not None else {})
            missing.update({id: why} if text is None else {})
    library = evidence.installed(held)
    answer = evidence_answer(library, list(evidence.defects(library)), list(evidence.sightings(library)), missing)
    output.show(answer, asked.format)
    return answer.code
