"""The commands: each asks the engine once and shows its answer."""

from __future__ import annotations

import argparse
import math
import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainsleuth.answers.answer import FAILED, NOTHING_WRONG
from trainsleuth.cache import OFF
from trainsleuth.cli import output
from trainsleuth.cli.interrupt import EndedBySignalError, cancellable
from trainsleuth.cli.scope import UsageError, scope

if TYPE_CHECKING:
    from trainsleuth.probing import Request

Command = tuple[str, ...]
TRIAGE_SECONDS = 90.0


def run(asked: argparse.Namespace, command: Command) -> int:
    """Runs the command that was asked for; what it can not do is said in one line, with exit code 2."""
    if getattr(asked, "no_cache", False):
        os.environ["TRAINSLEUTH_CACHE"] = OFF
    try:
        return _VERBS[asked.verb](asked, command)
    except EndedBySignalError as signal:
        output.say(f"stopped by {signal}; the program and everything that it started were ended")
        return 128 + signal.number
    except BrokenPipeError:
        raise
    except Exception as error:
        if not _is_expected(error):
            raise
        output.say(str(error))
        return FAILED


def _is_expected(error: Exception) -> bool:
    """Raised by the engine for wrong usage, or by the system for a file: its text says what to do."""
    return isinstance(error, OSError) or type(error).__module__.startswith("trainsleuth.")


