"""The package that a training command of a library is told to load: fairseq-train DATA --user-dir ./own."""

from __future__ import annotations

import re

from trainsleuth.facts import Index

from .launch_targets import script_of

LOADS = re.compile(
    r"(?:^|\s)(?:--|[\w.]*\.)(?:user[-_]dir|include[-_]packages?|plugins?)(?:\s*=\s*|\s+)[\"']?([^\s\"')]+)"
)
_TRAINS = re.compile(r"(?:^|[\s/(_-])(?:pre)?train(?:_model)?(?:\.py)?(?=[\s)]|$)")


def package_in(index: Index, folder: str, text: str, scope: str | None = None) -> str | None:
    """The file of the package that a training command of a library is told to load; one of the `scope` first."""
    match = LOADS.search(text) if "/" in text or "package" in text else None
    if match is None or _TRAINS.search(text[: match.start()]) is None:
        return None
    written = f"{match[1].rstrip('/').replace('.', '/') if '/' not in match[1] else match[1].rstrip('/')}/__init__.py"
    within = f"{scope.rstrip('/')}/__init__.py" if scope is not None else ""
    tail = re.sub(r"^(?:\$\{?\w+\}?/|\./|\.\./)+", "", written)
    if within in index.files and f"/{within}".endswith(f"/{tail}"):
        return within
    return script_of(index, folder, written)
