"""Tools about a case as a whole: the notes, and what to test next."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field
from trainsleuth.answers import Answer
from trainsleuth.repository import missing_line

from trainsleuth_mcp.calls import Call, in_thread
from trainsleuth_mcp.keeping import heard
from trainsleuth_mcp.places import inside, root_folder
from trainsleuth_mcp.tools.arguments import CONCISE, Detail, Root, tokens, told


async def suggest_next_test(
    context: Context[Any, Any],
    root: Root = "",
    symptom: Annotated[str, Field(description="What is wrong, in words")] = "",
    seconds_left: Annotated[float, Field(gt=0, description="Leave out tests that usually take longer")] = 600,
) -> str:
    """Which check or probe would tell most about the cause next, per second that it costs, and how likely each \
hypothesis is, given the notes of the repository and what the tools found in it since this server started."""
    folder = root_folder(root)

    def work(call: Call) -> Answer:
        from trainsleuth import ledger
        from trainsleuth.answers.hypotheses import next_test_answer
        from trainsleuth.notes import Notes

        noted, recent = Notes(folder).last_said(), heard(folder)
        said = {**noted, **recent}
        findings = [finding for by in said.values() for finding in by]
        hypotheses = ledger.update(findings, symptom=symptom)
        evidence = (
            f"{len(findings)} findings of {len(said)} tests: {len(recent)} run by this server, the rest from the notes"
        )
        return next_test_answer(hypotheses, ledger.suggest(hypotheses, set(said), seconds_left)[:5], evidence)

    return told(await in_thread(work, context), "", CONCISE)


async def read_notes(context: Context[Any, Any], root: Root = "", detail: Detail = "concise") -> str:
    """What earlier work on this repository found: hypotheses with their verdicts, findings (failures first, of each kind the newest first), runs. Reads \
trainsleuth-notes.md, which triage_training_run and add_to_notes write."""
    folder = root_folder(root)

    def work(call: Call) -> Answer:
        from trainsleuth.answers.notes import notes_answer
        from trainsleuth.notes import Notes

        notes = Notes(folder)
        return notes_answer(notes.read(), notes.path)

    return told(await in_thread(work, context), "", tokens(detail))


async def add_to_notes(
    context: Context[Any, Any],
    text: Annotated[str, Field(description="What was seen or decided, in a sentence")] = "",
    root: Root = "",
    path: Annotated[str, Field(description="File that it is about, relative to root")] = "",
    line: Annotated[int | None, Field(ge=1)] = None,
    include_findings: Annotated[
        bool, Field(description="Also add what the tools found in root since the server started")
    ] = False,
    answers: Annotated[str, Field(description="Id of the reading question that text answers")] = "",
    start_reading: Annotated[
        bool, Field(description="Also add the questions of a reading, as answered so far")
    ] = False,
) -> str:
    """Adds an observation, an answer, a reading, or the findings of earlier calls to trainsleuth-notes.md in root. \
Nothing in that file is ever changed or removed."""
    folder = root_folder(root)
    if not text.strip() and not include_findings and not start_reading:
        raise ToolError("nothing to add: give text, include_findings=true or start_reading=true")
    if answers and not text.strip():
        raise ToolError(f"say in text what answers {answers!r}, and in path and line where that is seen")
    place = inside(folder, path) if path else None
    if place is not None and (why := missing_line(folder / place, line)):
        raise ToolError(f"{place} has no line {line}: {why}")

    def work(call: Call) -> Answer:
        from trainsleuth.notes import Notes

        notes = Notes(folder)
        added: list[str] = []
        if start_reading:
            from trainsleuth.reading import read_repository

            added += read_repository(folder, notes).news
        if answers:
            from trainsleuth.reading import answer_question

            added += answer_question(notes, answers, text, place, line)
        elif text.strip():
            added += notes.add_note(text, path=place, line=line)
        if include_findings:
            found = [finding for by in heard(folder).values() for finding in by]
            added += notes.add_findings(found, command="from the tools, through MCP")
        words = (
            f"added {len(added)} entries ({', '.join(added)})" if added else "nothing was added, it is there already"
        )
        return Answer(head=f"{words}: {notes.path}", sections=(), plain={"added": added, "notes": str(notes.path)})

    return told(await in_thread(work, context), "", CONCISE)
