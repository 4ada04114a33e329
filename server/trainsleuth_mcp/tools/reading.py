"""Tools that read the code and the lore; the map alone runs a command, when it is given one."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field
from trainsleuth.answers import Answer

from trainsleuth_mcp.calls import Call, in_thread
from trainsleuth_mcp.keeping import hear
from trainsleuth_mcp.places import inside, root_folder, words_of
from trainsleuth_mcp.tools.arguments import (
    CONCISE,
    FULL,
    Checks,
    Detail,
    Observed,
    Python,
    Root,
    Seconds,
    tokens,
    told,
)
from trainsleuth_mcp.tools.running import alone, request_of


async def map_training_repo(
    context: Context[Any, Any],
    root: Root = "",
    scope: Annotated[str, Field(description="Only this folder or file of root")] = "",
    recipe: Annotated[str, Field(description="Configuration file that chooses the parts, or the launch command")] = "",
    expand: Annotated[
        str,
        Field(
            description="Components in full (config, or loss,data ...), batch, run: what is asked of every run, "
            "'lines REGEX in PATH', 'open PATH:LINE', 'ask QUESTION' in plain words, 'find WORDS'"
        ),
    ] = "",
    budget: Annotated[int, Field(ge=300, le=7_000, description="Size of the map in tokens")] = 2_000,
    observe_command: Observed = "",
    seconds: Seconds = 45,
    python: Python = "",
) -> str:
    """Which lines of a training repository are the entry point, configuration, data, model, loss, optimizer, training \
loop, logging, checkpointing and evaluation, as path:line with code. With expand, all about one of them: values, \
callers, what sets each setting. Reads only, unless observe_command is given: then it EXECUTES CODE, two steps of it, \
and shows what really ran and where that differs. To search for bugs, find_silent_bugs."""
    folder = root_folder(root)
    scope_ = inside(folder, scope) if scope else None
    recipe_ = recipe if " " in recipe else inside(folder, recipe) if recipe else None
    words = words_of(observe_command) if observe_command else ()
    if words and expand:
        raise ToolError("observe_command marks the whole map; leave out expand")

    def read(call: Call) -> Answer:
        from trainsleuth.answers.reports import map_answer
        from trainsleuth.map import expand_component, map_repository
        from trainsleuth.repository import Repository

        if expand:
            one = expand_component(folder, expand, scope=scope_, recipe=recipe_, budget=budget)
            return map_answer(one, Repository(folder).files)
        found = map_repository(folder, scope=scope_, recipe=recipe_, budget=budget)
        return map_answer(found, Repository(folder).files)

    def observed(call: Call) -> Answer:
        from trainsleuth.answers.reports import observed_map_answer
        from trainsleuth.observing import observed_map
        from trainsleuth.repository import Repository

        asked = request_of(call, words, folder, folder, seconds, python, "auto")
        found = observed_map(asked, folder, scope_, recipe_, budget)
        return observed_map_answer(found, Repository(folder).files)

    answer = await (alone(observed, context, seconds) if words else in_thread(read, context))
    return told(answer, "map", FULL)


async def find_silent_bugs(
    context: Context[Any, Any],
    root: Root = "",
    paths: Annotated[list[str] | None, Field(description="Only these files or folders of root")] = None,
    only: Checks = None,
    detail: Detail = "concise",
) -> str:
    """Searches the code for bugs that raise no exception (softmax before cross entropy, gradients never cleared, loss \
cut from the graph, unregistered modules ...) without running it. Returns findings as path:line with the chain of code \
that proves each, what was ruled out and what could not be resolved. To test the running program, run_probe."""
    folder = root_folder(root)
    chosen = [inside(folder, path) for path in paths] if paths else None

    def work(call: Call) -> Answer:
        from trainsleuth.accepted import reviewed
        from trainsleuth.answers.reports import check_answer
        from trainsleuth.copies import folded
        from trainsleuth.repository import Repository

        repository = Repository(folder)
        review = reviewed(repository, only=only, paths=chosen)
        findings = folded(repository, review.report.findings)
        hear(folder, findings)
        sources = repository.sources(chosen or ())
        return check_answer(review, findings, str(folder), sources, review.report.read(sources))

    return told(await in_thread(work, context), "check", tokens(detail))


async def look_up_folklore(
    context: Context[Any, Any],
    query: Annotated[
        str, Field(description='A symptom, a question or an id: "val worse than train", "fails-silently"')
    ],
    limit: Annotated[int, Field(ge=1, le=20)] = 5,
) -> str:
    """What is known about a symptom of training, an optimizer, a loss ...: short claims with strength (measured or \
merely said), who disputes them, and their sources. Also explains the ids that other answers cite."""

    def work(call: Call) -> Answer:
        from trainsleuth import lore
        from trainsleuth.answers.lore import lore_answer

        return lore_answer(lore.look_up(query, limit), query)

    return told(await in_thread(work, context), "", CONCISE)
