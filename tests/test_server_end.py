"""However a call or the server ends, nothing of the user's program is left."""

from __future__ import annotations

import os
import signal
import time
import uuid
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_session import SERVER, talk, told
from small_programs import ENDLESS, PYTHON, WAITING, gone_after, wait_for
from twins import one_in

WITHIN = 2.0  # seconds
CALL: dict[str, Any] = {"command": [PYTHON, "train.py"], "seconds": 120}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "train.py").write_text(WAITING)
    return folder


def server_pid(word: str) -> int:
    return next(pid for pid, line in wait_for(word, SERVER).items() if SERVER in line)


@pytest.mark.parametrize("tool", ["run_probe", "triage_training_run"])
def test_a_cancelled_call_ends_its_program(tmp_path: Path, repo: Path, tool: str) -> None:
    word = uuid.uuid4().hex

    async def conversation(client: Client) -> tuple[float, str]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, tool, CALL)
            await anyio.to_thread.run_sync(wait_for, word, "sleep 600")
            tasks.cancel_scope.cancel()
        seconds = await anyio.to_thread.run_sync(gone_after, word, SERVER)
        return seconds, told(await client.call_tool("look_up_folklore", {"query": "loss is nan"}))

    seconds, after = talk(tmp_path / "home", repo, conversation, MARK=word)
    assert seconds < WITHIN
    assert "source:" in after  # the server serves on


@pytest.mark.parametrize("number", one_in(2, [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
def test_a_killed_server_takes_its_program_along(tmp_path: Path, repo: Path, number: signal.Signals) -> None:
    if number == signal.SIGKILL:
        (repo / "train.py").write_text(ENDLESS)  # with torch and all hooks
    word = uuid.uuid4().hex
    seconds: list[float] = []

    async def conversation(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "run_probe", CALL)
            await anyio.to_thread.run_sync(wait_for, word, "sleep 600")
            os.kill(server_pid(word), number)
            seconds.append(await anyio.to_thread.run_sync(gone_after, word))
            tasks.cancel_scope.cancel()

    try:
        talk(tmp_path / "home", repo, conversation, MARK=word)
    except BaseException as error:  # the client complains about the server that died under it
        assert seconds, error
    assert seconds[0] < WITHIN


def test_the_end_of_the_conversation_is_the_end_of_the_program(tmp_path: Path, repo: Path) -> None:
    word = uuid.uuid4().hex
    left: list[float] = []

    async def conversation(client: Client) -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "run_probe", CALL)
                await anyio.to_thread.run_sync(wait_for, word, "sleep 600")
                left.append(time.monotonic())
                scope.cancel()

    talk(tmp_path / "home", repo, conversation, MARK=word)
    gone_after(word)
    assert time.monotonic() - left[0] < WITHIN + 1.0


def test_progress_is_told_and_moves_on(tmp_path: Path, repo: Path) -> None:
    (repo / "train.py").write_text(ENDLESS)
    heard: list[tuple[float, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async def conversation(client: Client) -> str:
        asked = {**CALL, "seconds": 8, "only": ["step_trace"]}
        return told(await client.call_tool("run_probe", asked, progress_callback=listen))

    talk(tmp_path / "home", repo, conversation)
    assert len(heard) >= 3 and all(message for _, message in heard)
    assert [progress for progress, _ in heard] == sorted({progress for progress, _ in heard})
    assert heard[0][0] >= 2.0
