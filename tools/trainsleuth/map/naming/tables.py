"""One table from names to classes and functions, and which configuration key picks from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trainsleuth.facts import Class, External, Function

_HOLDER = re.compile(r"(?:_factory|_factories|factory|_registry|registry|_builders?)$")

Entry = Class | Function | External
SHORT = 4  # letters of a short form
OF_ALL = "*"  # before the file of a registry that holds classes of every kind
NAME_KEYS = ("type", "name", "id", "_name", "arch", "_target_", "class_name", "cls")


@dataclass(frozen=True, eq=False)
class Table:
    """`entries` by name. `key` is the configuration key whose value picks one ("" when only `kind` is known)."""

    entries: Mapping[str, Entry]
    key: str
    kind: str = ""
    site: tuple[Function, int] | None = None  # where the code looks a name up, and the line
    default: str = ""  # the name that the code asks for when no setting gives one
    library: str = ""  # the module of another library that names are looked up in: its entries are not known

    @property
    def is_asked_by_its_own_key(self) -> bool:
        """No other table is asked by a key of this name: not by type or name alone."""
        return self.key != "" and self.key not in NAME_KEYS

    def answers(self, key: str) -> bool:
        """Is a setting under `key` read through this table? By the key that the code reads, or the registry's kind."""
        if self.key:
            asked = key == self.key or key.endswith("." + self.key) or self._ends_with(key)
            return asked and (self.key not in NAME_KEYS or not self.kind or self._is_of_kind(key))
        return self._is_of_kind(key)

    def _ends_with(self, key: str) -> bool:
        """The object that holds the settings has a name in the code: cfg.yaml_cfg["task"]."""
        return key not in NAME_KEYS and self.key.endswith("." + key)

    def _is_of_kind(self, key: str) -> bool:
        if self.kind.startswith(OF_ALL):
            return True
        parts = key.split(".")
        named = parts if parts[-1] in (*NAME_KEYS, "mode") else [_SAYS_NAME.sub("", parts[-1])]
        kind = _singular(self.kind)
        named = [*named, _SAYS_NAME.sub("", parts[-1])]  # engine_name asks for an engine
        words = [_singular(part) for part in named if part]
        return any(_is_same(word, kind) for word in words if kind)


def _is_same(word: str, kind: str) -> bool:
    """Also of a longer name that ends in the other, and of a short form: algo, optim, arch of model_architecture."""
    is_short = len(word) >= SHORT and (kind.startswith(word) or kind.rpartition("_")[2].startswith(word))
    return word == kind or is_short or kind.endswith(f"_{word}") or word.endswith(f"_{kind}")


_SAYS_NAME = re.compile(r"_(?:name|type|class|cls)$", re.I)


def _singular(word: str) -> str:
    word = word.lower().strip("_")
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def kind_of_holder(name: str) -> str:
    """ "algo" of algo_factory; "" for a name that does not say that it holds a registry."""
    word = name.strip("_").lower()
    kind = _HOLDER.sub("", word)
    return kind if kind != word else ""
