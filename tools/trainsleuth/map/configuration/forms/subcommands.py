"""Which subcommand of a command line starts the training, and which options belong to another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainsleuth.facts import Expr, Function

_TRAINS = re.compile(r"(?:train|fit|pretrain|finetune|run)$")


class Subcommands(NamedTuple):
    """Those that one function adds. `parsers` are the names of their parsers: what each is, and from which line on; `dest`
    is the key of the chosen one.
    """

    parsers: Mapping[str, Sequence[tuple[int, str]]]
    chosen: str
    dest: str
    line: int

    def is_others(self, call: Expr) -> bool:
        """The call extends the parser of a subcommand that was not chosen."""
        return bool(self.chosen) and self.of(call) not in ("", self.chosen)

    def of(self, call: Expr) -> str:
        """The subcommand whose parser the call extends, "" where it is none of them: of one name the last before the call."""
        parser = call.receiver
        bound = self.parsers.get(parser.text, ()) if parser is not None else ()
        return _added(parser) or next((name for line, name in reversed(bound) if line <= call.line), "")


def subcommands(function: Function, asked: Sequence[str] = ()) -> Subcommands:
    """The one that is among the words `asked` of a command, else the only one that is called after training."""
    parsers = _parsers(function)
    names = dict.fromkeys(name for bound in parsers.values() for _, name in bound)
    named = [word for word in asked if word in names]
    training = named[:1] or [name for name in names if _TRAINS.match(name)]
    dest, line = next(_dest(function), ("", 0)) if len(training) == 1 and len(names) > 1 else ("", 0)
    return Subcommands(parsers, training[0] if len(training) == 1 else "", dest, line)


def _parsers(function: Function) -> dict[str, list[tuple[int, str]]]:
    """By the variable of parser_train = subparsers.add_parser("train"), and of the groups of its options: (line, subcommand)."""
    found: dict[str, list[tuple[int, str]]] = {}
    for event in function.events:
        value = event.value
        if event.kind != "assign" or value is None or value.kind != "call" or value.receiver is None:
            continue
        above = found.get(value.receiver.text, ()) if value.last in _GROUPS else ()
        name = above[-1][1] if above else _added(value)
        for target in event.targets if name else ():
            found.setdefault(target.text, []).append((event.line, name))
    return found


def _added(call: Expr | None) -> str:
    """ "train" of subparsers.add_parser("train")"""
    name = call.arguments[:1] if call is not None and call.last == "add_parser" and call.kind == "call" else ()
    return name[0].text if name and name[0].kind == "string" else ""


_GROUPS = ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers")


def _dest(function: Function) -> Iterator[tuple[str, int]]:
    for event in function.events:
        for call in event.calls:
            dest = call.keyword("dest") if call.last == "add_subparsers" else None
            if dest is not None and dest.kind == "string":
                yield dest.text, call.line
