"""search the code for silent bugs, without running it"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from trainsleuth.answers.answer import FAILED, FOUND, NOTHING_WRONG
from trainsleuth.cli import output
from trainsleuth.cli.options import Command, add_cache, add_format, add_only
from trainsleuth.cli.scope import scope
from trainsleuth.finding import SEVERITIES, Finding


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="folders or files (default: here)")
    add_only(parser, "check")
    parser.add_argument("--root", metavar="DIR", type=Path, help="the repository that the paths belong to")
    parser.add_argument("--baseline", metavar="FILE", type=Path, help="accept the findings that it holds; see README")
    parser.add_argument("--write-baseline", metavar="FILE", type=Path, help="write all findings as a baseline")
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        default="warning",
        help="the least severity that ends in exit code 1 (default: warning)",
    )
    add_cache(parser)
    add_format(parser, "sarif", "github", "diff")


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.accepted import reviewed, write_baseline
    from trainsleuth.answers.github import workflow_commands
    from trainsleuth.answers.reports import check_answer, unresolved_lines
    from trainsleuth.answers.sarif import sarif
    from trainsleuth.copies import folded
    from trainsleuth.repository import Repository
    from trainsleuth.suggest import suggested

    root, paths = scope(asked.root, asked.paths)
    repository = Repository(root)
    review = reviewed(repository, only=asked.only, paths=paths, baseline=asked.baseline)
    sources = repository.sources(paths or ())
    findings, read = folded(repository, review.report.findings), review.report.read(sources)
    answer = check_answer(review, findings, str(root), sources, read, output.width())
    if asked.write_baseline is not None:
        kept = [one.finding for one in review.accepted if one.how == "baseline"]
        count = write_baseline(asked.write_baseline, repository, [*review.report.findings, *kept])
        output.say(f"{count} findings written to {asked.write_baseline}; give it with --baseline")
        return answer.code if answer.code == FAILED else NOTHING_WRONG
    code = _exit_code(answer.code, findings, asked.fail_on)
    if asked.format == "sarif":
        print(sarif(review, unresolved_lines(review.report)))
    elif asked.format == "github":
        print(workflow_commands(review.report.findings, review.report.skipped))
    elif asked.format == "diff":
        diff = suggested(repository, review.report.findings)
        print(diff, end="")
        if not diff:
            failures = sum(one.outcome == "fail" for one in review.report.findings)
            output.say(f"no diff: none of {failures} findings has a change of one line; --format text tells them")
    else:
        output.show(answer, asked.format)
    return code


def _exit_code(code: int, findings: Sequence[Finding], least: str) -> int:
    """That of the answer, with what is told from which severity on."""
    counts = SEVERITIES[: SEVERITIES.index(least) + 1]
    told = any(one.outcome == "fail" and one.severity in counts for one in findings)
    return code if code == FAILED else FOUND if told else NOTHING_WRONG
