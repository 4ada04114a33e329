"""Which subcommand of a command line starts the training, and which options belong to another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, bindings

_TRAINS = re.compile(r"(?:train|fit|pretrain|finetune|run)$")


class Subcommands(NamedTuple):
    """Those that one function adds. `parsers` are the names of their parsers, `dest` is the key of the chosen one."""

    parsers: dict[str, str]
    chosen: str
    dest: str
    line: int

    def is_others(self, parser: str) -> bool:
        """`parser` is that of a subcommand that was not chosen."""
        return bool(self.chosen) and self.parsers.get(parser, self.chosen) != self.chosen


def subcommands(function: Function, asked: Sequence[str] = ()) -> Subcommands:
    """The one that is among the words `asked` of a command, else the only one that is called after training."""
    parsers = dict(_parsers(function))
    named = [word for word in asked if word in parsers.values()]
    training = named[:1] or [name for name in dict.fromkeys(parsers.values()) if _TRAINS.match(name)]
    dest, line = next(_dest(function), ("", 0)) if len(training) == 1 and len(parsers) > 1 else ("", 0)
    return Subcommands(parsers, training[0] if len(training) == 1 else "", dest, line)


def _parsers(function: Function) -> Iterator[tuple[str, str]]:
    """(variable, subcommand) of parser_train = subparsers.add_parser("train"), and of the groups of its options."""
    known: dict[str, str] = {}
    for name, bound in bindings(function).items():
        for one in bound:
            value = one.value
            if value is None or value.kind != "call" or value.receiver is None:
                continue
            if value.last == "add_parser" and value.arguments and value.arguments[0].kind == "string":
                known[name] = value.arguments[0].text
            elif value.last in _GROUPS and value.receiver.text in known:
                known[name] = known[value.receiver.text]
    yield from known.items()


_GROUPS = ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers")


def _dest(function: Function) -> Iterator[tuple[str, int]]:
    for event in function.events:
        for call in event.calls:
            dest = call.keyword("dest") if call.last == "add_subparsers" else None
            if dest is not None and dest.kind == "string":
                yield dest.text, call.line


def parser_of(call: Expr) -> str:
    """The name of the parser that an add_argument call extends."""
    return call.receiver.text if call.receiver is not None else ""
