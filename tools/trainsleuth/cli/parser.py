"""What may be asked on the command line, and what is said about wrong usage."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from trainsleuth import __version__
from trainsleuth.answers.answer import FAILED

_WITH_COMMAND = frozenset({"probe", "triage"})
_MAY_OBSERVE = frozenset({"map", "read"})
_EXIT_CODES = "exit code: 0 nothing wrong found, 1 something found, 2 wrong usage, nothing examined, or we failed"


class _Parser(argparse.ArgumentParser):
    """argparse, but wrong usage shows the help."""

    def error(self, message: str) -> NoReturn:
        self.print_help(sys.stderr)
        self.exit(FAILED, f"\n{self.prog}: {message}\n")


def run(given: Sequence[str]) -> int:
    """Parses, runs and shows one command; returns its exit code."""
    ours, command = _split(given)
    parser = _parser()
    try:
        asked, unknown = parser.parse_known_args(ours)
        if asked.verb is None:
            parser.error("no command was given")
        _check_command(parser, asked, command, unknown)
    except SystemExit as end:
        return int(end.code or 0)
    from trainsleuth.cli import verbs

    return verbs.run(asked, tuple(command))


def _check_command(
    parser: argparse.ArgumentParser, asked: argparse.Namespace, command: Sequence[str], unknown: Sequence[str]
) -> None:
    """A command is there where one is run, and nowhere else; `unknown` words are none of ours."""
    observes = asked.verb in _MAY_OBSERVE and asked.observe
    again = getattr(asked, "again", None)
    if again and command:
        parser.error("--again runs the command of the earlier run; leave out the -- and what follows it")
    if (asked.verb in _WITH_COMMAND or observes) and not command and not again:
        words = f"{asked.verb} --observe" if observes else asked.verb
        example = shlex.join(unknown) if unknown and not unknown[0].startswith("-") else "python train.py"
        parser.error(f"put your own command after --, for example: trainsleuth {words} -- {example}")
    if unknown:
        parser.error(f"{asked.verb} does not know {shlex.join(unknown)}; see trainsleuth {asked.verb} --help")
    if command and not observes and asked.verb in _MAY_OBSERVE:
        parser.error(f"{asked.verb} runs no program unless you say --observe")
    if command and not observes and asked.verb not in _WITH_COMMAND:
        parser.error(f"{asked.verb} runs no program; leave out the -- and what follows it")


def _split(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is ours, and the user's own command behind the first `--`."""
    place = list(given).index("--") if "--" in given else len(given)
    command = list(given[place + 1 :])
    if len(command) == 1 and " " in command[0] and not os.path.exists(command[0]):
        command = shlex.split(command[0])  # it was quoted as a whole
    return list(given[:place]), command


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="trainsleuth", description="Find why a neural network trains silently wrong.", epilog=_EXIT_CODES
    )
    parser.add_argument("--version", action="version", version=f"trainsleuth {__version__}")
    add = parser.add_subparsers(dest="verb", metavar="COMMAND", parser_class=_Parser).add_parser
    _add_map(add("map", help="which lines are the model, the loss, the loop ... of a training repository"))
    _add_read(add("read", help="the questions of a reading in three passes, in the notes, answered as far as is known"))
    _add_check(add("check", help="search the code for silent bugs, without running it"))
    _add_probe(add("probe", help="put questions to your own training program while it runs"))
    _add_triage(add("triage", help="search, probe, and say which cause is the likeliest"))
    _add_notes(add("notes", help="show the notes of a case, or add to them"))
    _add_explain(add("explain", help="what stands behind an id: a test, a hypothesis, a claim, a source"))
    _add_report(add("report", help="the notes as one HTML page"))
    _add_evidence(add("evidence", help="verify the claims, their sources and their measurements"))
    _add_loss_surface(add("loss-surface", help="where your loss has a slope, over a plane of synthetic predictions"))
    _add_sweep(add("sweep", help="which variant of a sweep is credibly better, from a CSV of runs"))
    add("serve", help="serve the same tools to an agent, by MCP over stdio")
    return parser


