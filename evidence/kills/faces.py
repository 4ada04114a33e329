"""The two ways to have a program probed, as processes that can be killed: the command line and the MCP server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
STEPS = 25
PROBES = ("step_trace", "parameter_table")
CALL = {"only": list(PROBES), "steps": STEPS, "seconds": 60}
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "kills", "version": "1"},
}


@dataclass(frozen=True)
class Said:
    """What a face said before it ended: a whole answer or none, and its exit code."""

    text: str
    code: int | None

    @property
    def answer(self) -> dict[str, Any] | None:
        """The answer as data; None when it is not whole."""
        with suppress(ValueError):
            found = json.loads(self.text)
            return found if isinstance(found, dict) else None
        return None


def environment(home: Path, mark: str) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT / 'tools'}{os.pathsep}{ROOT / 'server'}",
        "TRAINSLEUTH_HOME": str(home),
        "OMP_NUM_THREADS": "1",
        "MARK": mark,
    }


class CommandLine:
    """`trainsleuth probe`, whose answer is its standard output."""

    def __init__(self, command: Sequence[str], folder: Path, env: dict[str, str]) -> None:
        words = [word for probe in PROBES for word in ("--only", probe)]
        words += ["--steps", str(STEPS), "--time", "60", "--format", "json", "--", *command]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trainsleuth", "probe", *words],
            cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def end(self, seconds: float) -> Said:
        text, _ = self.process.communicate(timeout=seconds)
        return Said(text, self.process.returncode)


class Server:
    """`trainsleuth-mcp` with one call of run_probe in flight; its whole answer is the file that the text names."""

    def __init__(self, command: Sequence[str], folder: Path, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trainsleuth_mcp"],
            cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._say("initialize", _HELLO, 1)
        self._say("notifications/initialized", {})
        self._say("tools/call", {"name": "run_probe", "arguments": {"command": list(command), **CALL}}, 2)

    def _say(self, method: str, params: dict[str, Any], number: int | None = None) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(message | ({"id": number} if number else {})) + "\n")
            self.process.stdin.flush()

    def end(self, seconds: float) -> Said:
        """Waits for the answer, then closes the conversation."""
        assert self.process.stdin is not None and self.process.stdout is not None
        until = time.monotonic() + seconds
        text = next((_kept(told) for told in self._heard() if told.get("id") == 2), "")
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        return Said(text, self.process.wait(timeout=max(1.0, until - time.monotonic())))

    def _heard(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValueError):  # the last line of a server that was killed while it spoke
                yield json.loads(line)


def _kept(told: dict[str, Any]) -> str:
    """The whole answer, as the server keeps it in a file; its words when it is an error."""
    text = "".join(block.get("text", "") for block in told.get("result", {}).get("content", ()))
    name = next((line for line in text.splitlines() if line.startswith("full result: ")), None)
    return Path(name.removeprefix("full result: ")).read_text() if name else text
