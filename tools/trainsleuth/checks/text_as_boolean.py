"""A setting that is given as False on the command line is taken for True.

argparse calls `type` on the text that it got, and bool("False") is True, as of every text but an empty one. The run
starts, prints no warning, and trains with what was switched off.

Fix: action=argparse.BooleanOptionalAction (--amp, --no-amp), or a function that reads the words.

Cannot see: options that code gives to a program it starts, and parsers that read such texts by rules of their own.

Bad:
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--augment", type=bool, default=True)
    args = parser.parse_args()
    print("augmenting" if args.augment else "as they are")

Good:
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--augment", action=argparse.BooleanOptionalAction, default=True)
    args = parser.parse_args()
    print("augmenting" if args.augment else "as they are")

Good (nobody can want it off: it is so by default, and every text switches it on):
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", type=bool, default=False)
    args = parser.parse_args()
    print("debugging" if args.debug else "")
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Site, is_test
from trainsleuth.finding import Finding, Link

from ._given import commands_that_give
from ._options import as_written
from ._verdicts import Verdicts

SAY = Verdicts(
    "text-as-boolean",
    "training-procedure",
    "error",
    "learning_rate",
    suspects=("another-loop-fault",),
    claims=("bool-of-text-is-true",),
    look="print(args) at the start of the run",
    forms={"given": "a command of the repository gives a text that means off"},
    sure=("given",),
)
_MEANT_AS_FALSE = r"(?:[Ff]alse|FALSE|0|[Nn]o|[Oo]ff)(?![\w.])"
_READS_TEXTS = ("jsonargparse", "tap", "simple_parsing")  # libraries to whose parsers bool is no function to call
_OF_LIGHTNING = ("LightningCLI", "LightningArgumentParser")  # parsers of jsonargparse


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("add_argument"):
        kind, flag = site.call.keyword("type"), _flag(site.call)
        if flag and kind is not None and kind.text == "bool" and not is_test(site.function.path):
            yield _examined(index, site, flag)


def _flag(call: Expr) -> str:
    """augment of parser.add_argument("-a", "--augment", ...); "" where no long name is given."""
    flags = (one.text for one in call.arguments if one.kind == "string" and one.text.startswith("--"))
    return next(flags, "").lstrip("-")


def _examined(index: Index, site: Site, flag: str) -> Finding:
    path, line, option = site.function.path, site.call.line, flag.replace("-", "_")
    if _is_read_by_rules(index, path):
        return SAY.passed(path, line, f"--{flag} is read by rules of the parser's own")
    chain = (Link(path, line, f"--{flag} is made by bool(text)"),)
    given = next(commands_that_give(index, option, path, _MEANT_AS_FALSE), None)
    if given is not None:
        message = (
            f"{given.path}:{given.line} gives `{given.text}`, and bool() of that text is True (type=bool at {path}:{line}): what is "
            "meant to be off is on; expected action=argparse.BooleanOptionalAction."
        )
        return SAY.fail(path, line, message, (*chain, Link(given.path, given.line, f"`{given.text}`")), form="given")
    default = site.call.keyword("default")
    if default is None or as_written(default) not in ("True", "1"):
        return SAY.passed(path, line, f"--{flag} is off by default, and no command gives it a text that means off")
    if not _is_read(index, site, option):
        return SAY.passed(path, line, f"nothing reads {option}")
    message = (
        f"--{flag} (type=bool, default True) at {path}:{line} cannot be switched off: bool() of any text but an empty one is True, so "
        f"`--{flag} False` leaves it on. Was a run ever started so? Expected action=argparse.BooleanOptionalAction."
    )
    return SAY.fail(path, line, message, chain, "high", "note")


def _is_read(index: Index, site: Site, option: str) -> bool:
    """Wide: its name stands somewhere behind a dot or in quotes, or all options are taken at once."""
    dest = site.call.keyword("dest")
    name = re.escape((dest.text if dest is not None else option).encode())
    read = re.compile(rb"\.%s\b|[\"']%s[\"']|vars\(|__dict__|parse_args\([^)\n]*namespace" % (name, name))
    part = index.part(site.function.path)
    return any(index.part(one.path) == part for one in index.functions_holding(read))


def _is_read_by_rules(index: Index, path: str) -> bool:
    """The parser is of a library that knows what bool means, or gets a reader for it: register("type", bool, ...)."""
    imports = index.files[path].imports
    if any(one.module.partition(".")[0] in _READS_TEXTS or one.name in _OF_LIGHTNING for one in imports):
        return True
    return any(
        len(one.call.arguments) > 1 and one.call.arguments[0].text == "type" and one.call.arguments[1].text == "bool"
        for one in index.calls("register")
    )
