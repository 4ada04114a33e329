"""What CPython's own compiler says of each file, kept for as long as its facts live."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from trainsleuth.repository import is_notebook

from ..reading.compiled import Compiled, compiled
from ..reading.notebook import join_cells
from ..records import FileFacts

if TYPE_CHECKING:
    from ..index import Index

_KNOWN: WeakKeyDictionary[FileFacts, Compiled | None] = WeakKeyDictionary()
_BINDING_MAGIC = re.compile(r"(?:\"|\\n)\s*%(?:(?:run|load|loadpy|store|pylab)\b|[a-z]\w* [^\"\n]*=)")  # in its JSON


def compiled_file(index: Index, path: str) -> Compiled | None:
    """None where this interpreter cannot compile it, or a magic of a notebook may bind names."""
    file = index.files[path]
    if file not in _KNOWN:
        text = index.repository.read(path)
        if text is not None and is_notebook(path):
            text = join_cells(text)[0] if _BINDING_MAGIC.search(text) is None else None
        _KNOWN[file] = None  # for files that import everything from each other
        _KNOWN[file] = compiled(text, partial(_everything_of, index, path)) if text is not None else None
    return _KNOWN[file]


def _everything_of(index: Index, path: str, module: str, level: int) -> frozenset[str] | None:
    """What a file of this project, and of its names no other, may hand to `from module import *`. A package may load parts."""
    found = index.names.module(path, module, level)
    if (
        found is None
        or not found.path
        or found.path.endswith("__init__.py")
        or len({found.path, *index.names.ending(module)}) > 1
    ):
        return None
    try:
        known = compiled_file(index, found.path)
    except RecursionError:  # hundreds of files that import everything of the next
        return None
    return known.top if known is not None else None
