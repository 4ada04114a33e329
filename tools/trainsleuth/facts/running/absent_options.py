"""Options that a program reads and no parser knows: args.depth ends in an AttributeError.

Narrow: what is read is surely what argparse gave back, every option of the program is added by a name that is written
out, no library is handed a parser, and nothing there sets the attribute or writes its name as a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..memo import kept_per_index
from ..records import Expr, FileFacts
from ..tracing.callers import Target, external_name
from ..tracing.making import makers
from ..tracing.things import Spot

if TYPE_CHECKING:
    from ..index import Index

_PARSES = re.compile(rb"parse_args\(")
_OTHERWISE = re.compile(  # options that come by another way
    rb"set_defaults\(|Namespace\(|setattr\(|parents\s*=|(?:vars\([^)\n]*\)|__dict__)\s*(?:\[[^\]\n]*\]\s*=[^=]|\.update|=[^=])"
)
_HOPS = 2  # functions that hand on what they were given back


def absent_option(index: Index, spot: Spot, expr: Expr) -> str:
    """Why a path cannot be read at `spot`; "" when it may well be."""
    if expr.kind != "path" or "." not in expr.text or not index.is_held(_PARSES):
        return ""
    owner, _, name = expr.text.rpartition(".")
    if name.startswith("_") or not _is_parsed(index, Expr("path", owner, (), expr.line), spot):
        return ""
    program = _program(index, index.part(spot.function.path))
    if _is_told(program, name) or not _are_written_out(index, program):
        return ""
    return f"no parser has an option {name}"


def _is_parsed(index: Index, expr: Expr, spot: Spot, hops: int = _HOPS) -> bool:
    """All that the expression may be is what an ArgumentParser gave back, with nothing laid below it."""
    made = list(makers(index, expr, spot))
    return bool(made) and all(_is_answer(index, one, at, hops) for one, at in made)


def _is_answer(index: Index, call: Expr, spot: Spot, hops: int) -> bool:
    if call.kind != "call":
        return False
    receiver = call.receiver
    if call.last == "parse_args" and receiver is not None and call.argument(1, "namespace") is None:
        parsers = index.objects.of(receiver, spot)
        return bool(parsers) and all(external_name(one) == "argparse.ArgumentParser" for one in parsers)
    targets = list(index.calling.targets(call, spot)) if hops and index.may_run(call, spot.function) else []
    return bool(targets) and all(_hands_on(index, one, call, spot, hops) for one in targets)


def _hands_on(index: Index, target: object, call: Expr, spot: Spot, hops: int) -> bool:
    if not isinstance(target, Target) or target.function.decorators:
        return False
    frame = index.frames.frame(target.function, call, spot, target.owner)
    given = list(index.frames.returns(frame))
    return bool(given) and all(_is_parsed(index, one, at, hops - 1) for one, at in given)


@kept_per_index
def _program(index: Index, part: str) -> tuple[FileFacts, ...]:
    """The files that imports connect, in either direction."""
    return tuple(file for path, file in index.files.items() if index.part(path) == part)


def _is_told(program: Iterable[FileFacts], name: str) -> bool:
    """Something sets it, or writes it as a text: "--weight-decay" for weight_decay."""
    written = re.escape(name.encode()).replace(b"_", b"[_-]")
    told = re.compile(rb"[\"'](?:--?)?%s[\"']|(?<!self)\.%s\s*(?::[^=\n]+)?=[^=]" % (written, re.escape(name.encode())))
    return any(file.body.source.holds(told) for file in program)


def _are_written_out(index: Index, program: tuple[FileFacts, ...]) -> bool:
    if any(file.body.source.holds(_OTHERWISE) for file in program):
        return False
    paths = {file.path for file in program}
    sites = [site for site in index.calls("add_argument") if site.function.path in paths]
    if any(part.kind != "string" for site in sites for part in site.call.arguments):
        return False
    parsers = {site.call.receiver.last for site in sites if site.call.receiver is not None} - {""}
    return all(index.functions_named(name) for file in program for name in _handed(file, parsers | {"parser"}))


def _handed(file: FileFacts, parsers: Iterable[str]) -> Iterator[str]:
    """Names of what is called with one of the parsers."""
    names = b"|".join(re.escape(name.encode()) for name in sorted(parsers))
    given = re.compile(rb"(\w+)\([^()\n]*(?<![\w.=])(?:\w+\.)*(?:%s)\s*[,)]" % names)
    yield from (found.decode() for found in given.findall(file.body.source.whole))
