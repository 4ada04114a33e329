"""The launch command that the caller gives: as it is, or by the shell script that holds it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from trainsleuth.facts import Index
from trainsleuth.repository import is_under

from ..configuration.forms.command_line import given_by
from ..programs.entries import is_for_other, says_it_trains
from ..recipe.composition import normal
from ..recipe.recipes import Setting
from .command_words import held
from .launch import SHELL, Command, command_of, commands_in, commands_of, launched_by, started_in
from .loaded_packages import package_in
from .shell_scripts import lines_of
from .shell_variables import MAX_VALUE, Script, assignments, filled, known_before, used_in


def given_command(index: Index, recipe: str, scope: str | None) -> Command | None:
    """A command outright, or that of a script: the last one that starts a program of the scope; None for neither.

    The script may stand in a command, with its arguments: bash tools/dist_train.sh configs/a.py 8; or be a short program
    that does nothing but start another.
    """
    path, arguments = _script_in(index, recipe)
    if recipe.endswith(".py") and (launched := list(launched_by(index, recipe))):
        return _fullest(launched)[-1]._replace(path="", script=recipe)
    if path is None:
        command = command_of(index, recipe)
        launched = [one for one in _launched(index, command, scope) if one.target == scope]
        if command is not None and launched:
            return _fullest(launched)[-1]._replace(path="", script=command.target)
        return _of_scope(index, command, scope)
    return _of_script(index, path, arguments, scope, MAX_SCRIPTS) or command_of(index, recipe)


def _launched(index: Index, command: Command | None, scope: str | None) -> Iterator[Command]:
    """What the program of a command starts, where that is short and the caller names another: os.system("python train.py ...")."""
    if command is not None and command.target.endswith(".py") and scope not in (None, command.target):
        yield from launched_by(index, command.target)


MAX_SCRIPTS = 3  # each starting the next one


def _of_script(index: Index, path: str, arguments: Sequence[str], scope: str | None, left: int) -> Command | None:
    """The last command of a script that starts a program of the scope, in an arm that is taken, its own or another script's.

    Without a scope the last whose program says that it trains, of a script that also prepares and evaluates.
    """
    lines = lines_of(index.repository, path)
    script = Script(lines, arguments)
    found = [one for one in commands_of(index, path, arguments) if script.runs(one.line)]
    found = [one for one in found if not lines[one.line - 1].lstrip().startswith("#")] or found
    if scope is None:
        found = [one for one in found if says_it_trains(one.target)] or _fullest(found)
    of_scope = [one for one in found if scope is None or is_under(one.target, scope)]
    handed = _handed_on(index, path, lines, arguments, scope, left - 1) if left and not of_scope else None
    if handed is not None:
        return handed
    for one in (_one_stage(of_scope) or found or list(_supposed(index, path, scope)))[-1:]:
        text = filled(one.text, known_before(lines, one.line, arguments))
        return one._replace(path="", text=held(text), script=path, arguments=tuple(arguments))
    return None


def _one_stage(found: list[Command]) -> list[Command]:
    """Of the stages of one program, run.py --stage=3 --gpus=0,1 and run.py --stage=4, those with most options: the last
    ones read results.
    """
    staged = [one for one in found if _STAGE.search(one.text) is not None]
    return _fullest(staged) if len(staged) == len(found) > 1 and len({one.target for one in found}) == 1 else found


_STAGE = re.compile(r"\s--?(?:start[-_]?)?stage[= ]")


def _fullest(found: list[Command]) -> list[Command]:
    """Where no program says by its name that it trains, those with most options: one that reads results has few."""
    able = [one for one in found if not is_for_other(one.target)] or found
    most = max((one.text.count(" -") for one in able), default=0)
    return [one for one in able if one.text.count(" -") == most]


def _handed_on(
    index: Index, path: str, lines: Sequence[str], arguments: Sequence[str], scope: str | None, left: int
) -> Command | None:
    """What another script of the repository starts that this one starts: ${RUN} configs/a.py 8, where RUN=./tools/run.sh

    Of several the last whose program says that it trains: fine-tuning stands below pre-training.
    """
    found = list(_all_handed_on(index, path, lines, arguments, scope, left))
    training = [one for one in found if says_it_trains(one.target)] or found
    return training[-1] if training else None


def _all_handed_on(
    index: Index, path: str, lines: Sequence[str], arguments: Sequence[str], scope: str | None, left: int
) -> Iterator[Command]:
    script = Script(lines, arguments)
    for line, text in commands_in(index, path):
        if not script.runs(line) or text.startswith("#"):
            continue
        words = filled(text[:MAX_VALUE], script.before(line)).partition(" | ")[0].split()
        place = next((at for at, word in enumerate(words) if "=" not in word and word not in _SHELLS), len(words))
        other = _script_called(index, path, words[place], scope) if place < len(words) else None
        given = tuple(word.strip("\"'") for word in words[place + 1 :])
        if (
            other is not None
            and (other != path or given != tuple(arguments))
            and (command := _of_script(index, other, given, scope, left)) is not None
        ):
            yield command


_SHELLS = ("bash", "sh", "exec", "sudo", "srun", "nohup")


def _script_called(index: Index, path: str, word: str, scope: str | None) -> str | None:
    """The script beside this one, from the root, or the only one whose path ends so; of several that which lies with the scope."""
    word = word.strip("\"'")
    if not word.endswith(SHELL):
        return None
    files, home = index.repository.files, path.rpartition("/")[0]
    for one in (normal(f"{home}/{word}"), normal(word)):
        if one in files:
            return one
    tail = "/" + word.lstrip("./")
    fits = [one for one in files if f"/{one}".endswith(tail)]
    near = [one for one in fits if scope is not None and is_under(scope, one.removesuffix(tail.lstrip("/")) or ".")]
    return next(iter(near if len(near) == 1 else fits if len(fits) == 1 else ()), None)


def _of_scope(index: Index, command: Command | None, scope: str | None) -> Command | None:
    """Of several packages of one name that a command may load, the one of the scope."""
    if (
        command is not None
        and not command.target
        and (package := package_in(index, "", command.text, scope)) is not None
    ):
        return command._replace(target=package)
    return command


def _script_in(index: Index, recipe: str) -> tuple[str | None, tuple[str, ...]]:
    """The shell script that is given, and the arguments behind it."""
    folder, rest = started_in(recipe)
    words = rest.split()
    if not words:
        return None, ()
    if len(words) == 1 and not folder:
        return (index.repository.relative(recipe) if recipe.endswith(SHELL) else None), ()
    place = next((at for at, word in enumerate(words) if word.endswith((".py", *SHELL))), len(words) - 1)
    path = normal(f"{folder}/{words[place]}")
    return (path, tuple(words[place + 1 :])) if path.endswith(SHELL) and path in index.repository.files else (None, ())


def _supposed(index: Index, path: str, scope: str | None) -> Iterator[Command]:
    """The command with most options, where none is seen to start a program: then it starts the one of the scope."""
    if scope is not None and scope in index.files:
        found = [(line, text) for line, text in commands_in(index, path) if " --" in text and not text.startswith("#")]
        for line, text in sorted(found, key=lambda one: one[1].count(" --"))[-1:]:
            yield Command(path, line, text, scope)


_OPTION = re.compile(r"^\s*--([A-Za-z][\w.-]*)[ =]+([^\s\\]+)")


def settings_in(index: Index, launch: Command | None, others: Iterable[Command] = ()) -> Iterator[Setting]:
    """The options of the given script's command that stand on lines of their own; of a command that is given as it is,
    those of the one among `others` that a document or a script of the repository has.
    """
    if launch is not None and not launch.script and (same := _written_out(launch, others)) is not None:
        given = {one.name: one.value for one in given_by(launch.text)}
        lines = (index.repository.read(same.path) or "").split("\n")
        last = next((at for at in range(same.line, len(lines)) if not lines[at - 1].rstrip().endswith("\\")), same.line)
        for number in range(same.line, last + 1):
            said = (name.replace("-", "_") for name in _NAME.findall(lines[number - 1]))
            yield from (Setting(same.path, number, name, given[name]) for name in said if name in given)
    if launch is not None and launch.script:
        lines = lines_of(index.repository, launch.script)
        known = known_before(lines, launch.line, launch.arguments)
        for number, text in (*_in_values(lines, launch), *_lines(index, launch)):
            if (match := _OPTION.match(text)) is not None:
                value = filled(match[2].strip("\"'")[:MAX_VALUE], known)
                yield Setting(launch.script, number, match[1].replace("-", "_"), value)


def assigned_for(index: Index, launch: Command) -> Iterator[int]:
    """Lines of the script that assign what its command gives an option: config=conf/small.yaml above --config $config."""
    lines = lines_of(index.repository, launch.script)
    options = (_OPTION.match(text) for _, text in _lines(index, launch))
    values = (_VARIABLE.fullmatch(match[2].strip("\"'")) for match in options if match is not None)
    used = {value[1] for value in values if value is not None}
    yield from (one.first for one in assignments(lines[: launch.line - 1]) if one.name in used and not one.more)


def _written_out(launch: Command, others: Iterable[Command]) -> Command | None:
    """The command of a document or script that starts the same program with most of the same options, given alike."""
    given = {(one.name, one.value) for one in given_by(launch.text)}
    names = {name for name, _ in given}
    shared: dict[Command, int] = {}
    for one in others if len(given) >= LEAST_OPTIONS else ():
        if one.path and one.target == launch.target:
            own = {(other.name, other.value) for other in given_by(one.text)}
            if len(names & {name for name, _ in own}) > len(names) / 2:
                shared[one] = len(given & own)
    return max(shared, key=lambda one: shared[one], default=None)


_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
LEAST_OPTIONS = 3
_NAME = re.compile(r"(?<!\S)--([A-Za-z][\w.-]*)(?=[ =]|$)")


def _in_values(lines: Sequence[str], launch: Command) -> Iterator[tuple[int, str]]:
    """Lines of the variables that the command uses: args="\\n --lr 1e-5 ..." above torchrun train.py ${args}."""
    used = used_in("\n".join(lines[launch.line - 1 :]))
    for one in assignments(lines[: launch.line - 1]):
        if one.name in used and one.last > one.first:
            yield from ((number, lines[number - 1]) for number in range(one.first + 1, one.last + 1))


def started_at(index: Index, launch: Command) -> int:
    """The line of the script on which the program is named."""
    name = launch.target.rpartition("/")[2]
    return next((line for line, text in _lines(index, launch) if name in text), launch.line)


def _lines(index: Index, launch: Command | None) -> Iterator[tuple[int, str]]:
    """Lines of the given script from its command on, with their numbers."""
    if launch is not None and launch.script:
        lines = lines_of(index.repository, launch.script)
        yield from enumerate(lines[launch.line - 1 :], launch.line)