def _add_map(map_: argparse.ArgumentParser) -> None:
    map_.add_argument("repo", nargs="?", type=Path, default=Path(), help="the repository (default: here)")
    map_.add_argument("--scope", metavar="PATH", help="only this folder or file of it")
    map_.add_argument(
        "--recipe",
        metavar="FILE",
        help='the configuration (YAML, JSON, Python) that chooses the parts, or the launch command or its script: "python train.py --lr 1"',
    )
    map_.add_argument(
        "--expand",
        metavar="PARTS",
        help="all about one of the ten components (optimizer_scheduler, config ...), the path of one batch (batch), or "
        "what is asked of every run on one sheet (run); 'find WORDS' shows the settings and code that hold the words, "
        "'open PATH:LINE' or 'open NAME' a function; several with commas between them share the budget: loss,data",
    )
    map_.add_argument(
        "--budget", metavar="TOKENS", type=_count, help="size of the answer (default: 2000, expand: 1500)"
    )
    _add_observe(map_, "mark what really ran")
    _add_cache(map_)
    _add_format(map_, "mermaid")


def _add_read(read: argparse.ArgumentParser) -> None:
    read.add_argument("repo", nargs="?", type=Path, default=Path(), help="the repository (default: here)")
    read.add_argument("--scope", metavar="PATH", help="only this folder or file of it")
    read.add_argument("--recipe", metavar="FILE", help="the YAML or JSON configuration that chooses the parts")
    read.add_argument("--notes", metavar="FILE", type=Path, help="the notes (default: trainsleuth-notes.md in REPO)")
    _add_observe(read, "let what ran answer")
    _add_format(read)


def _add_observe(parser: argparse.ArgumentParser, purpose: str) -> None:
    parser.add_argument("--observe", action="store_true", help=f"run two steps of the command after --, and {purpose}")
    _add_limits(parser, seconds=60.0, default="60")


def _add_check(check: argparse.ArgumentParser) -> None:
    check.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="folders or files (default: here)")
    check.add_argument("--only", metavar="ID", action="append", help="only this check; may be given more than once")
    check.add_argument("--root", metavar="DIR", type=Path, help="the repository that the paths belong to")
    check.add_argument("--baseline", metavar="FILE", type=Path, help="accept the findings that it holds; see README")
    check.add_argument("--write-baseline", metavar="FILE", type=Path, help="write all findings as a baseline")
    _add_cache(check)
    _add_format(check, "sarif", "github", "diff")


def _add_probe(probe: argparse.ArgumentParser) -> None:
    probe.usage = "trainsleuth probe [options] -- COMMAND ..."
    probe.add_argument("--only", metavar="ID", action="append", help="only this probe; may be given more than once")
    probe.add_argument("--notes", metavar="FILE", type=Path, help="add what was found to these notes (default: none)")
    probe.add_argument(
        "--again",
        metavar="RUN",
        help='after a change: what failed in this earlier run once more ("last" is the newest)',
    )
    _add_run(probe, seconds=60.0, default="60")


def _add_triage(triage: argparse.ArgumentParser) -> None:
    triage.usage = "trainsleuth triage [options] -- COMMAND ..."
    triage.add_argument("--symptom", metavar="TEXT", default="", help='what is wrong, in your words: "loss is stuck"')
    triage.add_argument(
        "--notes", metavar="FILE", type=Path, help="the notes (default: trainsleuth-notes.md in the root)"
    )
    triage.add_argument("--no-notes", action="store_true", help="write no notes")
    _add_run(triage, seconds=None, default="90; with --agent, 900")
    _add_agent(triage.add_argument_group("by a model", "with an account: ANTHROPIC_API_KEY"))


def _add_agent(agent: argparse._ArgumentGroup) -> None:
    add = agent.add_argument
    add("--agent", action="store_true", help="let an Anthropic model work on the case with these tools")
    add("--model", metavar="NAME", help="which model (default: $TRAINSLEUTH_MODEL, else claude-sonnet-5-5)")
    add("--yes", action="store_true", help="agree beforehand that it runs the command and reads the folder")
    add("--fix", action="store_true", help="let it try changes on a copy; a proven one becomes a diff")
    add("--log", metavar="FILE", type=Path, action="append", help="a log or CSV of the failing run; may be repeated")
    add("--max-turns", metavar="N", type=_count, default=30, help="replies at most (default: 30)")
    add("--max-tokens", metavar="N", type=_count, default=400_000, help="tokens at most, all told (default: 400000)")


def _add_run(parser: argparse.ArgumentParser, seconds: float | None, default: str) -> None:
    parser.add_argument("--steps", metavar="N", type=_count, help="training steps to watch at most")
    parser.add_argument("--root", metavar="DIR", type=Path, help="the repository (default: the one around this folder)")
    _add_limits(parser, seconds, default)
    _add_format(parser)


