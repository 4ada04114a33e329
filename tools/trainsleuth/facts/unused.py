"""Functions and classes of a program that nothing in it names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainsleuth.repository import is_notebook

from .dead import around
from .records import MODULE_BODY, FileFacts
from .sites import is_test

if TYPE_CHECKING:
    from .index import Index

_PACKAGING = ("setup.py", "setup.cfg", "pyproject.toml")
_ALL = re.compile(rb"globals\(\)\s*[\[.]|sys\.modules|getattr\(\s*(?:importlib\.)?import_module")
_LOADED = re.compile(rb"(\w+)\s*=\s*(?:importlib\.)?(?:import_module|__import__)\(")
_COMPUTED = (re.compile(rb"getattr\(\s*([\w.]+)\s*,\s*[^'\"\s]"), re.compile(rb"([\w.]+)\.__dict__\s*[\[.]"))
_PROGRAM = re.compile(rb"__name__\s*==")
_TEXTS = (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".bash", ".md", ".rst", ".txt", ".ipynb")
_HOOKS = ("main",)


def unused(index: Index, path: str, line: int) -> str:
    """The function or class around the place that nothing else in the project names, in code or in text; "" otherwise.

    A package that others install, and a file beside which no program stands, may be used by others; what is decorated
    may be registered.
    """
    function = around(index, path, line)
    if function is None or is_notebook(path) or any(name in _PACKAGING for name in index.repository.files):
        return ""
    head = function.qualname.partition(".")[0]
    file = index.files[path]
    cls, outer = file.classes.get(head), file.functions.get(head)
    defined = cls if cls is not None else outer
    if function.name == MODULE_BODY or defined is None or defined.decorators or head in _HOOKS:
        return ""
    if any(map(_is_looked_through, index.files.values())):
        return ""
    if not any(one.body.source.holds(_PROGRAM) for one in index.files.values() if one.path != path):
        return ""
    named, word = re.compile(rb"\b%s\b" % re.escape(head.encode())), re.compile(rf"\b{re.escape(head)}\b")
    others = (one for one in index.files.values() if one.path != path)
    lines = (index.repository.read(path) or "").split("\n")
    beside = "\n".join((*lines[: defined.line - 1], *lines[defined.end_line :]))
    if word.search(beside) or any(one.body.source.holds(named) for one in others):
        return ""
    texts = (one for one in index.repository.files if one.endswith(_TEXTS) or (one.endswith(".py") and is_test(one)))
    return "" if any(word.search(index.repository.read(one) or "") for one in texts) else head


def _is_looked_through(file: FileFacts) -> bool:
    """A name that is computed is looked for in a module: getattr(models, args.arch)."""
    source = file.body.source
    heads = {one.decode("utf-8", "replace") for pattern in _COMPUTED for one in source.found(pattern)}
    modules = {entry.alias for entry in file.imports if not entry.module.startswith("torch")}
    modules |= {one.decode("utf-8", "replace") for one in source.found(_LOADED)}
    return source.holds(_ALL) or not modules.isdisjoint(heads)
