"""Options of typer in a signature: lr: float = typer.Option(1e-5, "--lr"), lr: Annotated[float, typer.Option("--lr")] = 1e-5"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainsleuth.facts import Expr, Function, Parameter, plain_name

from ..records import REQUIRED, Definition
from .literals import text_of

_KINDS = ("Option", "Argument")
_ANNOTATED = re.compile(r"Annotated\[.*\b(?:Option|Argument)\((.*)\)", re.S)
_FLAG = re.compile(r"[\"'](-[^\"']*)[\"']")


def of_typer(function: Function, parameter: Parameter) -> Definition | None:
    """What a parameter is on the command line; None where its signature says nothing of it."""
    default = parameter.default
    if default is not None and default.kind == "call" and default.last in _KINDS:
        value, about = default.argument(0, "default"), default.keyword("help")
        flags = [one.text for one in default.arguments[1:] if one.kind == "string"]
        said = about.text if about is not None and about.kind == "string" else ""
        return _defined(function, parameter, default.line, _value(value), flags, said)
    if (match := _ANNOTATED.search(parameter.annotation)) is not None:
        line = default.line if default is not None else function.line
        return _defined(function, parameter, line, _value(default), _FLAG.findall(match[1]), "")
    return None


def _value(given: Expr | None) -> str:
    text = text_of(given) if given is not None else REQUIRED
    return REQUIRED if text == "..." else text


def _defined(
    function: Function, parameter: Parameter, line: int, value: str, flags: Sequence[str], about: str
) -> Definition:
    on, off = [one.partition("/")[0].strip() for one in flags], [one.partition("/")[2].strip() for one in flags]
    names = tuple(map(plain_name, on)) or (parameter.name,)
    negated = tuple(map(plain_name, filter(None, off))) or (
        (f"no_{parameter.name}",) if value in ("True", "False") else ()
    )
    return Definition(parameter.name, function.path, line, value, names, about, negated=negated)
