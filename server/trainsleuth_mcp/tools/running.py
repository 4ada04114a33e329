"""Tools that run the user's own training command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field
from trainsleuth.answers import Answer

from trainsleuth_mcp.calls import Call, in_thread
from trainsleuth_mcp.keeping import hear
from trainsleuth_mcp.places import inside, name_of_run, root_folder, words_of
from trainsleuth_mcp.tools.arguments import Command, Contain, Cwd, Detail, Probes, Python, Root, Seconds, tokens, told

if TYPE_CHECKING:
    from trainsleuth.probing import Request

_one_program_at_a_time = anyio.Lock()


async def run_probe(
    context: Context[Any, Any],
    command: Command = "",
    root: Root = "",
    only: Probes = None,
    again: Annotated[
        str, Field(description="After a change: the failed probes of this run ('last'), no other argument")
    ] = "",
    seconds: Seconds = 45,
    steps: Annotated[int | None, Field(ge=1, description="Training steps to watch at most")] = None,
    cwd: Cwd = ".",
    python: Python = "",
    contain: Contain = "auto",
    detail: Detail = "concise",
) -> str | list[str | Image]:
    """Runs the user's own training command, unchanged, for a few steps with hooks inside, and says what the probes \
measured: order of backward and step, parameters without gradient or update, what the loss was given, whether one batch \
can be fitted, where NaN first appeared. only=["batch_as_seen"] also shows pictures that entered the model. Files that the program writes stay out of the repository. EXECUTES CODE."""
    folder = root_folder(root)
    words = words_of(command) if command or not again else ()
    workdir = folder / inside(folder, cwd)

    shown: list[str | Image] = []

    def work(call: Call) -> Answer:
        from trainsleuth.answers.pictures import pictures
        from trainsleuth.answers.reports import probe_answer
        from trainsleuth.probing import run_probes

        asked = request_of(call, words, folder, workdir, seconds, python, contain)
        if again:
            return repeated(name_of_run(again), asked, folder)
        asked = replace(asked, only=frozenset(only) if only else None, steps=steps)
        report = run_probes(asked)
        hear(folder, report.findings)
        answer = probe_answer(report, asked)
        if not report.started:
            raise ToolError(answer.text())
        if "batch_as_seen" in (only or ()):  # a picture costs a model about as much as the whole text
            shown.extend(Image(data=one, format="png") for one in pictures(report.runs))
        return answer

    text = told(await alone(work, context, seconds), "probe", tokens(detail))
    return [text, *shown] if shown else text


def repeated(run: str, asked: Request, folder: Path) -> Answer:
    """What failed in an earlier run, and what became of it."""
    from trainsleuth.again import probe_again
    from trainsleuth.answers.reports import again_answer

    found = probe_again(run, asked)
    hear(folder, found.report.findings)
    return again_answer(found)


async def triage_training_run(
    context: Context[Any, Any],
    command: Command,
    symptom: Annotated[str, Field(description='What is wrong, in words: "loss is stuck at 2.3"')] = "",
    root: Root = "",
    seconds: Seconds = 45,
    cwd: Cwd = ".",
    python: Python = "",
    contain: Contain = "auto",
    write_notes: Annotated[bool, Field(description="Add what was found to trainsleuth-notes.md in root")] = True,
    detail: Detail = "concise",
) -> str:
    """Finds the likeliest cause of a training run that goes wrong: searches the code, runs the user's command with the \
probes that tell most, ranks the hypotheses, and says what to test next. The one call to start with. EXECUTES CODE."""
    folder = root_folder(root)
    words = words_of(command)
    workdir = folder / inside(folder, cwd)

    def work(call: Call) -> Answer:
        from trainsleuth.answers.reports import triage_answer
        from trainsleuth.notes import FILE_NAME
        from trainsleuth.triage import triage

        asked = request_of(call, words, folder, workdir, seconds, python, contain)
        case = triage(asked, symptom=symptom, notes=folder / FILE_NAME if write_notes else None)
        hear(folder, case.findings)
        return triage_answer(case, asked, symptom)

    return told(await alone(work, context, seconds), "triage", tokens(detail))


async def alone(work: Callable[[Call], Answer], context: Context[Any, Any], seconds: float) -> Answer:
    """Two programs at once would fight for memory and time, and each measure the other."""
    async with _one_program_at_a_time:
        return await in_thread(work, context, seconds)


def request_of(
    call: Call, command: tuple[str, ...], root: Path, cwd: Path, seconds: float, python: str, contain: str
) -> Request:
    from trainsleuth.probing import Request

    return Request(
        command,
        seconds=seconds,
        root=root,
        cwd=cwd,
        python=python or None,
        contain=contain,
        cancelled=call.cancel.is_set,
        progress=call.say,
    )
