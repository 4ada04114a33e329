"""The conversation: an Anthropic model, our tools, and the limits. The one file that imports anthropic."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic
import anyio
from anthropic.lib.tools import BetaAsyncFunctionTool, ToolError, beta_async_tool
from mcp import Client

from trainsleuth.notes import FILE_NAME, Notes
from trainsleuth.wording import one_line

from .agreement import Agreement
from .change import Bench
from .gate import Standing, standing
from .limits import Limits, Room, Spent
from .served import asked, served
from .source import source_tools
from .tool import RefusedError, Tool
from .transcript import Transcript
from .trying import trying_tool
from .words import CHANGES, SYSTEM, first_message

if TYPE_CHECKING:
    from mcp.server import MCPServer

DEFAULT_MODEL = "claude-sonnet-5-5"
REPLY_TOKENS = 8_000  # of one reply
RESULT_CHARACTERS = 32_000  # of one tool's result
TURN_CHARACTERS = 96_000  # of the results of one reply's calls together: a reply can hold hundreds of calls


class AgentError(Exception):
    """The model could not be asked at all; the message says why, and what to do."""


@dataclass(frozen=True)
class Report:
    """What came of it. `ended` says why it stopped: "" when the model had said all it wanted to say."""

    answer: str
    case: Standing
    ended: str
    spent: Spent
    transcript: Path
    notes: Path
    diff: Path | None


def model_name(option: str | None) -> str:
    """The option, else $TRAINSLEUTH_MODEL, else the default."""
    return option or os.environ.get("TRAINSLEUTH_MODEL") or DEFAULT_MODEL


def connect() -> anthropic.AsyncAnthropic:
    """A client with the user's key. Raises AgentError when there is none."""
    client = anthropic.AsyncAnthropic(timeout=180.0)
    if not (client.api_key or client.auth_token):
        raise AgentError(
            "--agent needs an account: set ANTHROPIC_API_KEY, or leave out --agent (triage by rule needs none)"
        )
    return client


async def investigate(
    agreement: Agreement,
    client: anthropic.AsyncAnthropic,
    server: MCPServer[Any],
    *,
    model: str,
    limits: Limits,
    folder: Path,
    symptom: str = "",
    logs: Sequence[str] = (),
    say: Callable[[str], None] = lambda words: None,
) -> Report:
    """Works on the case until the model is done or a limit is reached; what was found is in the notes at any moment.

    `folder`, outside of the repository, takes the transcript and the diff. `logs` are texts of `clues.log_text`.
    Raises AgentError when the first request already fails.
    """
    notes, transcript = Notes(agreement.root / FILE_NAME, agreement.root), Transcript(folder / "transcript.jsonl")
    bench, spent, room = Bench(agreement, notes, symptom, folder), Spent(), Room(TURN_CHARACTERS)
    async with Client(server) as session:
        listed = (await session.list_tools()).tools
        tools = [*served(agreement, listed, session), *source_tools(agreement)]
        tools += [trying_tool(bench)] if agreement.may_change else []
        written = await asked(session, "read_notes", {"root": str(agreement.root)}) if notes.path.exists() else ""
        opening = first_message(agreement, symptom, written, logs, str(limits))
        transcript.add("start", model=model, agreement=agreement.words, message=opening)
        runner = client.beta.messages.tool_runner(
            model=model,
            max_tokens=REPLY_TOKENS,
            system=[{"type": "text", "text": SYSTEM + (CHANGES if agreement.may_change else "")}],
            messages=[{"role": "user", "content": opening}],
            tools=[_runnable(tool, room, transcript, say) for tool in tools],
            cache_control={"type": "ephemeral"},  # only what was just said is new; the rest is cached
            max_iterations=limits.turns,
            thread=False,
        )
        answer, ended = await _conversed(runner, limits, spent, room, transcript)
    transcript.add("end", ended=ended, spent=str(spent))
    if ended and not spent.turns and spent.seconds < limits.seconds:
        raise AgentError(ended)
    return Report(answer, standing(notes, symptom), ended, spent, transcript.path, notes.path, bench.diff)


async def _conversed(
    runner: AsyncIterable[Any], limits: Limits, spent: Spent, room: Room, transcript: Transcript
) -> tuple[str, str]:
    """The model's last words, and why it stopped before it was done ("" when it was)."""
    answer, ended = "", ""
    with anyio.move_on_after(limits.seconds) as clock:
        try:
            async for message in runner:
                spent.add(message.usage)
                room.renew()
                transcript.add("reply", stop=message.stop_reason, content=[one.to_dict() for one in message.content])
                answer = _text(message.content) or answer
                ended = _stopped(message) or (spent.over(limits) if message.stop_reason == "tool_use" else "")
                if ended:
                    break
        except anthropic.AnthropicError as error:
            ended = _said(error)
    if clock.cancelled_caught:
        ended = f"the limit of {limits.seconds:g} s was reached"
    return answer, ended


def _runnable(tool: Tool, room: Room, transcript: Transcript, say: Callable[[str], None]) -> BetaAsyncFunctionTool[Any]:
    """The tool for the runner: bounded, written down, and every failure of it in words that help."""

    async def call(**given: Any) -> str:
        say(f"{tool.name}({_shown(given)})")
        try:
            if not room.left:
                raise RefusedError("this reply asked for more than fits into one turn; call it again, alone")
            text = await tool.call(**tool.argued(given))
        except RefusedError as refused:
            transcript.add("refused", tool=tool.name, given=given, why=str(refused))
            raise ToolError(str(refused)) from refused
        except Exception as error:
            transcript.add("failed", tool=tool.name, given=given, why=repr(error))
            raise ToolError(f"{tool.name} failed: {one_line(str(error), 400)}") from error
        text = room.fitted(text if len(text) <= RESULT_CHARACTERS else f"{text[:RESULT_CHARACTERS]}\n[cut]")
        transcript.add("result", tool=tool.name, given=given, text=text)
        return text

    return beta_async_tool(call, name=tool.name, description=tool.description, input_schema=dict(tool.schema))


def _shown(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={one_line(str(value), 60)}" for name, value in given.items())


def _text(content: Sequence[Any]) -> str:
    return "\n".join(block.text for block in content if block.type == "text").strip()


def _stopped(message: Any) -> str:
    """Why the model itself cannot go on; "" when it can, or is done."""
    if message.stop_reason == "refusal":
        return "the model declined to go on"
    if message.stop_reason == "max_tokens":
        return f"a reply was longer than {REPLY_TOKENS:,} tokens"
    return ""


def _said(error: anthropic.AnthropicError) -> str:
    """What the API's failure means for the user."""
    if isinstance(error, anthropic.AuthenticationError):
        return "the API refused the key: check ANTHROPIC_API_KEY"
    if isinstance(error, anthropic.NotFoundError):
        return f"the API does not know this model: {one_line(error.message, 200)}; give another by --model"
    if isinstance(error, anthropic.APIStatusError):
        return f"the API answered {error.status_code}: {one_line(error.message, 300)}; try again later"
    if isinstance(error, anthropic.APIConnectionError):
        return f"the API could not be reached or its answer was cut ({one_line(str(error), 200)}); try again later"
    return f"the API's answer was not understood: {one_line(str(error), 300)}"
