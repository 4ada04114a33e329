"""How the programs of a repository are started: launch scripts, README commands, console scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from trainsleuth.facts import Index

from ..recipe.composition import normal
from .handed_on import started_from
from .launch_targets import dora_mains, folder_meant, module_of, only, package_of, script_of
from .launchers import launch_lines
from .loaded_packages import package_in
from .shell_scripts import lines_of
from .shell_variables import Script, filled, script_lines

OWN_NOTES = "<!-- trainsleuth:run "  # in our notes on the repository, which quote commands but are no part of it
SHELL = (".sh", ".bash", ".slurm", ".sbatch")
MAX_COMMAND = 4000  # characters of one that is read
MAX_TEXTS = 120  # launch scripts and READMEs that are read
_SCRIPT = re.compile(r"(?<![\w/.${}-])(/?(?:(?:[\w.${}-]|\+\+)+/)*(?:\$\{\w+\})?[\w.-]+\.py)\b")
_MODULE = re.compile(r"(?:^|\s)(?:-m[ =]*|--module[ =])([A-Za-z_][\w.]*)")
_STARTERS = re.compile(
    r"\b(?:python[\d.]*|torchrun|accelerate\s+launch|deepspeed|srun|dora\s+run|colossalai\s+run|mpirun|horovodrun|"
    r"(?<=\$)\w*python\w*|(?<=\$\{)\w*python\w*|composer|fabric\s+run|lightning\s+run|uv\s+run|poetry\s+run|ipython)\b"
)
_CHANGES = re.compile(r"\s*cd\s+([\w./-]+)\s*(?:&&|;)\s*(?=\S)")
_CHANGES_ALONE = re.compile(r"[$> `]*cd\s+\"?([\w./~${}-]+?)/?\"?[`;]*")
_OWN_STARTER = re.compile(r"\./[\w./-]+$")  # a file with a line that says what runs it
_HERE = re.compile(r"\$\(dirname[^()]*\)")  # of a script, where it lies
_BEFORE = re.compile(r"[A-Za-z_]\w*=|(?:bash|sh|sbatch|nohup)$")  # a script that is started
_LAUNCHES = re.compile(r"(?:^|/)(?:(?:\w*_)?launch(?:er)?|multiproc(?:ess)?)\.py$")
_PLUMBING = ("torch.distributed.launch", "torch.distributed.run", "pip", "venv", "pytest", "http.server", "build")
_CONSOLE = re.compile(r"""^\s*["']?([\w.-]+)\s*["']?\s*=\s*["']?([A-Za-z_][\w.]*):([A-Za-z_]\w*)""")
_BEFORE_CONSOLES = re.compile(r"""^\s*(?:entry_points\s*=\s*)?[\[{\s]*(?:["']?console_scripts["']?\s*[:=]\s*\[)?""")
_TELLS = re.compile(r"train|finetun|usage|start|tutorial|(?:^|_)run")  # of a document, how programs are started
_FENCES = ("```", "~~~")

_OTHER_DEED = r"(?:eval(?:uate)?|test|infer(?:ence)?|validate|predict|render|demo|sample|generate|export)"
_ONLY_EVALUATES = re.compile(
    r"\s--?(?:eval|evaluate|test|inference|validate)(?=\s|$)"
    rf"|\s--?(?:{_OTHER_DEED}[-_]only|only[-_]{_OTHER_DEED})(?=[\s=]|$)"
    rf"|\s--?(?:mode|phase|stage|task|action)[ =]{_OTHER_DEED}(?=\s|$)"
    rf"|\.py {_OTHER_DEED}(?=\s|$)"
    rf"|(?:^|[\s/]){_OTHER_DEED}[\w.-]*\.(?:sh|bash)\b"
    r"|^[\w.]+[-_](?:eval|evaluate|test|infer|predict|export|gui)\s"  # a console script
)
_EVALUATING = ("eval", "infer", "predict", "sample", "demo")  # scripts
_OPEN = re.compile(r"\$\{?[A-Za-z]|<\w|\*")  # for the reader, or a shell, to fill in
_TORN = re.compile(r"\s-\w$")  # a text that code goes on with: "python train.py -s " + folder
_NOTE_BEHIND = re.compile(r"\\\s+#.*$")  # a comment where the next line goes on: what was meant is clear


class Command(NamedTuple):
    """A command as a text of the repository gives it. `target` is the file it starts, `function` a console script's.

    `script` is the launch script by which the caller gave it, with `arguments`: its `path` is then "".
    """

    path: str
    line: int
    text: str
    target: str
    function: str = ""
    script: str = ""
    arguments: tuple[str, ...] = ()


def commands(index: Index) -> tuple[Command, ...]:
    """Every command found that starts a Python file of the repository, by path and line."""
    consoles = _by_text(index)
    found = list(consoles.values())
    for path in sorted(_texts(index), key=lambda path: not path.endswith(SHELL)):
        inside = list(_in_text(index, path, consoles))
        if inside and path.endswith(SHELL):
            consoles[path] = inside[0]  # ./tools/dist_train.sh starts what it starts
        found.extend(inside)
    return tuple(sorted((*found, *_by_launchers(index, found, consoles)), key=_rank))


def _by_launchers(index: Index, found: Iterable[Command], consoles: dict[str, Command]) -> Iterator[Command]:
    """Commands in launch scripts that are Python, and those that start such a script, of which they start the program."""
    started: dict[str, Command] = {}
    for path, line, text in launch_lines(index):
        for one in _command(index, path, line, text, consoles):
            started.setdefault(path, one)
            yield one
    for one in found:
        if one.target in started:
            yield one._replace(target=started[one.target].target)


def launched_by(index: Index, path: str) -> Iterator[Command]:
    """The commands of a launch script that is Python."""
    consoles = _by_text(index)
    for one, line, text in launch_lines(index):
        if one == path:
            yield from _command(index, path, line, text, consoles)


def commands_of(index: Index, path: str, arguments: Sequence[str] = ()) -> tuple[Command, ...]:
    """Those of one launch script, in its order, as it is started with these arguments."""
    return tuple(_in_text(index, path, _by_text(index), arguments))


def commands_in(index: Index, path: str) -> Iterator[tuple[int, str]]:
    """Every line of a text, with its number and those that continue it; nothing of our own notes."""
    text = index.repository.read(path)
    if text is not None and OWN_NOTES not in text:
        yield from _joined("\n".join(script_lines(text, path)) if path.endswith(SHELL) else text)


def _in_text(index: Index, path: str, consoles: dict[str, Command], arguments: Sequence[str] = ()) -> Iterator[Command]:
    lines = lines_of(index.repository, path) if path.endswith(SHELL) else []
    script = Script(lines, arguments) if lines else None
    for line, command, folder in _placed(index, path):
        if not command or (command.startswith("echo ") and _GOES_ON.search(command) is None):  # shown, not started
            continue
        if script is None and _is_aside(command):
            continue
        found = list(_in_folder(index, path, folder, line, command, consoles))
        found = found or list(_command(index, path, line, command, consoles))
        if not found and script is not None and "$" in command[:MAX_COMMAND] and not command.startswith("#"):
            text = filled(command[:MAX_COMMAND], script.before(line))
            found = list(_command(index, path, line, text, consoles))
        yield from found


def _is_aside(text: str) -> bool:
    """A row of a table, a heading, a point of a list or a tag, without a word that a command would have."""
    return text[0] in "|#*-<" and "`" not in text and "train" not in text and not _starts(text)


def _placed(index: Index, path: str) -> Iterator[tuple[int, str, str]]:
    """Every line of a text, with the folder that a line before changed to, up to the next heading: cd training

    "" for where the text lies, and for documents that do not lie at the root.
    """
    folder, is_code = "", path.endswith(SHELL)
    for line, command in commands_in(index, path):
        if command.startswith(_FENCES):
            is_code = not is_code
        elif command.startswith("#") and not is_code:
            folder = ""
        elif "cd" in command and (match := _CHANGES_ALONE.fullmatch(command)) is not None:
            if "/" not in path:
                there = normal(f"{folder}/{match[1]}")
                is_known = not there or any(one.startswith(f"{there}/") for one in index.files)
                folder = there if is_known else folder
            elif path.endswith(SHELL):
                folder = folder_meant(index, path, match[1]) or folder
        yield line, command, folder


def _in_folder(
    index: Index, path: str, folder: str, line: int, text: str, consoles: dict[str, Command]
) -> Iterator[Command]:
    """Commands of a line that start a file in the folder that a line before changed to."""
    name = path.rpartition("/")[2]
    for one in _command(index, f"{folder}/{name}", line, text, consoles) if folder else ():
        if one.target.startswith(f"{folder}/"):
            yield one._replace(path=path, text=f"cd {folder} && {one.text}")


def command_of(index: Index, text: str) -> Command | None:
    """A launch command that the caller gives instead of a file; None when `text` is no command."""
    if text in index.configs:
        return None
    consoles, word = _by_text(index), text.strip()
    if word in consoles and consoles[word].function:  # the name of a console script alone
        return consoles[word]._replace(path="", line=0, text=text)
    if " " not in word and not _is_program(index, word):
        return None
    folder, rest = started_in(text)
    found = next(_command(index, f"{folder}/-" if folder else "", 0, rest, consoles), None)
    return found._replace(path="", text=text) if found is not None and folder else found or Command("", 0, text, "")


def _is_program(index: Index, word: str) -> bool:
    """./train.py, which starts itself; a file of settings in Python is one of its names without the dot."""
    path = normal(word) if word.startswith("./") and word.endswith(".py") else ""
    fits = (one for one in index.files if path and f"/{one}".endswith(f"/{path}"))
    sources = (index.files[one].body.source for one in fits)
    return any(one.holds(_GUARD) or one.holds(_PARSES) for one in sources)


_GUARD = re.compile(rb"(?m)^if\s+__name__\s*==")


def started_in(text: str) -> tuple[str, str]:
    """The folder that a command changes to first, and what it does there: cd recipes/small && python train.py"""
    match = _CHANGES.match(text)
    return (normal(match[1]), text[match.end() :]) if match is not None else ("", text)


def folder_of(command: Command) -> str:
    """The folder that a command is started in as far as its text says so: "." for the root."""
    return started_in(command.text)[0] or str(PurePosixPath(command.path or command.script).parent)


def _rank(command: Command) -> tuple[int, str, bool, int]:
    """READMEs first, then other documents, scripts, and last what builds the project; in each what is whole first."""
    name = PurePosixPath(command.path).name.lower()
    order = (
        0
        if name.startswith("readme")
        else 1
        if command.function or name.endswith(".md")
        else 2
        if name.endswith("sh")
        else 3
    )
    order += 2 * ("test" in name or name.startswith(_EVALUATING)) + 4 * (
        _ONLY_EVALUATES.search(command.text) is not None
    )
    order += 2 * (_TORN.search(command.text) is not None) + command.path.count("/")
    return order, command.path, _OPEN.search(command.text) is not None, command.line


def _texts(index: Index) -> list[str]:
    def is_launch(path: str) -> bool:
        name = path.rpartition("/")[2].lower()
        return (
            path.endswith(SHELL)
            or name.startswith("readme")
            or name == "makefile"
            or (
                name.endswith(".md")
                and (path.count("/") < 2 or "/docs/" in f"/{path}" or _TELLS.search(name) is not None)
            )
        )

    fits = [path for path in index.repository.files if is_launch(path)]
    return sorted(fits, key=lambda path: (path.count("/"), not path.endswith(SHELL), path))[:MAX_TEXTS]


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuation lines; the number is that of the first."""
    held, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if not held and "\\" not in line:
            yield number, line.strip()
            continue
        if held and line.lstrip().startswith("```"):  # its last line goes on where the block ends
            yield first, held.strip()
            held, first = "", 0
        first, line = first or number, line.strip()
        line = _NOTE_BEHIND.sub(r"\\", line) if "\\" in line else line
        ends = line.endswith(("&& \\", "; \\"))  # a command of its own
        if line.endswith("\\") and (ends or len(held) < MAX_COMMAND):
            held += line[:-1].strip() + " "
            if not ends:
                continue
        else:
            held += line
        yield first, held.strip()
        held, first = "", 0
    if held:
        yield first, held.strip()


def _command(index: Index, path: str, line: int, text: str, consoles: dict[str, Command]) -> Iterator[Command]:
    """Those of one line; of prose only what it quotes counts: "run `python train.py` when `deepspeed` is there"."""
    text = text.replace("`pwd`", "$PWD")
    if "`" in text and path.endswith((".md", ".rst")) and len(text) <= MAX_COMMAND:
        quoted = _TICKS.sub("`", text).split("`")[1::2]
        for part in (part for part in quoted if _starts(part) or _STARTED.match(part)):
            yield from _commands_of(index, path, line, part, consoles)
    else:
        yield from _commands_of(index, path, line, text, consoles)


def _starts(text: str) -> bool:
    """It names what starts a program; each of those has one of these words in it, which are found much sooner."""
    is_near = "python" in text or "run" in text or "accelerate" in text or "deepspeed" in text or "composer" in text
    return is_near and _STARTERS.search(text) is not None


_WORD = re.compile(r"[\w./$\"'{]")
_TICKS = re.compile(r"`+")
_STARTED = re.compile(r"(?:bash|sh|sbatch)\s|\./")


def _commands_of(index: Index, path: str, line: int, text: str, consoles: dict[str, Command]) -> Iterator[Command]:
    text = _HERE.sub(".", text) if "$(" in text else text
    text = _EVALUATED.sub("", text) if text.startswith("eval") else text
    words = text.lstrip("$> `").split()
    if not words or len(text) > MAX_COMMAND or words[-1] in ("-h", "--help"):
        return
    if not _starts(text):
        if not _WORD.match(words[0]):  # a row of a table, a heading
            yield from _loading(index, path, line, text)
            return
        name = next((one.strip("`") for one in words if not _BEFORE.match(one)), words[0])
        if (given := _given_to_script(index, path, words, name)) is not None:
            yield Command(path, line, _clean(text), given)
            return
        name = name.removeprefix("./") if name.removeprefix("./") in consoles else name
        if name.endswith(SHELL) and name not in consoles:
            name = only(consoles, name) or name
        if name in consoles and (len(words) > 1 or name.endswith(SHELL)) and name != path:
            yield Command(path, line, _clean(text), consoles[name].target, consoles[name].function)
        if "." in name and (found := module_of(index, name)) is not None:  # behind a launcher in a variable
            yield Command(path, line, _clean(text), found)
            return
        if not _OWN_STARTER.match(name):
            yield from _loading(index, path, line, text)
            return
    folder = str(PurePosixPath(path).parent)
    scripts = (word for word in words if word.removeprefix("./") in index.repository.scripts)
    plain = text.replace('"', "")
    first = _SCRIPT.search(plain)
    if first is not None and (module := _module_in(index, plain[: first.start()])) is not None:
        given = script_of(
            index, folder, first[1]
        )  # python -m pkg.submit pkg/train.py, but python -m pkg.train settings.py
        is_program = given is not None and index.files[given].body.source.holds(_PARSES)
        yield Command(path, line, _clean(text), given if given is not None and is_program else module)
        return
    named = (script_of(index, folder, one) for one in (*(match[1] for match in _SCRIPT.finditer(plain)), *scripts))
    targets = [one for one in named if one is not None]
    if targets:  # behind a launcher of the project's own the program that it starts
        behind = [one for one in targets if not _LAUNCHES.search(one)] if _LAUNCHES.search(targets[0]) else []
        yield Command(path, line, _clean(text), (behind or targets)[0])
        return
    if (module := _module_in(index, text)) is not None:
        yield Command(path, line, _clean(text), module)
        return
    if re.search(r"\bdora\s+(?:-P\s+\w+\s+)?run\b", text):
        for target in dora_mains(index):
            yield Command(path, line, _clean(text), target)
            return
    yield from _loading(index, path, line, text)


_EVALUATED = re.compile(r"eval\s+(?=\S)")
_GOES_ON = re.compile(r"[|;>]|&&")


def _given_to_script(index: Index, path: str, words: Sequence[str], script: str) -> str | None:
    """The program that a launch script of the project gets to start: tools/launch.sh train.py --lr 1. A file of settings
    in Python, which has no parser, is none.
    """
    behind = words[words.index(script) + 1 :] if script in words and script.endswith(SHELL) else []
    target = (
        script_of(index, str(PurePosixPath(path).parent), behind[0]) if behind and _SCRIPT.match(behind[0]) else None
    )
    return target if target is not None and index.files[target].body.source.holds(_PARSES) else None


_PARSES = re.compile(rb"\bArgumentParser\(|\bparse_args\(|\bsys\.argv\b")


def _loading(index: Index, path: str, line: int, text: str) -> Iterator[Command]:
    """A command of a library that loads a package of the project."""
    if "train" in text and (package := package_in(index, str(PurePosixPath(path).parent), text)) is not None:
        yield Command(path, line, _clean(text), package)


def _module_in(index: Index, text: str) -> str | None:
    """The file of the module that a command starts with -m."""
    names = (match[1] for match in _MODULE.finditer(text) if not match[1].startswith(_PLUMBING))
    return next(filter(None, (module_of(index, name, anywhere=True) for name in names)), None)


def _clean(text: str) -> str:
    quoted = next((part for part in text.split("`")[1::2] if _starts(part)), text)
    plain = _PROMPT.sub("", quoted.strip().lstrip("`$> ").rstrip("`$ ").removesuffix(" >"))  # not of -d <data_path>
    return re.sub(r"\s+", " ", re.sub(r"^[A-Z_]+\s*[:?]?=\s+", "", plain))


_PROMPT = re.compile(
    r"^(?:\([\w.-]+\) ?)?(?:\[[^\]\s]*\]|[\w.-]+@[\w.-]+:?\S*)? ?[$%] "
)  # (env)[folder]$ python train.py


def _consoles(index: Index) -> Iterator[Command]:
    """Console scripts of pyproject.toml, setup.cfg and setup.py."""
    for path in ("pyproject.toml", "setup.cfg", "setup.py"):
        text = index.repository.read(path) if path in index.repository.files else None
        for number, line in enumerate((text or "").split("\n"), 1):
            match = _CONSOLE.match(_BEFORE_CONSOLES.sub("", line))
            target = (module_of(index, match[2]) or package_of(index, match[2])) if match else None
            if match and target is not None:
                beyond = started_from(index, target, match[3])
                yield Command(path, number, match[1], beyond or target, "" if beyond else match[3])


def _by_text(index: Index) -> dict[str, Command]:
    """The console scripts by their names."""
    return {command.text: command for command in _consoles(index)}


def names_recipe(command: Command, recipe: str) -> bool:
    """The command starts the program with this recipe."""
    stem = PurePosixPath(recipe).stem
    return re.search(rf"(?:^|[\s/=])['\"]?{re.escape(stem)}(?:\.\w+)?(?:['\"\s]|$)", command.text) is not None


def is_beside(command: Command, recipe: str) -> bool:
    """The command stands in a launch script of the recipe's folder."""
    return command.path.endswith(SHELL) and PurePosixPath(command.path).parent == PurePosixPath(recipe).parent


def that_counts(found: Sequence[Command], recipe: str | None) -> Command | None:
    """The command whose values count: the caller's own, which stands first, else the first that names the recipe."""
    stem = PurePosixPath(recipe).stem if recipe is not None else ""
    first = next((one for one in found if one.text and (not one.path or stem in one.text)), None)
    return in_script(first, found) if first is not None else None


def in_script(command: Command, found: Iterable[Command]) -> Command:
    """Of a command that runs a launch script the first that stands in this script: bash run.sh"""
    runs = _RUNS_SCRIPT.match(command.text) if command.path else None
    tail = normal(runs[1]) if runs is not None else ""
    inside = (one for one in found if tail and (one.path == tail or one.path.endswith(f"/{tail}")))
    return next(inside, command)


_RUNS_SCRIPT = re.compile(
    r"(?:[A-Za-z_]\w*=\S* )*(?:(?:bash|sh|sbatch|source)\s+|\./)((?:[\w.-]+/)*[\w.-]+\.(?:sh|bash|slurm|sbatch))\b"
)
