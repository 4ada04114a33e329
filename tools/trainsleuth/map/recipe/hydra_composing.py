"""Code that composes a configuration by itself: initialize(config_path=args.folder); compose(config_name=args.name)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from trainsleuth.facts import Expr, External, Function, Index, plain_name

from ..calling.reach import Reach
from ..configuration.forms.spelled import Spelling
from ..launching.command_words import options
from .composition import normal
from .hydra_folder import folder_meant

_INITIALIZES = ("initialize", "initialize_config_dir")


def composing(index: Index, reached: Reach, words: Sequence[str]) -> Iterator[tuple[Function, str, str]]:
    """(function, configuration folder, name of the file), as far as constants, the `words` of the command and defaults say."""
    for site in index.calls("compose"):
        function, symbol = site.function, index.resolve(site.function, site.call.callee or "")
        is_hydra = isinstance(symbol, External) and symbol.name.startswith("hydra")
        named = site.call.argument(0, "config_name")
        if function not in reached.distance or not is_hydra or named is None:
            continue
        name = _said(index, function, named, words)
        starts = [call for event in function.events for call in event.calls if call.last in _INITIALIZES]
        folder = starts[0].argument(0, "config_path", "config_dir") if starts else None
        given = _said(index, function, folder, words) if folder is not None else ""
        here = str(PurePosixPath(function.path).parent)
        if name and given:
            yield function, normal(f"{here}/{given}"), name
        elif name:
            yield function, folder_meant(index, function, folder, name), name


def _said(index: Index, function: Function, value: Expr, words: Sequence[str]) -> str:
    """A constant; of an option what the command says, else its default."""
    if text := Spelling(index, function).of(value):
        return text
    option = value.last.replace("-", "_")
    for name, given in options(words):
        if name.startswith("--") and plain_name(name) == option:
            return given
    for event in function.events:
        for call in event.calls if "add_argument" in function.called else ():
            names = [plain_name(one.text) for one in call.arguments if one.kind == "string"]
            default = call.keyword("default") if call.last == "add_argument" and option in names else None
            if default is not None and default.kind == "string":
                return default.text
    parameter = function.parameter(value.text) if value.kind == "path" else None
    default = parameter.default if parameter is not None else None
    return default.text if default is not None and default.kind == "string" else ""
