"""The setting that a dotted name of the code reads: args.lr, cfg["optim"]["lr"]."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from trainsleuth.facts import Function, bindings

from ...naming.only_values import only_value
from ...recipe.held_settings import WORDS
from ..records import Key
from .named_values import key_asked

if TYPE_CHECKING:
    from ..truth import Truth

HOLDS = re.compile(rf"(?:^|_)(?:{WORDS}|C)$", re.I)


def setting_of(truth: Truth, dotted: str, path: str = "") -> Key | None:
    """The key that a dotted name reads, when what stands before its last dot holds settings."""
    words = dotted.split(".")
    key = truth.find(dotted, path) if len(words) > 1 else None
    if key is None or key.source is None or truth.owners.is_of_another(key):
        return None
    if any(HOLDS.search(word) for word in words[:-1]) or (path, words[-2]) in truth.option_names:
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


def of_section(truth: Truth, function: Function, dotted: str) -> Key | None:
    """net["kind"] where a line above says net = cfg["model"]."""
    head, _, rest = dotted.partition(".")
    value = only_value(function, head) if rest and not HOLDS.search(head) else None
    above = key_asked(value) if value is not None and function.parameter(head) is None else ""
    if "." not in above or not HOLDS.search(above.rpartition(".")[0].rpartition(".")[2]):
        return None
    return setting_of(truth, f"{above}.{rest}", function.path)


def of_part(truth: Truth, function: Function, dotted: str) -> Key | None:
    """The only key called so where a name is bound to what settings give: split = config.data.get_split("train")."""
    head, _, last = dotted.partition(".")
    bound = bindings(function).get(head, ()) if last and "." not in last else ()
    value = bound[0].value if len(bound) == 1 else None  # also of a loop: for stage in cfg.get_stages()
    if value is None or value.kind != "call" or not any(map(HOLDS.search, value.callee.split(".")[:-1])):
        return None
    found = truth.named(last)
    return found[0] if len(found) == 1 and found[0].source is not None else None
