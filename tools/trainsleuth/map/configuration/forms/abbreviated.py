"""Options that a command gives by their beginning: argparse takes --bat 4 for --batch_size 4, and -f for -frames."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from trainsleuth.facts import Class, Event, Function

from ...program import Program
from .command_line import is_option
from .own_options import offering

_ADDS = re.compile(r"add_\w*(?:arg|args|argument|arguments|option|options|flags)(?:_\w+)?")
_OWN = ("add_argument", "add_argument_group")
_OTHERWISE = ("parse_known_args", "parse_known_intermixed_args")  # what they leave, somebody else may read
_TOLD = ("allow_abbrev", "parents")  # to a parser that does not complete, or has options of another


def abbreviated(program: Program, options: Collection[str], words: Sequence[str]) -> Mapping[str, str]:
    """Of the words of a command those that begin one of the parser's `options` alone, with that; none where there may be
    options that are not known.
    """
    given = (word.partition("=")[0] for word in words if is_option(word))
    found = {one: [option for option in options if option.startswith(one)] for one in given if one not in options}
    alone = {one: several[0] for one, several in found.items() if len(several) == 1}
    return alone if alone and not _has_others(program) else {}


def _has_others(program: Program) -> bool:
    functions = (function for function, _ in program.functions())
    return any(_adds_others(program, function, event) for function in functions for event in function.events)


def _adds_others(program: Program, function: Function, event: Event) -> bool:
    """It tells a parser not to complete, adds options by names that are computed, or lets a library add its own."""
    for call in event.calls:
        if call.last in _OTHERWISE or (call.last.lower().endswith("parser") and any(map(call.keyword, _TOLD))):
            return True
        if call.last == "add_argument" and all(part.kind != "string" for part in call.arguments):
            if program.index.class_of(function) not in offering(program.index):
                return True
        if _ADDS.fullmatch(call.last) and call.last not in _OWN:
            target = program.index.resolve(function, call.callee) if call.callee else None
            if not isinstance(target, Function | Class):
                return True
    return False
