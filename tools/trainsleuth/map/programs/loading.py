"""Which files of the repository a program may load."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from trainsleuth.facts import FileFacts, Function, Index
from trainsleuth.facts.memo import kept_per_index

from .running import executed, has_guard, imported

_BY_NAME = frozenset({"import_module", "__import__", "exec", "spec_from_file_location", "locate", "run_path", "run_module", "instantiate", "get_obj_from_str"})  # fmt: skip
_EVALUATES = re.compile(rb"eval\((?<![\w.]eval\()(?<!def eval\()")  # letters first: found faster
_PROGRAMS = re.compile(r"(?:^|/)(?:tools|scripts|bin)/[^/]+$")
_PROGRAM = re.compile(
    r"(?:^|_)(?:train\w*|finetune\w*|main|run|launch|eval\w*|valid\w*|test\w*|infer\w*|score|generate|sample|"
    r"preprocess|interactive|export|convert|demo)(?:_|\.)",
    re.I,
)
_PROJECTS = frozenset({"recipes", "egs", "applications", "projects", "examples", "example", "demo", "demos", "samples", "tests", "test", "benchmarks", "experimental", "extensions", "contrib", "research", "exps", "archive", "archived", "deprecated", "obsolete"})  # fmt: skip


def loaded(index: Index, paths: frozenset[str], named: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Files that may be loaded when those at `paths` run; of what is imported by a name, no program of its own.

    `named` are files that the settings are known to name, by the file that imports them.
    """
    seen: set[str] = set()
    queue = list(paths)
    by_name = False
    while queue:
        path = queue.pop()
        if path in seen:
            continue
        seen.add(path)
        by_name = by_name or _loads_by_name(index.files[path])
        queue += [body.path for body in _executed(index, path)]
        queue += [body.path for body in imported(index, path)]
        queue += named.get(path, ())
    yield from seen
    if by_name:
        asides, others = {_aside(path) for path in seen}, _other_projects(index, paths, seen)
        for path in index.files:
            is_near = (_aside(path) in asides or not _aside(path)) and path.partition("/")[0] not in others
            if is_near and not _is_started(index, path):
                yield path


def _other_projects(index: Index, paths: Iterable[str], seen: Iterable[str]) -> set[str]:
    """Folders that hold the same program at the same place: v1/tools/train.py beside v2/tools/train.py; one that lies
    directly in them, a/train.py beside b/train.py, only where they have more files in common.
    """
    used, within = {path.partition("/")[0] for path in seen}, {path.partition("/")[2] for path in paths} - {""}
    shared: dict[str, set[str]] = {}
    for top, rest in (path.partition("/")[::2] for path in index.files):
        shared.setdefault(top, set()).add(rest)
    held = (rest for top in used for rest in shared.get(top, ()))
    own = {rest for rest in held if "/" in rest and not rest.endswith("__init__.py")}
    copies = {top for top, rests in shared.items() if len(own & rests) >= COPIED}
    deep = {rest for rest in within if "/" in rest}
    return {top for top, rests in shared.items() if deep & rests or (top in copies and within & rests)} - used


COPIED = 3  # files at the same place in two folders that hold each a program of its own


def _loads_by_name(file: FileFacts) -> bool:
    """Also by an expression that is evaluated: eval(name)(args), not model.eval()."""
    return bool(file.names & _BY_NAME) or ("eval" in file.names and file.body.source.holds(_EVALUATES))


def _executed(index: Index, path: str) -> Iterator[Function]:
    """Files that the one at `path` hands to exec()."""
    if "exec" in index.files[path].names:
        for site in index.calls("exec"):
            if site.function.path == path:
                yield from executed(index, site.function, site.call)


@kept_per_index
def _is_started(index: Index, path: str) -> bool:
    """A program of its own: nobody imports it under a name that is computed."""
    if not path.endswith(".py"):
        return True
    if _PROGRAM.search(path.rpartition("/")[2]) is None and _PROGRAMS.search(path) is None:
        return False
    return has_guard(index, path)


@lru_cache(maxsize=20_000)
def _aside(path: str) -> str:
    """The folder of a project of its own that a file lies in, "" for the code of the repository itself."""
    parts = path.split("/")[:-1]
    for place, part in enumerate(parts):
        if part.lower() in _PROJECTS:
            return "/".join(parts[: place + 2])
    return ""
