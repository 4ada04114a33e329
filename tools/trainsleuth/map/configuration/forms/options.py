"""Options of a command line: argparse, absl, click and typer, and functions that fire or tyro turn into one."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, External, Function, plain_name

from ...calling.fired import fired
from ...launching.command_words import words_behind
from ...launching.subcommand import plain_words
from ...program import Program
from ..records import REQUIRED, Definition
from .clicked import clicked, flags_of
from .literals import text_of
from .own_options import own_options
from .subcommands import subcommands
from .typer_options import of_typer

_DEFINES = {"add_argument": 0, "add": 0, "add_arg": 0}
_TURNS = ("fire.Fire", "Fire", "typer.run", "tyro.cli", "click.command", "jsonargparse.CLI", "jsonargparse.auto_cli")
NOT_GIVEN = "None"


def options(program: Program) -> Iterator[Definition]:
    """Every option that code of the program defines, nearest functions first; none of a program that it only imports."""
    asked = words_asked(program)
    for function, _ in program.functions():
        commands = subcommands(function, asked)
        if commands.dest:
            yield Definition(commands.dest, function.path, commands.line, commands.chosen)
        for event in function.events:
            if program.never_runs(function.path, event.line):
                continue
            for call in event.calls:
                if call.last == "add_argument":
                    if not commands.is_others(call):
                        yield from _argparse(function, call)
                elif call.last.startswith("DEFINE_"):
                    yield from _absl(function, call)
                else:
                    yield from _turned(program, function, call)
        yield from _decorated(function)
        if function not in program.values.known.unasked and _is_of_typer(program, function):
            yield from parameters(function)
    yield from own_options(program)


def words_asked(program: Program) -> tuple[str, ...]:
    """The plain words with which the caller's command begins: the subcommand, and its own."""
    own = [command for command in program.entry.commands[:1] if not command.path]
    return tuple(word for command in own for word in plain_words(words_behind(command.text)))


def _argparse(function: Function, call: Expr) -> Iterator[Definition]:
    yield from _named(function, call, tuple(part.text for part in call.arguments if part.kind == "string"))


def _named(function: Function, call: Expr, flags: tuple[str, ...]) -> Iterator[Definition]:
    if not flags:
        return
    written_dest = call.keyword("dest")
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    name = written_dest.text if written_dest is not None else plain_name(long)
    value = _default(call)
    about = call.keyword("help")
    said = about.text if about is not None and about.kind == "string" else ""
    names = tuple(plain_name(flag) for flag in flags if flag.startswith("-"))
    yield Definition(name, function.path, call.line, value, names, said, negated=_negated(call, names))


def _negated(call: Expr, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of an option that switch it off: all of a store_false, --no-x beside a BooleanOptionalAction --x."""
    action = call.keyword("action")
    if action is None:
        return ()
    if action.text == "store_false":
        return names
    return tuple(f"no_{name}" for name in names) if action.last == "BooleanOptionalAction" else ()


def _default(call: Expr) -> str:
    given = call.keyword("default")
    if given is not None and given.last == "SUPPRESS":  # of argparse: without the option there is no such attribute
        return REQUIRED
    if given is not None:
        return text_of(given)
    action = call.keyword("action")
    if action is not None and action.text in ("store_true", "store_false"):
        return "False" if action.text == "store_true" else "True"
    needed = call.keyword("required")
    many = call.keyword("nargs")
    if all(not part.text.startswith("-") for part in call.arguments if part.kind == "string"):
        return NOT_GIVEN if many is not None and many.text in ("?", "*") else REQUIRED
    return REQUIRED if needed is not None and needed.text == "True" else NOT_GIVEN


def _absl(function: Function, call: Expr) -> Iterator[Definition]:
    name, value, about = (call.argument(place, word) for place, word in enumerate(("name", "default", "help")))
    if name is not None and name.kind == "string" and value is not None:
        said = about.text if about is not None and about.kind == "string" else ""
        negated = (f"no{name.text}",) if call.last == "DEFINE_bool" or call.last == "DEFINE_boolean" else ()
        yield Definition(name.text, function.path, call.line, text_of(value), (name.text,), said, negated=negated)


def _turned(program: Program, function: Function, call: Expr) -> Iterator[Definition]:
    """Parameters of a function whose signature is the command line."""
    name = program.full_name(function, call.callee) if call.callee else ""
    if name not in _TURNS:
        return
    for _, one in fired(program.values, function, call):
        if one not in program.values.known.unasked:
            yield from parameters(one)
    for part in call.arguments[:1]:
        target = program.index.resolve(function, part.text) if part.kind == "path" else None
        if isinstance(target, Function):
            yield from parameters(target)


def parameters(function: Function, group: str = "") -> Iterator[Definition]:
    """Parameters with a default, as keys of their own names."""
    for parameter in function.parameters:
        if (option := of_typer(function, parameter)) is not None:
            yield option._replace(group=group)
        elif parameter.default is not None:
            line = parameter.default.line
            yield Definition(parameter.name, function.path, line, text_of(parameter.default), (parameter.name,), "", group)  # fmt: skip


def _is_of_typer(program: Program, function: Function) -> bool:
    """@app.command() of app = typer.Typer(), or a signature that has options of typer."""
    if any(of_typer(function, one) is not None for one in function.parameters):
        return any(one.module == "typer" for one in program.index.files[function.path].imports)
    held = (one.receiver if one.kind == "call" else one for one in function.decorators if one.last == "command")
    body = program.index.files[function.path].body
    return any(_TYPER in program.values.of(body, one) for one in held if one is not None)


_TYPER = External("typer.Typer")


def _decorated(function: Function) -> Iterator[Definition]:
    for decorator in clicked(function):
        flags, off = flags_of(decorator)
        for one in _named(function, decorator, flags):
            yield one._replace(negated=(*one.negated, *map(plain_name, off)))
