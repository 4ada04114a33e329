"""Which program a command starts, and how our runtime gets into a Python that ignores PYTHONPATH."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trainsleuth.launcher.python_call import CommandError, is_python, parse_python

PROJECT_TOOLS = {"uv", "poetry", "conda", "mamba", "micromamba", "pipenv", "pdm", "hatch", "rye", "pixi"}
PREFIXES = {"env", "time", "timeout", "nohup", "setsid", "nice", "ionice", "taskset", "numactl", "stdbuf"}
_ENV_TAKES_VALUE = ("-u", "--unset", "-C", "--chdir")
_NOTEBOOK = ".ipynb"
_NAMES = ("--python", "-p", "-n", "--name")  # options whose value may look like an interpreter


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
    words = _with_runtime(words, environment)
    _check_script(words, cwd)
    line = shebang(cwd / words[0])
    is_script = bool(line) and is_python(line[0])
    if is_script and python is not None:
        words = [python, *line[1:], *words]
    at = _python_at(words)
    if at is None and not is_script:
        return words
    call = parse_python(words[at:]) if at is not None else parse_python([*line, *words])
    return [*words[: at or 0], *call.through(runner)] if call.is_blind else words


def _with_runtime(words: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """`env PYTHONPATH=src` replaces the variable that lets us in: our folder goes in front of what it sets."""
    ours = environment.get("PYTHONPATH", "").partition(os.pathsep)[0]
    given = list(words)
    for at in _assignments(words) if ours else ():
        name, _, value = words[at].partition("=")
        if name == "PYTHONPATH":
            given[at] = f"{name}={os.pathsep.join(filter(None, [ours, value]))}"
    return given


def _assignments(words: Sequence[str]) -> Iterator[int]:
    """Where `env`, in front or behind another wrapper, is given its variables."""
    if os.path.basename(words[0]) not in PREFIXES:
        return
    at = next((n for n, word in enumerate(words) if os.path.basename(word) == "env"), len(words)) + 1
    while at < len(words) and (words[at].startswith("-") or "=" in words[at]):
        if not words[at].startswith("-"):
            yield at
        at += 2 if words[at] in _ENV_TAKES_VALUE else 1


def _check_script(words: Sequence[str], cwd: Path) -> None:
    """An interpreter without a wrapper before it is given a script that is there."""
    script = parse_python(words).what[:1] if is_python(words[0]) else ()
    if script and not script[0].startswith("-") and not (cwd / script[0]).exists():
        raise CommandError(f"{script[0]} does not exist in {cwd}: check the path and the folder")
    if script and script[0].endswith(_NOTEBOOK):
        raise CommandError(f"{script[0]} is no program: {_advice(script[0])}")


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
    if program.endswith(_NOTEBOOK):
        return f"write it out, `jupyter nbconvert --to script {program}`, and start the script"
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
