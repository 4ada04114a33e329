"""triage --agent: asks for consent, then lets a model work on the case."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.scope import UsageError

if TYPE_CHECKING:
    import anyio

    from trainsleuth.agent import Agreement
    from trainsleuth.agent.loop import Report

SECONDS = 900.0  # of a whole investigation
RUN_SECONDS = 90.0  # of one run of the user's program


def run(asked: argparse.Namespace, command: tuple[str, ...]) -> int:
    """Raises UsageError without consent, AgentError when the model cannot be asked."""
    from trainsleuth.agent import log_text

    agreement = _agreement(asked, command)
    logs = [log_text(path) for path in asked.log or ()]
    _consented(agreement.words, asked.yes)

    from trainsleuth.agent.loop import connect, model_name  # anthropic is slow to import
    from trainsleuth.answers.investigation import investigation_answer

    model, client = model_name(asked.model), connect()

    async def work(say: Callable[[str], None] | None) -> Report:
        from trainsleuth_mcp.serving import build

        from trainsleuth.agent import Limits
        from trainsleuth.agent.loop import investigate

        limits = Limits(asked.max_turns, asked.max_tokens, asked.time or SECONDS)
        told = {"symptom": asked.symptom, "logs": logs, "say": say or (lambda words: None)}
        return await investigate(agreement, client, build(), model=model, limits=limits, folder=_folder(), **told)

    report = _interruptible(work)
    answer = investigation_answer(report, agreement, model, output.width())
    output.show(answer, asked.format)
    return answer.code


def _interruptible(work: Callable[[Callable[[str], None] | None], object]) -> Report:
    """What `work` returns. A signal ends the user's program first, then raises EndedBySignalError."""
    import anyio

    found: list[Report] = []

    async def watched(cancelled: Callable[[], bool], say: Callable[[str], None] | None) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, cancelled, tasks.cancel_scope)
            found.append(await work(say))  # type: ignore[misc]
            tasks.cancel_scope.cancel()

    with cancellable() as cancelled, output.progress() as say:
        anyio.run(watched, cancelled, say)
    return found[0]


async def _watch(cancelled: Callable[[], bool], scope: anyio.CancelScope) -> None:
    import anyio

    while not cancelled():
        await anyio.sleep(0.1)
    scope.cancel()


def _agreement(asked: argparse.Namespace, command: tuple[str, ...]) -> Agreement:
    from trainsleuth.agent import Agreement
    from trainsleuth.notes import FILE_NAME

    here = Path.cwd().resolve()
    root = (asked.root or here).resolve()
    if not here.is_relative_to(root):
        raise UsageError(f"--root {root} does not hold the current folder {here}, where the command would start")
    if asked.no_notes or (asked.notes and asked.notes.resolve() != root / FILE_NAME):
        raise UsageError(f"--agent keeps its memory in {root / FILE_NAME}; leave out --notes and --no-notes")
    return Agreement(
        root,
        command,
        cwd=here.relative_to(root).as_posix(),
        python=asked.python or "",
        contain=asked.contain,
        seconds=min(RUN_SECONDS, asked.time or RUN_SECONDS),
        may_change=asked.fix,
    )


def _consented(words: str, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{words} Nobody is here to agree: add --yes")
    sys.stderr.write(f"{words}\nGo on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was run")


def _folder() -> Path:
    from trainsleuth.notes.lock import home_folder

    return home_folder() / "agent" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
