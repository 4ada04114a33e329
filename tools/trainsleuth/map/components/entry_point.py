"""Where the program starts: the guard, the main function, the launch commands, the way down to the training step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from trainsleuth.facts import MODULE_BODY, Class, Expr, Function
from trainsleuth.facts.naming.sites import is_test
from trainsleuth.facts.reading.scopes import bindings
from trainsleuth.repository import is_python

from ..calling.ways import line_of_call
from ..launching.command_words import is_same_subcommand, words_behind
from ..launching.launch import Command, names_recipe
from ..launching.scripts import started_at
from ..loop.frameworks import owned_by
from ..program import HAND_OVERS, Program
from ..programs.entries import MAINS, guard_line
from ..programs.running import is_guarded
from ..records import Place

MAX_LAUNCHES = 16


def places(program: Program) -> Iterator[Place]:
    entry = program.entry
    if entry.line > 1 or entry.trains:
        yield Place(entry.path, _first_line(program), "start", 1.0)
    if (owner := program.index.class_of(entry.root)) is not None:  # of a library
        yield program.at_target(owner, "start", 0.9)
    yield from _mains(program)
    yield from _launcher(program)
    seen: set[str] = set()
    named = [one for one in entry.commands if program.recipe is not None and names_recipe(one, program.recipe)]
    first = {command.path: command for command in reversed(entry.commands)}
    ordered = dict.fromkeys((*named, *_closest(entry.commands), *entry.commands[:3], *first.values(), *entry.commands))
    for rank, command in enumerate(ordered):
        score = 0.85 if rank == 0 else 0.6 - 0.02 * rank if command.path not in seen or rank < 3 else 0.3 - 0.01 * rank
        if rank < MAX_LAUNCHES:
            if command.path and command.text:  # one that the caller gave stands nowhere, or in a script
                yield Place(command.path, command.line, "launch", score)
            elif command.script:
                yield Place(command.script, started_at(program.index, command), "launch", score)
        seen.add(command.path)
    yield from _joined(program)
    yield from _put_to_work(program)
    yield from _way_down(program) if entry.trains or is_python(entry.path) else _ways_to_use(program)


def _joined(program: Program) -> Iterator[Place]:
    """Where its processes find each other: dist.init_process_group("nccl")."""
    for called in program.reached_calls:
        if _JOINS.fullmatch(called.call.last):
            yield program.at(called.function, called.call.line, "processes", 0.5 * called.weight**0.4)


def _put_to_work(program: Program) -> Iterator[Place]:
    """Where what trains is made: trainer = Trainer(args)."""
    for called, names in program.bound_calls:
        near = program.entry.reach.distance.get(called.function, FAR_FROM_ENTRY) < FAR_FROM_ENTRY
        if near and called.call.last[:1].isupper() and any(map(_TRAINS.fullmatch, names)):
            yield program.at(called.function, called.call.line, "made", 0.56 * called.weight**0.4)


FAR_FROM_ENTRY = 5
_TRAINS = re.compile(r"\w*(?:trainer|runner|engine|experiment|exp|learner|solver|task|system)")


_JOINS = re.compile(
    r"_?(?:init_process_group|(?:init|initialize|setup)_(?:dist|ddp|distributed\w*|process_group)|dist_init|ddp_setup)"
)


def _closest(commands: Sequence[Command]) -> Iterator[Command]:
    """Of those that a text of the repository gives, the one that says most of what the caller's own command says: the same
    subcommand first, then the same words.
    """
    if len(commands) > 1 and not commands[0].path and commands[0].text:
        said = words_behind(commands[0].text)
        told = {one: words_behind(one.text) for one in commands[1:] if one.path}
        fits = {one: is_same_subcommand(words, said) for one, words in told.items()}
        shared = {one: len({*said} & {*words}) for one, words in told.items()}
        best = max(told, key=lambda one: (fits[one], not is_test(one.path), shared[one]), default=None)
        if best is not None and (fits[best] or shared[best] > 1):
            yield best


def _first_line(program: Program) -> int:
    """Of a README, of its first block of code."""
    entry = program.entry
    events = entry.root.events if not is_python(entry.path) else ()
    return next((event.line for event in events if event.calls), entry.line)


def _ways_to_use(program: Program) -> Iterator[Place]:
    """What a README calls of a library that trains nothing, and where that is defined."""
    for event in program.entry.root.events:
        for call in event.calls:
            for target in program.graph.targets(program.entry.root, call):
                if isinstance(target, Class | Function):
                    yield program.at(program.entry.root, call.line, "use", 0.7)
                    yield program.at_target(target, "used", 0.65)


def _mains(program: Program) -> Iterator[Place]:
    """What the guard calls, and functions that a decorator makes the start."""
    root = program.entry.root
    file = program.index.files[root.path]
    for event in root.events:
        if is_guarded(event):
            for call in event.calls:
                target = program.index.resolve(root, call.callee) if call.callee else None
                for part in call.parts[1:]:
                    given = part.parts[0] if part.kind == "keyword" else part
                    handed = program.index.resolve(root, given.text) if given.kind == "path" else None
                    if isinstance(handed, Function) and call.last in ("Fire", "run", "cli", *HAND_OVERS):
                        yield program.at(handed, handed.line, "main", 0.95)
                        yield program.at(root, call.line, "start", 0.66)
                if isinstance(target, Class) and owned_by(program.index, target) is not None:
                    for cls in program.index.lineage(target):  # LightningCLI, derived: making it is the run
                        yield program.at_target(cls, "command line", 0.62)
                if isinstance(target, Function):
                    yield program.at(target, target.line, "main", 0.95 if target.path == root.path else 0.6)
                    yield program.at(root, call.line, "start", 0.55)
                elif target is None and _RUNS.match(call.last):  # trainer.run() of an object
                    for method in program.graph.targets(root, call):
                        if isinstance(method, Function):
                            yield program.at(root, call.line, "start", 0.66)
                            yield program.at(method, method.line, "main", 0.64)
    for function in file.functions.values():
        if any(decorator.last in MAINS for decorator in function.decorators):
            yield program.at(function, function.line, "main", 0.97)
            yield program.at(function, min(d.line for d in function.decorators), "main", 0.9)
        elif function in program.entry.reach.roots and function.name != "<module>":
            yield program.at(function, function.line, "main", 0.97)


def _launcher(program: Program) -> Iterator[Place]:
    """Where the file begins that the caller's command starts, when that is another one, and where it starts the program."""
    for command in program.entry.commands[:1]:
        file = program.index.files.get(command.target)
        if file is None or command.target == program.entry.path:
            continue
        main = file.functions.get(command.function, file.body)
        yield program.at(main, guard_line(main) if main is file.body else main.line, "launcher", 0.8)
        name = re.compile(re.escape(PurePosixPath(program.entry.path).name.encode()))
        for function in file.functions.values():
            is_starting = function.source.holds(name)
            if is_starting and function is not file.body:
                yield program.at(function, function.line, "launcher", 0.75)
            for event in function.events:
                calls = (call.last in _STARTS or call.last.startswith("spawn") for call in event.calls)
                chosen = (call.last == "set_defaults" and call.keyword("func") is not None for call in event.calls)
                if (is_starting and any(calls)) or (function is main and any(chosen)):
                    yield program.at(function, event.line, "launcher", 0.7)


