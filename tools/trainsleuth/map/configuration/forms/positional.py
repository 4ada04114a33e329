"""Arguments of a command that have a name in the parser alone: python train.py PGAN --lr 0.1, add_argument("model")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, plain_name

from ...launching.command_words import words_behind
from ...launching.subcommand import plain_words
from ...program import Program
from .abbreviated import abbreviated
from .command_line import ends, is_option
from .own_options import own_options
from .subcommands import subcommands

_ALONE = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
_MANY = -1  # words: all up to the next option
_REST = -2  # of the command, options too


class Parsed(NamedTuple):
    """How argparse reads a command: by option, without its dashes, how many words it takes; and the names of what stands
    without one, in their order, each with the same. `has_command`: the first of these is the subcommand. `meant`: options
    that the command gives by their beginning alone, with their names.
    """

    takes: Mapping[str, int]
    positional: Sequence[tuple[str, int]]
    has_command: bool = False
    meant: Mapping[str, str] = MappingProxyType({})


def parsed(program: Program, text: str) -> Parsed:
    """What the parsers say that the program reaches; of subcommands that of the one which `text` asks for."""
    words = words_behind(text)
    asked = plain_words(words)
    takes: dict[str, int] = {}
    options: set[str] = set()
    positional: list[tuple[str, int]] = []
    has_command = False
    for function, _ in program.functions():
        commands = subcommands(function, asked)
        own: list[tuple[str, int]] = []
        for call in _arguments(program, function):
            names = [part.text for part in call.arguments if part.kind == "string"]
            count = _count(call)
            if names and names[0].startswith("-"):
                options.update(() if commands.is_others(call) else names)
                takes.update({plain_name(name): count for name in names} if count is not None else {})
            elif names and not commands.is_others(call):
                own.append((_name(call, names[0]), count if count is not None else 1))
        if own and not positional:
            positional, has_command = own, bool(commands.parsers)
    for one in own_options(program):
        takes.update(dict.fromkeys(one.flags, 0 if one.value in ("True", "False") else 1))
        options.update(f"-{name}" if len(name) == 1 else f"--{name}" for name in one.flags)
    meant = {}
    for short, option in abbreviated(program, options, words).items():
        meant[plain_name(short)] = plain_name(option)
        takes.update({plain_name(short): takes[plain_name(option)]} if plain_name(option) in takes else {})
    return Parsed(takes, positional, has_command, meant)


def _arguments(program: Program, function: Function) -> Iterator[Expr]:
    for event in function.events:
        if any(call.last == "add_argument" for call in event.calls) and not program.never_runs(
            function.path, event.line
        ):
            yield from (call for call in event.calls if call.last == "add_argument")


def _name(call: Expr, written: str) -> str:
    dest = call.keyword("dest")
    return dest.text if dest is not None and dest.kind == "string" else written


def _count(call: Expr) -> int | None:
    """How many words follow; None where an action of the project's own decides."""
    action, number = call.keyword("action"), call.keyword("nargs")
    if action is not None and action.last == "BooleanOptionalAction":
        return 0
    if action is not None and action.text not in ("store", "append", "extend"):
        return 0 if action.text in _ALONE else None
    if number is None or number.text == "?":
        return 1
    if number.kind == "number":
        return int(number.text) if number.text.isdecimal() else None
    return _REST if number.last == "REMAINDER" else _MANY


def given_by_place(parser: Parsed, text: str) -> Iterator[tuple[str, str]]:
    """(name, value) of what a command gives without an option."""
    left = list(_without_options(parser, words_behind(text)))[bool(parser.has_command) :]
    for name, count in parser.positional:
        if count == _REST or not left:
            return
        number = len(left) if count == _MANY else count
        yield name, " ".join(left[:number])
        left = left[number:]


def _without_options(parser: Parsed, words: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if is_option(word):
            name, equals, _ = word.lstrip("-").partition("=")
            count = 0 if equals else parser.takes.get(name.replace("-", "_"), _MANY)
            while count and place < len(words) and not ends(words[place]):
                place, count = place + 1, count - 1
        elif ends(word):
            return
        else:
            yield word
