"""The programs of a repository: files that are started, judged by what they reach and not by their names."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from trainsleuth.facts import Expr, Function, Index
from trainsleuth.facts.naming.sites import call_sites
from trainsleuth.facts.records import FileFacts
from trainsleuth.repository import is_notebook, is_python, is_under

from ..calling.graph import Graph
from ..calling.reach import Reach, reach
from ..launching.command_words import words_behind
from ..launching.launch import Command
from ..launching.loaded_packages import started_of_library
from ..loop.frameworks import Handover
from ..loop.steps import Sign
from ..naming.named_modules import named_modules
from .asking import asks_to_train
from .running import has_guard
from .sidelines import ASIDE, NEVER
from .training_steps import steps_in

MAX_CANDIDATES = 48  # whose reach is computed; more are dropped by name and folder first
MIN_CANDIDATES = 4
MOST_BY_REACH = 8.5  # what reaching everything can add to a score
PLUGIN_DISTANCE = 4  # of the training of a library that loads the package
LOADED_DISTANCE = 8  # of a training that a program loads and is not seen to call
SHOWN = 1.0  # in the README of the whole, or in those nearest to it that show how to start something
SHOWN_FIRST = 1.0  # of those that train: it settles near ties, train_vqvae.py before train_prior.py
ASKS = 3.0  # an unknown object to train, where no program is seen to: more than one more command that is shown
FOLDER = 0.4  # of its own: TrainCode/main.py beside TestCode/main.py
VARIANT = 1.2  # train_ddp.py beside train.py
_TRAINS = re.compile(r"(?:^|[_/.-])(?:pre|fine)?[_-]?(?:train|tun(?:e|ing)|fit)", re.I)
_STARTS = re.compile(r"(?:^|[_/])(?:main|run|launch|cli|__main__)(?:$|[_.])", re.I)
_OTHER = re.compile(
    r"(?:^|[_/])(?:eval|valid|test|infer|sampl|generat|demo|export|convert|preproc|extract(?!or)|prepare|download|bench|"
    r"plot|visual|setup|score|analy|server|app)",
    re.I,
)


def says_it_trains(path: str) -> bool:
    """A program by its own name: train.py, bin/cola_train.py."""
    return _TRAINS.search(path.rpartition("/")[2]) is not None


def is_for_other(path: str) -> bool:
    """A program that says by its own name that it does something else than to train: valid.py, tools/test_net.py."""
    name = path.rpartition("/")[2]
    return _ONLY_OTHER.search(name) is not None and _TRAINS.search(name) is None


_ONLY_OTHER = re.compile(
    r"(?:^|_)(?:eval|valid|test|infer|predict|sampl|generat|demo|export|convert|preproc|extract(?!or)|prepare|download)",
    re.I,
)  # server.py and app.py may train


_BESIDE = re.compile(r"(?:^|/)(?:tools|scripts|bin|research)(?:/|$)", re.I)  # where programs of a library often are
_LEFT = re.compile(
    r"(?:^|[_/-])(?:legacy|old|deprecated|debug|toy|simple|minimal|undistributed|profil\w*)(?:$|[_.-])", re.I
)

_LEFT_FOLDER = re.compile(r"(?:^|/)(?:legacy|deprecated|obsolete|archived?)/", re.I)


@dataclass(frozen=True, eq=False)
class Entry:
    """A file (or a console script's function) that starts a program, and all it reaches."""

    path: str
    root: Function
    line: int
    reach: Reach
    commands: tuple[Command, ...]
    score: float
    trains: bool


def candidates(index: Index, commands: Iterable[Command], trained: Iterable[Function]) -> dict[str, float]:
    """Files that may be started -> how likely, before it is known what they reach."""
    launched: dict[str, float] = {}
    shown: set[str] = set()
    commands = tuple(commands)
    first = min((one.path.count("/") for one in commands if _in_readme(one)), default=0)
    for command in commands:
        launched[command.target] = launched.get(command.target, 0) + 1
        if _in_readme(command) and command.path.count("/") == first:
            shown.add(command.target)
    bodies = {f.path for f in trained if f.name == "<module>"}
    bodies |= {path for path in index.files if is_notebook(path)}  # its cells are run, whatever they define
    found: dict[str, float] = {}
    for path, file in index.files.items():
        started = has_guard(index, path) or any(
            decorator.last in MAINS for function in file.functions.values() for decorator in function.decorators
        )
        if started or path in launched or path in bodies:
            found[path] = name_score(path) + min(3, launched.get(path, 0)) + (0.5 if started else 0)
            found[path] += SHOWN if path in shown else 0
    for path in found:
        stem = path.removesuffix(".py")
        if any(f"{stem[:cut]}.py" in found for cut in range(stem.rfind("/") + 3, len(stem)) if stem[cut] in "_-"):
            found[path] -= VARIANT
    return found


def _in_first_readme(command: Command) -> bool:
    return "/" not in command.path and _in_readme(command)


def _in_readme(command: Command) -> bool:
    return command.path.rpartition("/")[2].lower().startswith("readme") and bool(command.text)


def unguarded(index: Index, others: Container[str]) -> dict[str, float]:
    """Files that nobody imports and whose top calls something that trains or runs, without a guard."""
    found = {
        path: name_score(path)
        for path, file in index.files.items()
        if path not in others and is_python(path) and not NEVER.search(path) and _runs_at_top(file)
    }
    if found:
        imported = {path for file in index.files.values() for path in index.names.imported(file)}
        found = {path: score for path, score in found.items() if path not in imported}
    return found


def _runs_at_top(file: FileFacts) -> bool:
    if not file.body.source.holds(_MAY_RUN):
        return False
    return any(_RUNS.match(call.last) for event in file.body.events for call in event.calls)


_RUNS = re.compile(r"(?:train|fit|run|learn|optimize)(?:_|$)")
_MAY_RUN = re.compile(rb"\b(?:train|fit|run|learn|optimize)\w*\(")
MAINS = frozenset(
    {"hydra_main", "main", "command", "argparse_main", "entrypoint", "app", "automain", "call_parse", "default"}
)


def name_score(path: str) -> float:
    """What a file's name and folder say about it being the training program; the rest is decided by its reach."""
    stem = path.removesuffix(".py").removesuffix(".ipynb")
    name = PurePosixPath(stem).name
    score = -0.4 * path.count("/")
    if _TRAINS.search(name):
        score += 3
    elif _STARTS.search(name):
        score += 2
    elif _TRAINS.search(stem):
        score += 1
    if _OTHER.search("/" + name):
        score -= 3
    folder = str(PurePosixPath(path).parent)
    if ASIDE.search(folder):
        score -= 3
    score += FOLDER * (bool(_TRAINS.search(folder)) - bool(_OTHER.search(folder)))
    if NEVER.search(path):
        score -= 8
    if _BESIDE.search(path):
        score -= 0.8
    if _LEFT.search("/" + name) or _LEFT_FOLDER.search(f"{folder}/"):
        score -= 2
    score -= 0.02 * len(name)  # of near copies, the plain one
    return score - (2 if is_notebook(path) else 0) - (1.5 if path.lower().endswith(".md") else 0)


def entries(
    index: Index,
    graph: Graph,
    commands: tuple[Command, ...],
    signs: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
    scope: str | None = None,
) -> list[Entry]:
    """Every program, the likeliest training program first."""
    trained = {function for function, found in signs.items() if any(s.role == "backward" for s in found)}
    likely = candidates(index, commands, trained | handed.keys())
    every = likely
    if scope is not None:
        likely = {
            path: score for path, score in likely.items() if path == scope or path.startswith(scope.rstrip("/") + "/")
        }
        if scope in index.files:
            likely.setdefault(scope, 0.0)
    found = _judged(index, graph, likely, commands, signs, handed)
    if not any(entry.trains for entry in found) and (wider := _loading_by_name(graph, found)) is not None:
        found = _judged(index, wider, likely, commands, signs, handed)
    if scope is None and not any(entry.trains for entry in found):
        found = sorted((*found, *_judged(index, graph, unguarded(index, likely), commands, signs, handed)), key=_rank)
    is_started = any(command.target == scope for command in commands)
    if scope is not None and not is_started and not any(entry.trains for entry in found):
        outside = _judged(index, graph, {p: s for p, s in every.items() if p not in likely}, commands, signs, handed)
        using = [one for one in outside if one.trains and any(is_under(path, scope) for path in one.reach.files)]
        found = [*using, *found]  # the scope is a library: the programs that use it
    if any(entry.trains for entry in found):
        return found
    return sorted(found, key=lambda one: _shows(one) + ASKS * asks_to_train(graph, one.reach), reverse=True)


def _loading_by_name(graph: Graph, found: Iterable[Entry]) -> Graph | None:
    """The graph where imports by a name load every module that fits, if some do: what they train no entry else is seen to."""
    reached = frozenset(function for entry in found for function in entry.reach.distance)
    modules = named_modules(graph.index, (), reached)
    return graph.again(graph.values.loading(modules)) if modules else None


def _shows(entry: Entry) -> float:
    """Where nothing trains, the program to read is the one that is written down, and that runs most of the code."""
    name = "/" + PurePosixPath(entry.path).name
    is_aside = _AUXILIARY.search(name) is not None or is_for_other(entry.path)
    less = 8 * (NEVER.search(entry.path) is not None or is_aside) + 5 * (not is_python(name))
    more = (6 if entry.commands else 2) * says_it_trains(entry.path) - VARIANT * bool(_VARIES.search(name))
    return 2 * min(3, len(entry.commands)) + math.log2(1 + len(entry.reach.files)) + more - less


_VARIES = re.compile(r"train(?:er|ing)?_\w")  # train_ppo.py beside train.py
_AUXILIARY = re.compile(r"[/_](?:export|convert|preproc|prepare|download|bench|plot|visual|setup|test)", re.I)


def _judged(
    index: Index,
    graph: Graph,
    likely: Mapping[str, float],
    commands: tuple[Command, ...],
    signs: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
) -> list[Entry]:
    found: list[Entry] = []
    best = float("-inf")
    for path in sorted(likely, key=lambda path: (-likely[path], path))[:MAX_CANDIDATES]:
        if likely[path] + MOST_BY_REACH < best and len(found) >= MIN_CANDIDATES:
            break  # whatever the rest reach, none can come first
        found.append(_entry(index, graph, path, likely[path], commands, signs, handed))
        best = max(best, found[-1].score)
    return sorted(_with_first(found), key=_rank)


def _with_first(found: Iterable[Entry]) -> Iterator[Entry]:
    """The training program that the README shows first is worth a little more."""
    every = tuple(found)
    shown = [(c.line, one.path) for one in every if one.trains for c in one.commands if _in_first_readme(c)]
    first = min(shown)[1] if shown else None
    for one in every:
        yield replace(one, score=one.score + SHOWN_FIRST) if one.path == first else one


def _rank(entry: Entry) -> tuple[float, str]:
    return -entry.score, entry.path


def _entry(
    index: Index,
    graph: Graph,
    path: str,
    likely: float,
    commands: tuple[Command, ...],
    signs: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
) -> Entry:
    own = tuple(command for command in commands if command.target == path)
    root = index.files[path].body
    roots = [root, *_console_functions(index, path, own)]
    reached = reach(graph, roots)
    near = None if _tries_itself(root) else min((far for far, _ in trainings(reached, signs, handed)), default=None)
    if near is None and any(started_of_library(index, one.text, path) for one in own):
        near = PLUGIN_DISTANCE
    far = near if near is not None else _loads_training(graph, path, own, reached, signs, handed)
    score = likely + _reached_score(far) + _completeness(index, reached, signs)
    return Entry(path, root, guard_line(root), reached, own, score, near is not None)


def _console_functions(index: Index, path: str, commands: tuple[Command, ...]) -> Iterator[Function]:
    names = {command.function for command in commands if command.function}
    file = index.files[path]
    if not names:
        every = _fires_all(file)
        words = {word for command in commands[:1] for word in words_behind(command.text)}
        names = {
            name
            for name, function in file.functions.items()
            if (every and "." not in name)
            or any(_starts(index, file, d) or (d.last == "command" and name in words) for d in function.decorators)
        }
        said = names & words
        unsaid = {name for name in names if any(d.last == "automain" for d in file.functions[name].decorators)}
        names = said or unsaid or names  # train gail, where the file has a command for airl too
    for name in sorted(names):
        if name in file.functions:
            yield file.functions[name]


def _fires_all(file: FileFacts) -> bool:
    """fire.Fire() makes a command of every function of the file."""
    calls = (call for event in file.body.events for call in event.calls if file.body.source.holds(_FIRE))
    return any(call.last == "Fire" and not call.arguments for call in calls)


_FIRE = re.compile(rb"\bFire\(\s*\)")


def _starts(index: Index, file: FileFacts, decorator: Expr) -> bool:
    """The decorated function is what the file runs: of an experiment, by a call of the object that decorates, or of no guard."""
    if decorator.last not in MAINS:
        return False
    if (
        decorator.last == "automain"
        or not has_guard(index, file.path)
        or any(entry.module.partition(".")[0] == "sacred" for entry in file.imports)
    ):
        return True
    holder = (decorator.callee or decorator.text).rpartition(".")[0]
    calls = (call.callee for event in file.body.events for call in event.calls)
    return holder != "" and any(callee == holder or callee.startswith(f"{holder}.") for callee in calls)


def trainings(
    reached: Reach, signs: Mapping[Function, list[Sign]], handed: Mapping[Function, list[Handover]]
) -> Iterator[tuple[int, Function]]:
    for function, found in signs.items():
        if function in reached.distance and any(sign.role == "backward" for sign in found):
            yield reached.distance[function], function
    for function in handed:
        if function in reached.distance and any(h.site.call.last not in _NOT_TRAINING for h in handed[function]):
            yield reached.distance[function], function


_NOT_TRAINING = ("test", "validate", "predict", "evaluate")


def _reached_score(near: int | None) -> float:
    return -6.0 if near is None else 6.0 - 0.15 * near


def _loads_training(
    graph: Graph,
    path: str,
    own: Iterable[Command],
    reached: Reach,
    signs: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
) -> int | None:
    """How far the training is that a program of the README loads and is not seen to call: a registry may lead there.

    Not of a command that a package installs: its program loads what every one of its commands needs.
    """
    runs_others = any(one != path for one in reached.files)
    is_shown = any(_in_first_readme(command) and not command.function for command in own)
    if not runs_others or not is_shown or _OTHER.search("/" + PurePosixPath(path).name):
        return None
    return LOADED_DISTANCE if any(True for _ in steps_in(signs, handed, graph.imports(frozenset([path])))) else None


def _tries_itself(root: Function) -> bool:
    """All that the file does below its guard is to call its own test()."""
    guard = guard_line(root)
    calls = [call for event in root.events if event.line > guard for call in event.calls]
    return bool(calls) and all(_TEST.fullmatch(call.callee) for call in calls)


_TEST = re.compile(r"_?(?:unit_?|self_?)?test(?:_\w+)?")


def _completeness(index: Index, reached: Reach, signs: Mapping[Function, list[Sign]]) -> float:
    """A program that also steps an optimizer, reads data and saves is a training program, not a snippet."""
    steps = any(
        s.role == "optimizer step" for function in signs.keys() & reached.distance.keys() for s in signs[function]
    )
    loads = _calls(index, reached, "DataLoader", "load_dataset")
    saves = _calls(index, reached, "save", "save_pretrained", "save_checkpoint")
    return 1.5 * steps + 0.5 * loads + 0.5 * saves


def _calls(index: Index, reached: Reach, *last_names: str) -> bool:
    """Reached code calls something of such a name; no other code is read for it."""
    return any(
        function in reached.distance and name in call_sites(function)
        for name in last_names
        for function in index.sites.may_call(name)
    )


def guard_line(root: Function) -> int:
    """Line of the `__main__` guard, else of the first statement."""
    for event in root.events:
        if event.kind == "if" and event.value is not None and any(p.text == "__name__" for p in event.value.parts):
            return event.line
    return root.events[0].line if root.events else 1
