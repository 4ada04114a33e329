"""One call of a tool: the engine in a thread of its own, cancellable, with progress, and errors that say what to do."""

from __future__ import annotations

import functools
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from trainsleuth.wording import one_line

_T = TypeVar("_T")
_P = ParamSpec("_P")

PROGRESS_AFTER = 2.0  # seconds; before that an answer is worth more than a word on it
PROGRESS_EVERY = 1.0
END_WITHIN = 1.5  # seconds for the engine to end the user's program; clients wait 2 before they kill us

_running: set[Call] = set()


@dataclass(eq=False)
class Call:
    """What the engine's thread and the event loop tell each other."""

    cancel: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    words: str = "working"

    def say(self, words: str) -> None:
        self.words = words


async def in_thread(work: Callable[[Call], _T], context: Context[Any, Any], seconds: float | None = None) -> _T:
    """What `work` returns. When the caller gives up, `cancel` is set, and the thread ends by itself soon after."""
    call = Call()

    def run() -> _T | ToolError:
        try:
            return work(call)
        except BaseException as error:  # SystemExit in a thread would take the event loop with it
            return _told(error)
        finally:
            call.over.set()
            _running.discard(call)

    _running.add(call)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_report, call, context, seconds)
            outcome = await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
            tasks.cancel_scope.cancel()
    finally:
        call.cancel.set()
    if isinstance(outcome, ToolError):
        raise outcome
    return outcome


def end_all(within: float = END_WITHIN) -> None:
    """Tells every call to end, and waits until their programs are gone, `within` seconds at most."""
    calls = list(_running)
    for call in calls:
        call.cancel.set()
    deadline = time.monotonic() + within
    for call in calls:
        call.over.wait(max(0.0, deadline - time.monotonic()))


def guarded(tool: Callable[_P, Awaitable[_T]]) -> Callable[_P, Awaitable[_T]]:
    """`tool`, whose every failure reaches the model as words: the SDK passes on the text of ToolError alone."""

    @functools.wraps(tool)
    async def run(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return await tool(*args, **kwargs)
        except (anyio.get_cancelled_exc_class(), GeneratorExit):
            raise
        except BaseException as error:
            raise _told(error) from error

    return run


async def _report(call: Call, context: Context[Any, Any], seconds: float | None) -> None:
    started = time.monotonic()
    await anyio.sleep(PROGRESS_AFTER)
    while True:
        elapsed = round(time.monotonic() - started, 1)
        await context.report_progress(elapsed, seconds, one_line(call.words, 200))
        await anyio.sleep(PROGRESS_EVERY)


def _told(error: BaseException) -> ToolError:
    """The engine's own words for wrong usage; for anything else, what broke and where, in one line."""
    if isinstance(error, ToolError):
        return error
    if type(error).__module__.partition(".")[0] in ("trainsleuth", "trainsleuth_mcp"):
        return ToolError(str(error))
    if isinstance(error, OSError) and error.filename is not None:
        return ToolError(f"{error.filename}: {error.strerror}; check the path and its permissions")
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "trainsleuth" in Path(frame.filename).parts
    ]
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return ToolError(
        f"trainsleuth itself failed{where}: {type(error).__name__}: {one_line(str(error), 300)}. "
        "Your program was not the cause; try the other tools, or a narrower call"
    )
