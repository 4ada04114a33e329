"""Who gives an option: code, a configuration, or a command in a script or a README."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from trainsleuth.facts import Index, Spot
from trainsleuth.repository import Hit, is_under

from ._imports import imported, is_of_one_program, is_program
from ._options import set_to

_SCRIPTS = (".sh", ".bash", ".md", ".rst", ".txt", ".ipynb", ".yaml", ".yml", ".json")
_STARTED = re.compile(r"([\w./-]*\w)\.py\b|\s-m\s+([\w.]+)")
_OF_LAUNCHERS = ("local_rank", "local-rank")  # which give it without a word
_LAUNCHERS = re.compile(
    r"torch\.distributed\.(?:launch|run)\b|\btorchrun\b|\bdeepspeed\b|\baccelerate launch\b|\b(?:srun|mpirun|mpiexec|horovodrun)\b"
)
_OF_MANY = re.compile(r"rank|world|dist|nproc|gpus|multi|ddp|node|parallel", re.IGNORECASE)
_SPAWNS = re.compile(rb"\.spawn\(|Process\(|elastic_launch|notebook_launcher|start_processes")
_LAUNCHED = re.compile(r"(?:\\\n|[^\n])*?(?<![\w./-])([\w./-]*\w)\.py\b|(?:\\\n|[^\n])*?\s(?:-m|--module)\s+([\w.]+)")
_REACH = 1500  # characters of a command before the option


def is_given(
    index: Index,
    option: str,
    path: str,
    counts: Callable[[str], bool],
    word: str = "",
    runs: Callable[[Spot], bool] = lambda spot: True,
    is_attribute: bool = True,
) -> bool:
    """Something that `runs` sets it to a value that `counts`, or a command that may start what stands in `path` gives it;
    with `word`, that one. `is_attribute`: of an object, so that self.clip = 1 may set it; no mere parameter.
    """
    name = re.escape(option.encode())
    written_out = re.compile(rb"(?:[\"']%s[\"'][ \t]*:|\b%s=)[ \t]*([\w.'\"-]+)" % (name, name))
    holding = [file for file in index.files.values() if file.body.source.holds(written_out)]
    near = [file for file in holding if is_of_one_program(index, path, file.path)]
    if is_attribute and any(text == "?" or counts(text) for text in set_to(index, option, path, runs)):
        return True
    texts = (
        text.decode("utf-8", "replace").strip("'\"")
        for one in near or holding
        for text in one.body.source.found(written_out)
    )
    if any(text[:1].isdigit() or text in ("True", "False", "None") or text == word for text in texts if counts(text)):
        return True
    if any(counts(value.value) for value in index.configured(option)):
        return True
    named = re.compile(
        rf"--{re.escape(option).replace('_', '[-_]')}\b" + (rf"[\s=\"',]+{re.escape(word)}\b" if word else "")
    )
    is_of_launcher = option in _OF_LAUNCHERS
    if is_of_launcher and _is_launched(index, path):
        return True
    by_name = re.compile(rf"(?<![\w(-]){re.escape(option)}=[\"']?([\w.-]+)")  # --hparams=amp=True,lr=0.1
    return any(
        _may_be_for(index, text, found, path)
        for _, text in _written_down(index)
        for found in (*named.finditer(text), *(one for one in by_name.finditer(text) if counts(one[1])))
        if not (is_of_launcher and _is_only_named(text, found.start()))
    )


def commands_that_give(index: Index, option: str, path: str, words: str) -> Iterator[Hit]:
    """Where a command that starts a program which comes to `path` gives it a text that the pattern `words` matches."""
    named = re.compile(rf"--{re.escape(option).replace('_', '[-_]')}(?:=|[ \t]+)[\"']?(?:{words})")
    for file, text in _written_down(index):
        for found in named.finditer(text):
            if _is_only_named(text, found.start()):
                continue
            started = _nearest(file, _started(index, text, found.start()))
            if any(path in imported(index, one) for one in started):
                yield Hit(file, text.count("\n", 0, found.start()) + 1, found[0])


def _nearest(file: str, programs: list[str]) -> list[str]:
    """Of programs of one name those in the folder of the file that writes the command, or in the first above it."""
    above = (parent.as_posix() for parent in PurePosixPath(file).parents)
    within = ([one for one in programs if is_under(one, folder)] for folder in above)
    return next(filter(None, within), [])


def _is_only_named(text: str, start: int) -> bool:
    """The option stands in a line of prose, marked as code: set `--amp=False` in the parser. No command is written there."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return before.count("`") % 2 == 1 and "```" not in before and not _STARTED.search(before.rpartition("`")[2])


def _written_down(index: Index) -> Iterator[tuple[str, str]]:
    """(file, text) of scripts, documents and settings."""
    for file in index.repository.files:
        if file.endswith(_SCRIPTS):
            yield file, index.repository.read(file) or ""


def is_started_alone(index: Index, path: str) -> bool:
    """Commands are written down for what comes to `path`, or launchers for others, and no launcher for it."""
    spawning = (file.path for file in index.files_holding(_SPAWNS))
    if _is_launched(index, path) or any(one == path or path in imported(index, one) for one in spawning):
        return False
    texts = [text for _, text in _written_down(index)]
    started = [_command(text, one) for text in texts for one in _STARTED.finditer(text) if _comes_to(index, one, path)]
    if any(map(_OF_MANY.search, started)):
        return False
    return bool(started) or any(map(_LAUNCHERS.search, texts))


def _command(text: str, program: re.Match[str]) -> str:
    """The line that a program stands in."""
    return text[text.rfind("\n", 0, program.start()) + 1 :].partition("\n")[0]


def _comes_to(index: Index, program: re.Match[str], path: str) -> bool:
    return any(path == one or path in imported(index, one) for one in _called(index, program))


def _is_launched(index: Index, path: str) -> bool:
    """A launcher is told to start a program that comes to `path`, or one that is not known."""
    for _, text in _written_down(index):
        for found in _LAUNCHERS.finditer(text):
            program = _LAUNCHED.match(text, found.end())
            programs = _called(index, program) if program is not None else []
            if not programs or not is_program(index, path) or any(path in imported(index, one) for one in programs):
                return True
    return False


def _may_be_for(index: Index, text: str, found: re.Match[str], path: str) -> bool:
    """It is not given to other programs only, that never come to `path`."""
    programs = _started(index, text, found.start())
    return not programs or not is_program(index, path) or any(path in imported(index, one) for one in programs)


def _started(index: Index, text: str, end: int) -> list[str]:
    """The files that the command before `end` may start."""
    before = text[max(0, end - _REACH) : end]
    started = list(_STARTED.finditer(before.rpartition("\n\n")[2]))
    if not started:
        return []
    return _called(index, started[-1])


def _called(index: Index, program: re.Match[str]) -> list[str]:
    """The files that go by the name of a program in a command: train.py, or -m tools.train."""
    stem = (program[1] or program[2].replace(".", "/")).lstrip("./")
    return [one for one in index.files if f"/{one}".endswith(f"/{stem}.py")]
