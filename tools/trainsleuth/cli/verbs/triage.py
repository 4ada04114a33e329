"""search, probe, and say which cause is the likeliest"""

from __future__ import annotations

import argparse
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.options import Command, add_run, count, run_request
from trainsleuth.cli.scope import UsageError

SECONDS = 90.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "trainsleuth triage [options] -- COMMAND ..."
    parser.add_argument("--symptom", metavar="TEXT", default="", help='what is wrong, in your words: "loss is stuck"')
    parser.add_argument(
        "--notes", metavar="FILE", type=Path, help="the notes (default: trainsleuth-notes.md in the root)"
    )
    parser.add_argument("--no-notes", action="store_true", help="write no notes")
    add_run(parser, seconds=None, default=f"{SECONDS:g}; with --agent, 900")
    _add_agent(parser.add_argument_group("by a model", "with an account: ANTHROPIC_API_KEY"))


def _add_agent(agent: argparse._ArgumentGroup) -> None:
    add = agent.add_argument
    add("--agent", action="store_true", help="let an Anthropic model work on the case with these tools")
    add("--model", metavar="NAME", help="which model (default: $TRAINSLEUTH_MODEL, else claude-sonnet-5-5)")
    add("--yes", action="store_true", help="agree beforehand that it runs the command and reads the folder")
    add("--fix", action="store_true", help="let it try changes on a copy; a proven one becomes a diff")
    add("--log", metavar="FILE", type=Path, action="append", help="a log or CSV of the failing run; may be repeated")
    add("--max-turns", metavar="N", type=count, default=30, help="replies at most (default: 30)")
    add("--max-tokens", metavar="N", type=count, default=400_000, help="tokens at most, all told (default: 400000)")


def run(asked: argparse.Namespace, command: Command) -> int:
    if asked.agent:
        from trainsleuth.cli import agent

        return agent.run(asked, command)
    from trainsleuth.answers.reports import triage_answer
    from trainsleuth.notes import FILE_NAME
    from trainsleuth.triage import triage

    if given := [name for name in ("model", "yes", "fix", "log") if getattr(asked, name)]:
        raise UsageError(f"--{given[0]} is for a model: add --agent")
    asked.time = asked.time or SECONDS
    notes = None if asked.no_notes else asked.notes or (asked.root or Path.cwd()) / FILE_NAME
    with cancellable() as cancelled, output.progress() as say:
        request = run_request(asked, command, cancelled, say)
        case = triage(request, symptom=asked.symptom, notes=notes)
    answer = triage_answer(case, request, asked.symptom, output.width())
    output.show(answer, asked.format)
    return answer.code