def _map(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.reports import expansion_answer, map_answer
    from trainsleuth.map import diagram, expand_component, map_repository
    from trainsleuth.repository import Repository

    given = {"scope": asked.scope, "recipe": asked.recipe}
    if asked.observe and (asked.expand or asked.format == "mermaid"):
        raise UsageError("--observe marks the whole map; leave out --expand and --format mermaid")
    try:
        if asked.observe:
            return _observed_map(asked, command)
        if asked.format == "mermaid":
            print(diagram(asked.repo, **given), end="")
            return NOTHING_WRONG
        files = Repository(asked.repo).files
        if asked.expand:
            found = expand_component(asked.repo, asked.expand, **given, budget=asked.budget or 1500)
            answer = expansion_answer(found, files)
        else:
            answer = map_answer(map_repository(asked.repo, **given, budget=asked.budget or 2000), files)
    except ValueError as error:  # the budget, or a component that does not exist
        raise UsageError(str(error)) from error
    output.show(answer, asked.format)
    return answer.code


def _observed_map(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.reports import observed_map_answer
    from trainsleuth.observing import observed_map
    from trainsleuth.repository import Repository

    with cancellable() as cancelled, output.progress() as say:
        request = _observed_request(asked, command, cancelled, say)
        found = observed_map(request, asked.repo, asked.scope, asked.recipe, asked.budget or 2000)
    answer = observed_map_answer(found, Repository(asked.repo).files)
    output.show(answer, asked.format)
    return answer.code


def _observed_request(
    asked: argparse.Namespace, command: Command, cancelled: Callable[[], bool], say: Callable[[str], None] | None
) -> Request:
    """The command runs here when this is a folder of the repository, else in its root."""
    from trainsleuth.probing import Request

    root, here = asked.repo.resolve(), Path.cwd().resolve()
    return Request(
        command,
        seconds=asked.time,
        root=root,
        cwd=here if here.is_relative_to(root) else root,
        python=asked.python,
        contain=asked.contain,
        cancelled=cancelled,
        progress=say,
    )


def _read(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.reading import reading_answer
    from trainsleuth.notes import Notes
    from trainsleuth.reading import PASSES, read_repository

    notes = Notes(asked.notes or asked.repo)
    with cancellable() as cancelled, output.progress() as say:
        request = _observed_request(asked, command, cancelled, say) if asked.observe else None
        reading = read_repository(asked.repo, notes, asked.scope, asked.recipe, request)
    answer = reading_answer(reading, PASSES, output.width())
    output.show(answer, asked.format)
    return answer.code


def _check(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.accepted import reviewed, write_baseline
    from trainsleuth.answers.github import workflow_commands
    from trainsleuth.answers.reports import check_answer, unresolved_lines
    from trainsleuth.answers.sarif import sarif
    from trainsleuth.repository import Repository
    from trainsleuth.suggest import suggested

    root, paths = scope(asked.root, asked.paths)
    repository = Repository(root)
    review = reviewed(repository, only=asked.only, paths=paths, baseline=asked.baseline)
    sources = len(repository.sources(paths or ()))
    answer = check_answer(review, str(root), sources, output.width())
    if asked.write_baseline is not None:
        kept = [one.finding for one in review.accepted if one.how == "baseline"]
        count = write_baseline(asked.write_baseline, repository, [*review.report.findings, *kept])
        output.say(f"{count} findings written to {asked.write_baseline}; give it with --baseline")
        return NOTHING_WRONG if sources else FAILED
    if asked.format == "sarif":
        print(sarif(review, unresolved_lines(review.report)))
    elif asked.format == "github":
        print(workflow_commands(review.report.findings))
    elif asked.format == "diff":
        print(suggested(repository, review.report.findings), end="")
    else:
        output.show(answer, asked.format)
    return answer.code


def _probe(asked: argparse.Namespace, command: Command) -> int:
    if asked.again:
        return _again(asked)
    from trainsleuth.answers.reports import probe_answer
    from trainsleuth.probing import run_probes

    with cancellable() as cancelled, output.progress() as say:
        request = _request(asked, command, cancelled, say)
        request = replace(request, only=frozenset(asked.only) if asked.only else None)
        report = run_probes(request)
    if asked.notes is not None:
        from trainsleuth.notes import Notes

        Notes(asked.notes).add_findings(report.findings, command=shlex.join(command))
    answer = probe_answer(report, request, output.width())
    output.show(answer, asked.format)
    return answer.code


def _again(asked: argparse.Namespace) -> int:
    from trainsleuth.again import probe_again
    from trainsleuth.answers.reports import again_answer

    with cancellable() as cancelled, output.progress() as say:
        again = probe_again(asked.again, _request(asked, (), cancelled, say))
    answer = again_answer(again, output.width())
    output.show(answer, asked.format)
    return answer.code


def _triage(asked: argparse.Namespace, command: Command) -> int:
    if asked.agent:
        from trainsleuth.cli import agent

        return agent.run(asked, command)
    from trainsleuth.answers.reports import triage_answer
    from trainsleuth.notes import FILE_NAME
    from trainsleuth.triage import triage

    if given := [name for name in ("model", "yes", "fix", "log") if getattr(asked, name)]:
        raise UsageError(f"--{given[0]} is for a model: add --agent")
    asked.time = asked.time or TRIAGE_SECONDS
    notes = None if asked.no_notes else asked.notes or (asked.root or Path.cwd()) / FILE_NAME
    with cancellable() as cancelled, output.progress() as say:
        request = _request(asked, command, cancelled, say)
        case = triage(request, symptom=asked.symptom, notes=notes)
    answer = triage_answer(case, request, asked.symptom, output.width())
    output.show(answer, asked.format)
    return answer.code


def _request(
    asked: argparse.Namespace, command: Command, cancelled: Callable[[], bool], say: Callable[[str], None] | None
) -> Request:
    from trainsleuth.probing import Request

    return Request(
        command,
        steps=asked.steps,
        seconds=asked.time,
        root=asked.root,
        python=asked.python,
        contain=asked.contain,
        cancelled=cancelled,
        progress=say,
    )


def _notes(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.notes import notes_answer
    from trainsleuth.notes import Notes

    if not asked.repo.exists():
        raise UsageError(f"{asked.repo} does not exist; give a repository, or a file of notes")
    notes = Notes(asked.repo)
    if asked.answers is not None and asked.add is None:
        raise UsageError(f"say with --add what answers {asked.answers!r}, and with --at where")
    if asked.add is not None:
        path, line = asked.at
        if asked.answers is not None:
            from trainsleuth.reading import answer_question

            added = answer_question(notes, asked.answers, asked.add, path, line)
        else:
            added = notes.add_note(asked.add, path=path, line=line)
        output.say(f"added to {notes.path}" if added else f"{notes.path} says so already")
    answer = notes_answer(notes.read(), notes.path, output.width())
    output.show(answer, asked.format)
    return answer.code


def _explain(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.explain import everything, explain

    answer = explain(asked.id) if asked.id else everything(output.width())
    output.show(answer, asked.format)
    return answer.code


def _report(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.notes import Notes
    from trainsleuth.report import write_report

    print(write_report(Notes(asked.notes), asked.output))
    return NOTHING_WRONG


def _evidence(asked: argparse.Namespace, command: Command) -> int:
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


def _loss_surface(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.loss_surface import surface_answer
    from trainsleuth.loss_surface import Ask, measure
    from trainsleuth.loss_surface.picture import draw

    size = math.prod(asked.shape)
    axes = tuple(place for place in asked.axes if place < size) if size < 2 else asked.axes
    if len(set(axes)) != len(axes) or not 1 <= len(axes) <= 2 or max(axes) >= size:
        raise UsageError(f"--axes {asked.axes}: one or two different places below {size}, the size of the prediction")
    low, high = asked.range
    ask = Ask(asked.loss, asked.shape, asked.target, axes, low, high, asked.points)
    with cancellable() as cancelled:
        surface = measure(ask, python=asked.python, cancelled=cancelled)
    if asked.output:
        draw(surface, asked.output)
    answer = surface_answer(surface)
    output.show(answer, asked.format)
    return answer.code


def _sweep(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.sweep import sweep_answer
    from trainsleuth.sweep import compare, read_runs

    groups = read_runs(asked.file, group=asked.group, metric=asked.metric, seed=asked.seed)
    comparisons = compare(groups, asked.baseline, lower_is_better=asked.lower_is_better)
    answer = sweep_answer(groups, comparisons, asked.baseline or groups[0].name)
    output.show(answer, asked.format)
    return answer.code


def _serve(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth_mcp.serving import serve

    serve()


_VERBS: dict[str, Callable[[argparse.Namespace, Command], int]] = {
    "map": _map,
    "read": _read,
    "check": _check,
    "probe": _probe,
    "triage": _triage,
    "notes": _notes,
    "explain": _explain,
    "report": _report,
    "evidence": _evidence,
    "loss-surface": _loss_surface,
    "sweep": _sweep,
    "serve": _serve,
}
