"""Which program a command starts, and how our runtime gets into a Python that ignores PYTHONPATH."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT_TOOLS = {"uv", "poetry", "conda", "mamba", "micromamba", "pipenv", "pdm", "hatch", "rye", "pixi"}
PREFIXES = {
    "env",
    "nice",
    "ionice",
    "time",
    "timeout",
    "taskset",
    "numactl",
    "stdbuf",
    "xvfb-run",
    "nohup",
    "setsid",
}
_PYTHON = re.compile(r"(python|pypy)[0-9.]*(w|t|d)?(\.exe)?")
_NAMES = ("--python", "-p", "-n", "--name")  # options whose value may look like an interpreter
_TAKES_VALUE = "WXcm"
_BLIND = frozenset("IES")  # -I and -E ignore PYTHONPATH, -S never imports sitecustomize


class CommandError(Exception):
    """The command is not one that can be started; the message says what to do."""


@dataclass(frozen=True)
class PythonCall:
    """`python FLAGS WHAT...`: `what` begins with a script, `-m` or `-c`, and is empty without a program."""

    python: str
    flags: tuple[str, ...]
    what: tuple[str, ...]

    @property
    def letters(self) -> str:
        """The single-letter flags, values left out."""
        return "".join(re.split("[WX]", flag[1:])[0] for flag in self.flags if re.match("-[a-zA-Z]", flag))

    @property
    def is_blind(self) -> bool:
        return bool(self.what) and not _BLIND.isdisjoint(self.letters)

    def through(self, runner: Path) -> list[str]:
        """The same call by way of `runner`, which knows how to let us in."""
        if "x" in self.letters:
            raise CommandError("python -x together with -I, -E or -S cannot be probed: leave -x away")
        return [self.python, *self.flags, str(runner), *self.what]


def is_python(program: str) -> bool:
    return _PYTHON.fullmatch(os.path.basename(program)) is not None


def parse_python(words: Sequence[str]) -> PythonCall:
    """Split a Python command line where the interpreter itself would."""
    flags: list[str] = []
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-":
        flag = rest.pop(0)
        if flag.startswith("--"):
            flags.append(flag)
            if flag == "--check-hash-based-pycs" and rest:
                flags.append(rest.pop(0))
            continue
        place = next((i for i, letter in enumerate(flag) if i and letter in _TAKES_VALUE), None)
        if place is None:
            flags.append(flag)
        elif flag[place] in "WX":
            flags.append(flag)
            if place == len(flag) - 1 and rest:
                flags.append(rest.pop(0))
        else:  # -m and -c end the flags, also at the end of a cluster and with their value attached
            if place > 1:
                flags.append(flag[:place])
            value = [flag[place + 1 :]] if flag[place + 1 :] else rest[:1]
            arguments = rest if flag[place + 1 :] else rest[1:]
            return PythonCall(words[0], tuple(flags), (f"-{flag[place]}", *value, *arguments))
    return PythonCall(words[0], tuple(flags), () if rest[:1] == ["-"] else tuple(rest))


def resolve(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], python: str | None, runner: Path
) -> list[str]:
    """The words to start. Raises CommandError for a command that does not exist or cannot be executed.

    `python` takes the place of the interpreter where the command or its script's first line names one.
    """
    words = list(command)
    if python is not None and is_python(words[0]):
        words[0] = python
    words[0] = find(words[0], cwd, environment)
    line = shebang(cwd / words[0])
    is_script = bool(line) and is_python(line[0])
    if is_script and python is not None:
        words = [python, *line[1:], *words]
    at = _python_at(words)
    if at is None and not is_script:
        return words
    call = parse_python(words[at:]) if at is not None else parse_python([*line, *words])
    return [*words[: at or 0], *call.through(runner)] if call.is_blind else words


def find(program: str, cwd: Path, environment: Mapping[str, str]) -> str:
    """The program as a shell would find it, a name with a slash seen from `cwd`."""
    if os.sep in program:
        path = cwd / program
        if not path.exists():
            raise CommandError(f"{program} does not exist in {cwd}: check the path and the folder")
        if path.is_dir():
            raise CommandError(f"{program} is a folder: give the program in it")
        if not os.access(path, os.X_OK):
            raise CommandError(f"{program} is not executable: {_advice(program)}")
        return program
    search = [str(cwd / place) for place in environment.get("PATH", os.defpath).split(os.pathsep)]
    found = shutil.which(program, path=os.pathsep.join(search))
    if found is None:
        raise CommandError(
            f"the command {program!r} was not found on PATH"
            + (f": {_advice(program)}" if (cwd / program).exists() else ": check its name or give its path")
        )
    return found


def _advice(program: str) -> str:
    runner = {".py": "python", ".sh": "bash"}.get(Path(program).suffix)
    return f"start it as `{runner} {program}`" if runner else "chmod +x it, or name the program that runs it"


def _python_at(words: Sequence[str]) -> int | None:
    """Where the interpreter stands: in front, or behind a wrapper such as `env` or `uv run`."""
    if is_python(words[0]):
        return 0
    if os.path.basename(words[0]) in PROJECT_TOOLS | PREFIXES:
        return next((i for i, word in enumerate(words) if is_python(word) and words[i - 1] not in _NAMES), None)
    return None


def shebang(script: Path) -> list[str]:
    """The words of a script's first line, `env` and its -S left out; [] when there is none."""
    try:
        with open(script, "rb") as file:
            line = file.readline(512)
    except OSError:
        return []
    if not line.startswith(b"#!"):
        return []
    first, _, rest = line[2:].decode("utf-8", "replace").strip().partition(" ")
    if os.path.basename(first) != "env":
        return [first, *filter(None, [rest.strip()])]
    words = shlex.split(rest.strip().removeprefix("-S").strip())
    return [word for word in words if "=" not in word]
