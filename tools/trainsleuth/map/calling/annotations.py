"""What an annotation says a value is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from trainsleuth.facts import Class, External, Function, Index

_VAGUE = frozenset(
    {
        External("typing.Any"),
        External("torch.nn.Module"),
        External("torch.Tensor"),
        External("torch.device"),
        External("omegaconf.DictConfig"),
        External("argparse.Namespace"),
    }
)


def named_types(index: Index, function: Function, annotation: str) -> Iterator[Class | External]:
    """The class that an annotation names; nothing for one that says too little."""
    for word in _type_words(annotation):
        symbol = index.resolve(function, word) or _beside(index, function, word)
        if isinstance(symbol, Class) or (isinstance(symbol, External) and "." in symbol.name):
            if symbol not in _VAGUE and not symbol.name.startswith("typing."):
                yield symbol
            return


def every_type(index: Index, function: Function, annotation: str) -> tuple[Class, ...]:
    """All classes of the project that it names: Union["SlowWorker", "FastWorker"]."""
    found = (index.resolve(function, word) for word in _type_words(annotation))
    return tuple(dict.fromkeys(one for one in found if isinstance(one, Class)))


def _beside(index: Index, function: Function, word: str) -> Class | None:
    """A class that is written in the class of the method: Config in def __init__(self, config: Config)."""
    owner = index.class_of(function) if function.owner else None
    around = index.lineage(owner) if owner is not None else ()
    found = (index.files[one.path].classes.get(f"{one.qualname}.{word}") for one in around)
    return next(filter(None, found), None)


@lru_cache(maxsize=4096)
def _type_words(annotation: str) -> tuple[str, ...]:
    """Dotted names in an annotation, without Optional, Union and their module."""
    return tuple(word for word in _WORD.findall(annotation) if word.rpartition(".")[2] not in _AROUND)


_WORD = re.compile(r"[\w.]+")
_AROUND = ("Optional", "Union", "List", "Sequence", "Any", "None")
