"""Files that say what is to be installed, by the names that people give them."""

from __future__ import annotations

import re

_LIST = re.compile(
    r"(?:[\w.-]*[_.-])?(?:reqs?|requires?|required|require?ments?|dependenc(?:y|ies)|packages|env|conda)(?:[_.-].*)?|"
    r"(?:[\w.-]*[_.-])?(?:requirements|environment|conda|install|readme).*",
    re.I,
)
_TEXTS = ("", "cfg", "in", "lock", "md", "pip", "rst", "sh", "toml", "txt", "yaml", "yml")
_BY_TOOLS = re.compile(r"setup\.(?:py|cfg)|pyproject\.toml|Pipfile|Dockerfile(?:\.[\w-]+)?", re.I)


def names_packages(path: str) -> bool:
    """requirements.txt and how else it is called, a README, an environment of conda, a Dockerfile, a setup."""
    name = path.rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    return bool(_BY_TOOLS.fullmatch(name) or (ending in _TEXTS and _LIST.fullmatch(name)))