def _add_limits(parser: argparse.ArgumentParser, seconds: float | None, default: str) -> None:
    parser.add_argument("--time", metavar="SECONDS", type=_seconds, default=seconds, help=f"default: {default}")
    parser.add_argument("--python", metavar="PY", help="the interpreter that runs your program")
    parser.add_argument(
        "--contain",
        choices=["auto", "overlay", "copy", "none"],
        default="auto",
        help="keep what the program writes out of the repository: by an overlay, in a copy, or not at all",
    )


def _add_notes(notes: argparse.ArgumentParser) -> None:
    notes.add_argument(
        "repo", nargs="?", type=Path, default=Path(), help="the repository, or the notes (default: here)"
    )
    notes.add_argument("--add", metavar="TEXT", help="add what you saw")
    notes.add_argument("--answers", metavar="ID", help="with --add: the question of the reading that it answers")
    notes.add_argument("--at", metavar="PATH:LINE", type=_place, default=(None, None), help="where you saw it")
    _add_format(notes)


def _add_explain(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("id", nargs="?", help="as answers show it; without one, all tests and hypotheses")
    _add_format(explain)


def _add_report(report: argparse.ArgumentParser) -> None:
    report.add_argument(
        "--notes", metavar="FILE", type=Path, default=Path(), help="the notes, or their folder (default: here)"
    )
    report.add_argument("-o", "--output", metavar="FILE", type=Path, help="default: a file outside of the repository")


def _add_evidence(evidence: argparse.ArgumentParser) -> None:
    evidence.add_argument("action", choices=["verify"], help="look for claims, numbers and anchors without support")
    evidence.add_argument(
        "--source", metavar="[ID=]FILE", action="append", default=[], help="a copy of a source, or a folder of copies"
    )
    evidence.add_argument("--fetch", action="store_true", help="also ask the web for the sources that are not given")
    _add_format(evidence)


def _add_loss_surface(surface: argparse.ArgumentParser) -> None:
    surface.add_argument("loss", metavar="FILE:NAME", help="called as NAME(prediction, target); or MODULE:NAME")
    surface.add_argument(
        "--shape", metavar="N,C", type=_places, default=(1, 2), help="of the prediction (default: 1,2)"
    )
    surface.add_argument("--target", metavar="EXPR", default="torch.zeros_like(prediction)", help="a tensor expression")
    surface.add_argument(
        "--axes", metavar="I,J", type=_places, default=(0, 1), help="which elements move (default: 0,1)"
    )
    surface.add_argument("--range", metavar="LOW:HIGH", type=_span, default=(-5.0, 5.0), help="default: -5:5")
    surface.add_argument("--points", metavar="N", type=_count, default=41, help="along each axis (default: 41)")
    surface.add_argument("--python", metavar="PY", help="the interpreter that has torch")
    surface.add_argument("-o", "--output", metavar="FILE", type=Path, help="also draw it: a .png or .svg file")
    _add_format(surface)


def _add_sweep(sweep: argparse.ArgumentParser) -> None:
    sweep.add_argument("file", metavar="CSV", type=Path, help="one row per run, with a header")
    sweep.add_argument("--group", metavar="COLUMN", required=True, help="the column that names the variant")
    sweep.add_argument("--metric", metavar="COLUMN", required=True, help="the column with the score")
    sweep.add_argument("--seed", metavar="COLUMN", help="the column with the seed: runs of one seed are paired")
    sweep.add_argument("--baseline", metavar="NAME", help="the variant to compare with (default: the first)")
    sweep.add_argument("--lower-is-better", action="store_true", help="for a loss or an error")
    _add_format(sweep)


def _add_cache(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-cache", action="store_true", help="read everything anew, keep nothing (for always: TRAINSLEUTH_CACHE=off)"
    )


def _add_format(parser: argparse.ArgumentParser, *more: str) -> None:
    parser.add_argument("--format", choices=["text", "json", *more], default="text", help="default: text")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _places(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers like 1,2")
    return tuple(map(int, parts))


def _span(text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise argparse.ArgumentTypeError(f"{text!r} is no range like -5:5")
    return low, high


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def _place(text: str) -> tuple[str, int | None]:
    path, _, line = text.rpartition(":")
    return (path, int(line)) if path and line.isdecimal() else (text, None)
