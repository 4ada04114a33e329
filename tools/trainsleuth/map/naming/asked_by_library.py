"""Functions that a library calls whatever they are registered by: it asks every loader of GraphGym for the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from trainsleuth.facts import External, Index

from ..recipe.recipes import Choice
from .named_choice import marks

_ASKED = re.compile(r"(?:^|\.)graphgym(?:\.contrib)?\.register\.register_loader$")
_REGISTERS = re.compile(rb"\bregister_loader\b")


def asked_by_library(index: Index, loaded: Set[str]) -> Iterator[Choice]:
    """Those of `loaded` files, each by its own name."""
    for path in sorted(loaded & index.files.keys()):
        file = index.files[path]
        for function in file.functions.values() if file.body.source.holds(_REGISTERS) else ():
            for decorator in function.decorators:
                asked = index.resolve(file.body, decorator.callee or decorator.text)
                if isinstance(asked, External) and _ASKED.search(asked.name):
                    name = next(marks(function), function.name)
                    yield Choice(path, decorator.line, f"code:{decorator.line}", name, function)
