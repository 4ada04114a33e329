"""Which Hydra a program is to be run with: before 1.1 the groups of a defaults list override the file that names them."""

from __future__ import annotations

import re

from trainsleuth.facts import Index, names_packages
from trainsleuth.facts.memo import kept_per_index

_FIXED = re.compile(r"\bhydra(?:[-_]core)?[\"']?\s*(?:===?|=|~=|@)\s*[\"']?(\d+)\.(\d+)")
_NEW_ORDER = (1, 1)


@kept_per_index
def is_before_new_order(index: Index) -> bool:
    """What the project requires is an older one, wherever a version is fixed."""
    texts = (index.repository.read(path) or "" for path in index.repository.files if names_packages(path))
    fixed = [(int(major), int(minor)) for text in texts for major, minor in _FIXED.findall(text)]
    return bool(fixed) and max(fixed) < _NEW_ORDER
