"""Which part of the data a loader is of, as the call says that makes its data set: Points(root, split="test")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..records import Expr
from ..tracing.callers import external_name
from ..tracing.making import makers
from ..tracing.things import Literal, Spot, Thing
from .datasets import dataset_given
from .loaders import Loader

if TYPE_CHECKING:
    from ..index import Index

_VALIDATION = re.compile(r"(^|[_./])(val|valid|validation|dev)(_|$|[./]|loader|set|data)", re.I)
_WRITES = re.compile(
    r"imsave|imwrite|(save|write)_(png|jpe?g|wav|(images?|pictures?|samples?|audios?|videos?)(_grid)?)", re.I
)
_FOLDER = re.compile(r"path|dir|folder|root|out", re.I)
_SAID = ("test", "testing")
_PARTS = ("split", "mode", "phase", "partition", "subset", "set", "image_set", "data_split", "dataset_type", "flag")


def test_set_of(index: Index, loader: Loader) -> tuple[Expr, str] | None:
    """The call that makes the data set, and its file, where it says that it is the test set."""
    for made, at in _dataset_makers(index, loader):
        if made.kind == "call" and (_says_test(index, made, at) or _is_test_of_torchvision(index, made, at)):
            return (made, at.function.path) if not _is_written_here(made, at) else None
    return None


def _is_written_here(made: Expr, at: Spot) -> bool:
    """Of a folder that the same function fills: pictures of a generator, read again to be judged."""
    given = {part.text for part in made.walk() if part.kind == "path" and _FOLDER.search(part.last)}
    saving = (call for event in at.function.events for call in event.calls if _WRITES.fullmatch(call.last))
    return any(part.kind == "path" and part.text in given for call in saving for part in call.walk())


def is_of_other_part(index: Index, loader: Loader) -> bool:
    """What is known of the data set names another part than the test set."""
    words = [part.text for made, _ in _dataset_makers(index, loader) for part in made.walk() if part.kind in _TELLING]
    return any(names_validation(word) or "train" in word for word in words)


_TELLING = ("string", "path")


def names_validation(word: str) -> bool:
    return _VALIDATION.search(word) is not None


def _dataset_makers(index: Index, loader: Loader) -> Iterator[tuple[Expr, Spot]]:
    given = dataset_given(loader.call)
    yield from makers(index, given, loader.spot) if given is not None else ()


def _says_test(index: Index, made: Expr, spot: Spot) -> bool:
    """Points(root, split="test"), or a name in that place that stands for such a text only."""
    parts = [part.parts[0] for part in made.parts[1:] if part.kind == "keyword" and part.text in _PARTS]
    return any(_is_word_for_test(index, part, spot) for part in (*parts, *made.arguments))


def _is_word_for_test(index: Index, part: Expr, spot: Spot) -> bool:
    things = index.objects.of(part, spot) if part.kind in ("string", "path") else ()
    return bool(things) and all(map(_is_said, things))


def _is_said(thing: Thing) -> bool:
    return isinstance(thing, Literal) and thing.expr.kind == "string" and thing.expr.text in _SAID


def _is_test_of_torchvision(index: Index, made: Expr, spot: Spot) -> bool:
    train = made.argument(1, "train")
    if train is None or train.text != "False":
        return False
    return any(
        external_name(thing).startswith("torchvision.datasets") for thing in index.objects.of(made.parts[0], spot)
    )
