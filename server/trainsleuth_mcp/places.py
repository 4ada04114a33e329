"""Where the tools may look: one folder that holds a repository, never a whole disk or a whole home."""

from __future__ import annotations

import shlex
from pathlib import Path

from mcp.server.mcpserver.exceptions import ToolError


def root_folder(given: str) -> Path:
    """The repository's folder, resolved; "" is the current directory. Raises ToolError with what to give instead."""
    path = Path(given or ".").expanduser()
    try:
        root = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise ToolError(
            f"root {given!r} does not exist ({_reason(error)}); give the folder of the training code"
        ) from error
    if not root.is_dir():
        raise ToolError(f"root {str(root)!r} is a file; give its folder: root={str(root.parent)!r}")
    if root == Path(root.anchor) or root == Path.home().resolve():
        raise ToolError(
            f"root {str(root)!r} is a whole disk or home, not a repository; give the folder of the training code"
        )
    return root


def inside(root: Path, given: str) -> str:
    """`given` relative to `root`, with forward slashes. Raises ToolError when it leads outside or to nothing."""
    try:
        path = (root / Path(given).expanduser()).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise ToolError(
            f"{given!r} does not exist in {str(root)!r} ({_reason(error)}); give paths relative to root"
        ) from error
    if not path.is_relative_to(root):
        raise ToolError(f"{given!r} leads outside of root {str(root)!r}; give a root that holds it")
    return path.relative_to(root).as_posix()


def words_of(command: list[str] | str) -> tuple[str, ...]:
    """The command as its words; a single string is split as a shell would."""
    if isinstance(command, list) and len(command) == 1 and " " in command[0]:
        command = command[0]
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError as error:
            raise ToolError(f"the command {command!r} cannot be split ({error}); give a list of words") from error
    if not command:
        raise ToolError('no command was given; for example: command=["python", "train.py"]')
    if any("\0" in word for word in command):
        raise ToolError("the command holds a NUL character, which no program can be given; leave it out")
    return tuple(command)


def name_of_run(given: str) -> str:
    """The name of a run folder, no path: what lies in a repository is no record of ours. Raises ToolError."""
    if "/" in given or "\\" in given or given.startswith("."):
        raise ToolError(f"again={given!r} is no run; give the name that run_probe told, or 'last'")
    return given


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
