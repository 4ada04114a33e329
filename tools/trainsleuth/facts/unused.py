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
_LOADED = re.compile(rb"(?<!\w)(\w{1,99})\s*=\s*(?:importlib\.)?(?:import_module|__import__)\(")
_COMPUTED = (
    re.compile(rb"getattr\(\s*([\w.]+)\s*,\s*[^'\"\s]"),
    re.compile(rb"(?<![\w.])([\w.]{1,99})\.__dict__\s*[\[.]"),
)
_PROGRAM = re.compile(rb"__name__\s*==")
_TEXTS = (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".bash", ".md", ".rst", ".txt", ".ipynb")
_HOOKS = ("main",)
_COMMENT = re.compile(r"\s*#")


def unused(index: Index, path: str, line: int) -> str:
    """The function or class around the place that nothing else in the project names, in code or in text; "" otherwise.
    Where only another one names it that nothing names, that one.

    A package that others install, and a file beside which no program stands, may be used by others; what is decorated
    may be registered.
    """
    if is_notebook(path) or any(name in _PACKAGING for name in index.repository.files):
        return ""
    if any(map(_is_looked_through, index.files.values())):
        return ""
    if not any(one.body.source.holds(_PROGRAM) for one in index.files.values() if one.path != path):
        return ""
    return _unused(index, path, line, frozenset())


def _unused(index: Index, path: str, line: int, seen: frozenset[str]) -> str:
    function = around(index, path, line)
    head = function.qualname.partition(".")[0] if function is not None else ""
    file = index.files[path]
    defined = file.classes.get(head) or file.functions.get(head)
    if function is None or function.name == MODULE_BODY or defined is None or defined.decorators or head in _HOOKS:
        return ""
    word = re.compile(rf"\b{re.escape(head)}\b")
    lines = (index.repository.read(path) or "").split("\n")
    inside = range(defined.line - 1, defined.end_line)
    beside = [
        place + 1
        for place, text in enumerate(lines)
        if place not in inside and word.search(text) and not _COMMENT.match(text)
    ]
    if head in seen or _is_named_elsewhere(index, path, head):
        return ""
    outer = [_unused(index, path, one, seen | {head}) for one in beside]
    return (outer[0] if outer else head) if all(outer) else ""


def _is_named_elsewhere(index: Index, path: str, name: str) -> bool:
    named = re.compile(rb"(?m)^(?![ \t]*#)[^\n]*\b%s\b" % re.escape(name.encode()))
    if any(one.body.source.holds(named) for one in index.files.values() if one.path != path):
        return True
    word = re.compile(rf"\b{re.escape(name)}\b")
    texts = (one for one in index.repository.files if one.endswith(_TEXTS) or (one.endswith(".py") and is_test(one)))
    return any(word.search(index.repository.read(one) or "") for one in texts)


def _is_looked_through(file: FileFacts) -> bool:
    """A name that is computed is looked for in a module: getattr(models, args.arch)."""
    source = file.body.source
    heads = {one.decode("utf-8", "replace") for pattern in _COMPUTED for one in source.found(pattern)}
    modules = {entry.alias for entry in file.imports if not entry.module.startswith("torch")}
    modules |= {one.decode("utf-8", "replace") for one in source.found(_LOADED)}
    return source.holds(_ALL) or not modules.isdisjoint(heads)
