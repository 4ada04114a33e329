"""What a launch command starts: the file of a script, of a module, of a console script."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from trainsleuth.facts import Index
from trainsleuth.facts.memo import kept_per_index

from ..recipe.composition import normal


def script_of(index: Index, folder: str, written: str) -> str | None:
    """The file that a script's name in a text means: from the text's folder or one above it, or the only one so called.

    Of an absolute path its end counts, a folder and a name at least: where the checkout lay is not known. So does that of
    a path with variables, ${OUT}/${NAME}/copy/train.py, which may be of a copy.
    """
    if written.startswith("/"):
        return next((path for path in _ends(written)[:-1] if path in index.files), None)
    written = re.sub(r"^(?:\$\{?\w+\}?/?|\./|\.\./)+", "", written)
    if "$" in written:
        ends = _ends(written.rpartition("$")[2].partition("/")[2])
        return next((path for path in ends if path in index.files), None)
    for base in (PurePosixPath(folder), *PurePosixPath(folder).parents):
        if (path := str(base / written)) in index.files:
            return path
    return _only_file(index, written) or in_checkout(index.files, written)


def in_checkout(files: Container[str], written: str) -> str | None:
    """A path from above the repository, whose first folder is the checkout itself: project/tools/train.py"""
    below = written.partition("/")[2]
    return below if "/" in below and below in files else None


def _ends(path: str) -> list[str]:
    """The longest first."""
    parts = [part for part in path.split("/") if part]
    return ["/".join(parts[cut:]) for cut in range(len(parts))]


def folder_meant(index: Index, path: str, written: str) -> str:
    """The folder of the repository to which a script at `path` changes, "" for none that is known: beside it, from the
    root, or the end of a path from somewhere else: cd ~/project/part1
    """
    home = path.rpartition("/")[0]
    plain = re.sub(r"^(?:~|\$\{?\w+\}?)?/?", "", written)
    near = [normal(f"{home}/{written}"), normal(written)] if written[:1] not in "~/$" else []
    folders = (one for one in (*near, *_ends(normal(plain))) if one)
    return next((one for one in folders if any(file.startswith(f"{one}/") for file in index.files)), "")


def only(paths: Iterable[str], name: str) -> str | None:
    """The only path that ends so."""
    fits = [path for path in paths if path.endswith("/" + name)]
    return fits[0] if len(fits) == 1 else None


def _only_file(index: Index, name: str) -> str | None:
    """The only file of code whose path ends so."""
    return only(_by_last_name(index).get(name.rpartition("/")[2], ()), name)


@kept_per_index
def _by_last_name(index: Index) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in index.files:
        found.setdefault(path.rpartition("/")[2], []).append(path)
    return found


def module_of(index: Index, dotted: str, anywhere: bool = False) -> str | None:
    """The file of a module; `anywhere` also in a folder of its own, when there is one only."""
    stem = dotted.replace(".", "/")
    names = (f"{stem}.py", f"{stem}/__main__.py")
    inside = (base + name for base in ("", "src/") for name in names if base + name in index.files)
    return next(inside, None) or next(filter(None, (_only_file(index, name) for name in names if anywhere)), None)


def package_of(index: Index, dotted: str) -> str | None:
    """The file of a package that holds the function of a console script itself."""
    stem = dotted.replace(".", "/")
    return next((path for base in ("", "src/") if (path := f"{base}{stem}/__init__.py") in index.files), None)


def dora_mains(index: Index) -> Iterator[str]:
    for path, file in index.files.items():
        if any(entry.module == "dora" for entry in file.imports) and any(
            decorator.parts and decorator.last in ("hydra_main", "argparse_main")
            for function in file.functions.values()
            for decorator in function.decorators
        ):
            yield path
