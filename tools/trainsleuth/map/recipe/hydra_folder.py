"""Which folder of a repository Hydra's config_path means."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from trainsleuth.facts import Expr, Function, Index, Variable, bindings

from .composition import config_file, normal


def folder_meant(index: Index, function: Function, folder: Expr | None, name: str) -> str:
    """What `config_path` means. Of a constant that is set in several ways, os.getenv("CONFIGS", "config") among them,
    the first literal counts that names a folder with the configuration `name`."""
    here = PurePosixPath(function.path).parent
    symbol = index.resolve(index.files[function.path].body, folder.text) if folder and folder.kind == "path" else None
    bound = bindings(symbol.scope).get(symbol.name, ()) if isinstance(symbol, Variable) else ()
    values = [one.value for one in bound if one.value is not None]
    literals = (part.text for value in values for part in value.walk() if part.kind == "string")
    for root in (normal(f"{here}/{text}") for text in literals):
        if config_file(index, root, name) is not None:
            return root
    if folder is not None and folder.kind == "string":
        return normal(f"{here}/{folder.text}")
    return _join_path(index, function, values[0] if values else folder)


def _join_path(index: Index, function: Function, folder: Expr | None) -> str:
    """config_path=os.path.join("..", "fairseq", "config"), str(ROOT / "config"), root + "/config",
    os.environ["ROOT"] + "/config": the nearest folder that ends in its literals, or in all but the first of them.
    """
    parts = [part.text for part in folder.walk() if part.kind == "string"] if folder is not None else []
    parts = [part.strip("/") for part in parts if part not in ("..", ".")]
    folders = {str(PurePosixPath(path).parent) for path in index.configs}
    for first in range(len(parts)):
        tail = "/".join(parts[first:])
        fits = sorted(one for one in folders if tail and (one == tail or one.endswith("/" + tail)))
        if fits:
            return max(fits, key=lambda one: len(os.path.commonpath((one, function.path))))
    return str(PurePosixPath(function.path).parent)
