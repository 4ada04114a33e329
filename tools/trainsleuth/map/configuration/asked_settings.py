"""The setting that a dotted name of the code reads: args.lr, cfg["optim"]["lr"]."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from trainsleuth.facts import bindings

from .records import Key

if TYPE_CHECKING:
    from .truth import Truth

HOLDS = re.compile(
    r"(?:^|_)(?:args?|opts?|cfg|conf|config\w*|hparams?|hps?|hp|flags?|params|options?|settings?|C)$", re.I
)


def setting_of(truth: Truth, dotted: str, path: str = "") -> Key | None:
    """The key that a dotted name reads, when what stands before its last dot holds settings."""
    words = dotted.split(".")
    key = truth.find(dotted, path) if len(words) > 1 else None
    if key is None or key.source is None or truth.owners.is_of_another(key):
        return None
    if any(HOLDS.search(word) for word in words[:-1]):
        return _as_option(truth, key, words, path)
    return key if "." in key.name and dotted.endswith(f".{key.name}") else None


_OPTIONS = re.compile(r"args?|opts?|options?|flags?", re.I)


def _as_option(truth: Truth, key: Key, words: list[str], path: str) -> Key:
    """args.resume where the same file sets cfg.resume: two values of one name, and the option is what the command says."""
    file = truth.program.index.files.get(path)
    option = tuple(layer for layer in key.layers if layer.how in ("default", "command"))
    if file is None or len(words) != 2 or len(option) in (0, len(key.layers)) or not _OPTIONS.fullmatch(words[0]):
        return key
    beside = (name.split(".") for function in file.functions.values() for name in bindings(function))
    apart = any(len(one) == 2 and one[1] == words[1] and one[0] != words[0] and HOLDS.search(one[0]) for one in beside)
    return replace(key, layers=option) if apart and option[0].path == path else key
