"""The subcommand that a launch command asks for: oumi train, lightly-train pretrain; what starts others does not run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from trainsleuth.facts import Expr, Function, Index, bindings

from ..calling.fired import fired
from ..configuration.forms.subcommands import subcommands
from ..recipe.branches import asked_key
from .command_words import words_behind

if TYPE_CHECKING:
    from ..calling.values import Values
    from .launch import Command

NEAR = 6  # from the entry: further away a word of the command is no subcommand
LEAST = 2  # words that a name is compared with, where one of them is a subcommand
_WORD = re.compile(r"[A-Za-z][\w-]*")


def plain_words(words: Sequence[str]) -> tuple[str, ...]:
    """Those with which a command begins before its first option, without key=value: the subcommand, and its own."""
    found = []
    for word in words:
        if word.startswith("-"):
            break
        if _WORD.fullmatch(word):
            found.append(word)
    return tuple(found)


class _Offered(NamedTuple):
    """A function that a command line offers under a name; `group` is the one that it belongs to, "" at the top."""

    function: Function
    name: str
    group: str


def unasked(values: Values, functions: Iterable[Function], words: Sequence[str]) -> frozenset[Function]:
    """Functions that click, typer or fire runs for other subcommands than the one that is among the `words`."""
    offered = _all_offered(values, functions)
    kept = set(_asked(offered, words))
    return frozenset(one.function for one in offered if one.function not in kept) if kept else frozenset()


def training_first(
    values: Values, functions: Iterable[Function], commands: Sequence[Command], trains: Callable[[Function], bool]
) -> tuple[Command, ...]:
    """The commands of one program, those behind that ask for a subcommand which does not train, where others do."""
    words = {one: plain_words(words_behind(one.text)) for one in commands}
    if len({said[:1] for said in words.values()}) < LEAST:
        return tuple(commands)
    offered = _all_offered(values, functions)
    asked = {one: list(_asked(offered, said)) for one, said in words.items()}
    training = {function for function in {*chain.from_iterable(asked.values())} if trains(function)}
    is_other = {one: bool(training and found and training.isdisjoint(found)) for one, found in asked.items()}
    return tuple(sorted(commands, key=is_other.__getitem__))


def _all_offered(values: Values, functions: Iterable[Function]) -> list[_Offered]:
    reached = list(functions)
    groups = {var: name for function in reached for var, name in _groups(function)}
    return [one for function in reached for one in _offered(values, function, groups)]


def _asked(offered: Iterable[_Offered], words: Sequence[str]) -> Iterator[Function]:
    yield from (one.function for one in offered if one.name in words and (not one.group or one.group in words))


def _groups(function: Function) -> Iterator[tuple[str, str]]:
    """(variable, name) of app.add_typer(analyze_app, name="analyze")."""
    for event in function.events:
        for call in event.calls:
            if call.last in ("add_typer", "add_command") and call.arguments and call.arguments[0].kind == "path":
                name = call.keyword("name") or (call.arguments[1] if len(call.arguments) > 1 else None)
                if name is not None and name.kind == "string":
                    yield call.arguments[0].text, name.text


def _offered(values: Values, function: Function, groups: Mapping[str, str]) -> Iterator[_Offered]:
    """By a decorator, @app.command("train"), in a statement, app.command(name="train")(train), as the default of a
    subparser, parser.set_defaults(func=train), or by what python-fire is handed.
    """
    yield from _of_parsers(values.index, function)
    for decorator in function.decorators:
        if (found := _named(decorator, function, groups)) is not None:
            yield found
    for event in function.events:
        for call in event.calls:
            yield from (_Offered(one, name, "") for name, one in fired(values, function, call))
            offer = call.parts[0] if call.kind == "call" and call.parts else None
            given = call.arguments[0] if call.arguments else None
            if offer is None or offer.kind != "call" or given is None or given.kind != "path":
                continue
            target = values.index.resolve(function, given.text)
            if isinstance(target, Function) and (found := _named(offer, target, groups)) is not None:
                yield found


def _of_parsers(index: Index, function: Function) -> Iterator[_Offered]:
    """What argparse is to run for the parsers that subparsers.add_parser("train") makes."""
    commands = subcommands(function) if function.source.holds(_SUBPARSERS) else None
    for event in function.events if commands is not None else ():
        for call in event.calls:
            name = commands.of(call) if commands is not None and call.last == "set_defaults" else ""
            for given in call.parts[1:] if name else ():
                yield from (_Offered(one, name, "") for one in _to_run(index, function, given))


def _to_run(index: Index, function: Function, given: Expr) -> Iterator[Function]:
    """func=train, callback=lambda args: train(args, more)"""
    value = given.parts[0] if given.kind == "keyword" else given
    called = value.parts[0].callee if value.kind == "lambda" else value.text if value.kind == "path" else ""
    target = index.resolve(function, called) if called else None
    if isinstance(target, Function):
        yield target


def _named(offer: Expr, function: Function, groups: Mapping[str, str]) -> _Offered | None:
    call = offer if offer.kind == "call" else None
    holder = call.receiver if call is not None else None
    kind = (call.last if call is not None else offer.last) if offer.kind in ("call", "path") else ""
    if kind not in ("command", "callback") or (call is not None and holder is None):
        return None
    group = groups.get(holder.text, "") if holder is not None else ""
    if kind == "callback":
        return _Offered(function, group, group) if group else None
    name = (call.keyword("name") or next(iter(call.arguments), None)) if call is not None else None
    said = name.text if name is not None and name.kind == "string" else function.name.replace("_", "-")
    return _Offered(function, said, group)


def compared(functions: Mapping[Function, int], words: Sequence[str]) -> dict[str, str]:
    """Names that code compares with the words of subcommands, as what the command gives: if command == "train": ...

    By `asked_key`, with the distance of each function from the entry.
    """
    found: dict[str, str] = {}
    for function, distance in functions.items() if words else ():
        told: dict[str, set[str]] = {}
        for event in function.events if distance <= NEAR else ():
            if event.kind == "if" and (said := _equal(event.value)) is not None:
                told.setdefault(said[0], set()).add(said[1])
        for name, every in told.items():
            if len(every) >= LEAST and words[0] in every and bindings(function).get(name):
                found[asked_key(function, name)] = words[0]
    return found


def parsed(functions: Mapping[Function, int], words: Sequence[str]) -> dict[str, str]:
    """The key under which argparse keeps the subcommand, as what the command gives: add_subparsers(dest="command")."""
    near = (one for one, distance in functions.items() if distance <= NEAR and one.source.holds(_SUBPARSERS))
    found = (subcommands(function, words) for function in near) if words else ()
    return {one.dest: one.chosen for one in found if one.dest and one.chosen == words[0]}


_SUBPARSERS = re.compile(rb"\badd_subparsers\(")


def _equal(test: Expr | None) -> tuple[str, str] | None:
    """(command, export) of command == "export"."""
    if test is None or test.kind != "compare" or test.text != "==" or len(test.parts) != 2:
        return None
    name, word = test.parts
    return (name.text, word.text) if name.kind == "path" and "." not in name.text and word.kind == "string" else None