_STARTS = ("call", "run", "Popen", "check_call", "check_output", "system", "execvp")


_RUNS = re.compile(r"(?:run|train|fit|main|start|launch|execute|learn|solve)(?:_|$)")


def _way_down(program: Program) -> Iterator[Place]:
    """Functions between the entry and the training step: the outer frame of the program."""
    goal = program.training.step or program.training.handed_over
    if goal is None:
        return
    for handover in program.handed.get(goal, ()):
        yield program.at(goal, handover.site.call.line, "way down", 0.6)
    around = [sign.site.event.block.loops for sign in program.signs.get(goal, ()) if sign.role == "backward"]
    if goal is program.entry.root and any(around):
        yield program.at(goal, goal.loops[next(filter(None, around))[0]].line, "way down", 0.6)
    elif goal.name != MODULE_BODY:
        yield program.at(goal, goal.line, "way down", 0.42)
    way = list(program.training.ways.back(goal))
    if program.assumed and way and way[-1][0].name != MODULE_BODY:
        yield program.at(way[-1][0], way[-1][0].line, "supposed", 0.8)
    for hop, (caller, edge) in enumerate(reversed(way)):
        if edge.position >= 0:
            yield program.at(caller, line_of_call(caller, edge), "way down", 0.7 / (1 + 0.1 * hop))
            yield from _receiver(program, caller, edge.position, 0.66 / (1 + 0.1 * hop))
        yield program.at(edge.target, edge.target.line, "way down", 0.75 / (1 + 0.15 * hop))


def _receiver(program: Program, caller: Function, position: int, score: float) -> Iterator[Place]:
    """Where the object comes from on which the way goes on: solver = get_solver(cfg); solver.run()."""
    for call in caller.events[position].calls:
        receiver = call.receiver
        if receiver is None or receiver.kind != "path" or "." in receiver.text:
            continue
        for binding in bindings(caller).get(receiver.text, ()):
            if binding.kind == "assign" and binding.value is not None and binding.value.kind == "call":
                yield program.at(caller, caller.events[binding.position].line, "built", score)
                yield from _factories(program, caller, binding.value, score * 0.95)


def _factories(program: Program, caller: Function, call: Expr, score: float, hops: int = 2) -> Iterator[Place]:
    for target in program.graph.targets(caller, call):
        if isinstance(target, Function) and target.name != "__init__" and hops:
            yield program.at(target, target.line, "builder", score)
            for event in target.events:
                made = event.value if event.kind in ("return", "assign") else None
                if made is not None and made.kind == "call" and program.values.of(target, made):
                    yield from _factories(program, target, made, score * 0.95, hops - 1)
