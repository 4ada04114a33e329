"""The validation set, or its loader, is made of the training data.

A line is copied, and what it is made of stays: val_loader = DataLoader(train_set) beside train_loader = DataLoader(train_set). The model
is scored on what it was fitted on: early stopping, the best epoch and every reported score follow how well it remembers
[leakage-is-widespread].

The same the other way round: both are made with train=False.

Question to answer: is the score meant to be that of the training data?

Fix: the data of the part: val_loader = DataLoader(val_set).

Cannot see: parts that different functions make, data sets that take one of their halves by a name of their own; where a data set
is told train=True for both see training-set-as-test-set.

Bad:
    from torch.utils.data import DataLoader, random_split

    def loaders(data, lengths):
        training_set, validation_set, test_set = random_split(data, lengths)
        train_loader = DataLoader(training_set, batch_size=32, shuffle=True)
        val_loader = DataLoader(training_set, batch_size=32, shuffle=False)
        test_loader = DataLoader(test_set, batch_size=1)
        return train_loader, val_loader, test_loader

Bad (train=True is what MNIST takes by default):
    from torchvision.datasets import MNIST

    def sets(root, augment, plain):
        train_set = MNIST(root, transform=augment, download=True)
        test_set = MNIST(root, transform=plain, download=True)
        return train_set, test_set

Good:
    from torch.utils.data import DataLoader, random_split

    def loaders(data, lengths):
        training_set, validation_set, test_set = random_split(data, lengths)
        train_loader = DataLoader(training_set, batch_size=32, shuffle=True)
        val_loader = DataLoader(validation_set, batch_size=32, shuffle=False)
        test_loader = DataLoader(test_set, batch_size=1)
        return train_loader, val_loader, test_loader

Good (a sampler for each):
    from torch.utils.data import DataLoader

    def loaders(train_data, train_sampler, valid_sampler):
        train_loader = DataLoader(train_data, batch_size=32, sampler=train_sampler)
        valid_loader = DataLoader(train_data, batch_size=32, sampler=valid_sampler)
        return train_loader, valid_loader
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Index, bindings, bound_names, is_test, spelled, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "same-data-for-two-parts",
    "data",
    "warning",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread",),
    look="compare the first examples of the two, and their lengths",
)
_NAMED = rb"(?:id(?:ation)?|ing)?(?:(?:_|[dD]ata|[sS]et|[lL]oad|ds)\w*)?[ \t]*=[ \t]*[\w.]*(?:oader|ataset|ata|et|ds|older|MNIST|CIFAR100?|USPS)\("
_GIVES = tuple(re.compile(word + _NAMED) for word in (b"al", b"ev", b"est"))  # of val, Dev, test
_TRAIN = re.compile(r"(?<![A-Za-z])(?:train|training|tr)(?![A-Za-z])", re.IGNORECASE)
_HELD = re.compile(r"(?<![A-Za-z])(?:val|valid|validation|dev|test|testing|eval|holdout)(?![A-Za-z])", re.IGNORECASE)
_MAKES = re.compile(r"(?:loader|dataset|data|set|ds|folder)$|MNIST$|^CIFAR|^USPS$", re.IGNORECASE)
_TRAIN_BY_DEFAULT = ("MNIST", "FashionMNIST", "KMNIST", "QMNIST", "CIFAR10", "CIFAR100", "USPS")
_NOT_ABOUT_WHICH = re.compile(
    r"transform|download|aug|batch_size|worker|shuffle|drop_last|pin_memory|collate|persistent|prefetch|verbose|device|generator"
)


_PARTS = re.compile(r"subset|split|sampler|select|take|skip", re.IGNORECASE)


class _Made(NamedTuple):
    target: Expr
    stem: str
    is_training: bool
    event: Event
    position: int
    call: Expr


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(*_GIVES):
        if not is_test(function.path):
            for one, other in combinations(_made(function), 2):
                if (
                    one.stem == other.stem
                    and one.is_training is not other.is_training
                    and _are_together(function, one, other)
                ):
                    yield _examined(function, *((one, other) if one.is_training else (other, one)))


def _made(function: Function) -> Iterator[_Made]:
    for position, event in enumerate(function.events):
        call = event.value
        if (
            event.kind == "assign"
            and len(event.targets) == 1
            and call is not None
            and call.kind == "call"
            and _MAKES.search(call.last)
        ):
            name = _spaced(event.targets[0].text)
            is_training, is_held = bool(_TRAIN.search(name)), bool(_HELD.search(name))
            if is_training is not is_held:
                stem = re.sub(r"\s+", " ", _TRAIN.sub("", _HELD.sub("", name))).strip()
                yield _Made(event.targets[0], stem, is_training, event, position, call)


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " "))


def _are_together(function: Function, one: _Made, other: _Made) -> bool:
    """In one block, and what they are made of gets no other value in between."""
    names = {part.text for part in one.call.walk() if part.kind == "path"}
    between = function.events[one.position : other.position]
    return one.event.block == other.event.block and not any(names & set(bound_names(event)) for event in between)


def _examined(function: Function, train: _Made, held: _Made) -> Finding:
    path, line = function.path, held.target.line
    is_same = _which(train.call) == _which(held.call) and not _is_parted(function, held)
    if is_same and _is_of_held(held.call):
        return _turned(function, train, held)
    if not is_same or not _is_of_training(held.call):
        return SAY.passed(path, line, f"{held.target.text} is made of other data than {train.target.text}")
    chain = (
        Link(path, train.target.line, f"{train.target.text} = {written(train.call)}"),
        Link(path, line, f"{held.target.text} = {written(held.call)}"),
    )
    message = (
        f"{held.target.text} at {path}:{line} is made of the same data as {train.target.text} at {path}:{train.target.line}, {_said(held.call)}: is the "
        "score meant to be that of the training data?"
    )
    return SAY.fail(path, line, message, chain, "medium")


def _turned(function: Function, train: _Made, held: _Made) -> Finding:
    """train_set = CIFAR10(root, train=False, ...), as the set that is held out."""
    path, line = function.path, train.target.line
    chain = (
        Link(path, line, f"{train.target.text} = {written(train.call)}"),
        Link(path, held.target.line, f"{held.target.text} = {written(held.call)}"),
    )
    message = (
        f"{train.target.text} at {path}:{line} is made of the same data as {held.target.text} at {path}:{held.target.line}, those that are held out: is it meant "
        "to learn what it is judged on?"
    )
    return SAY.fail(path, line, message, chain, "medium")


def _is_of_held(call: Expr) -> bool:
    """train=False, split="test"."""
    for name in ("train", "split", "mode", "phase"):
        given = call.keyword(name)
        if given is not None:
            return (
                given.text == "False"
                if name == "train"
                else given.kind == "string" and bool(_HELD.fullmatch(given.text))
            )
    return False


def _is_parted(function: Function, held: _Made) -> bool:
    """A part of it is taken later on."""
    name = held.target.text
    later = function.events[held.position + 1 :]
    calls = [call for event in later for call in event.calls]
    cuts = (
        call for call in calls if _PARTS.search(call.last) or call.keyword("sampler") or call.keyword("batch_sampler")
    )
    is_cut = any(part.text == name for call in cuts for one in call.arguments for part in one.walk())
    is_set = any(target.text.startswith(f"{name}.") for event in later for target in event.targets)
    return is_cut or is_set or len(bindings(function).get(name, ())) > 1


def _which(call: Expr) -> tuple[object, ...]:
    """What says of which examples it is."""
    given = [part for part in call.parts[1:] if part.kind != "keyword" or not _NOT_ABOUT_WHICH.search(part.text)]
    return call.callee, *map(spelled, given)


def _is_of_training(call: Expr) -> bool:
    """What it is given speaks of training and of no other part, and is no share of anything; or training is the default."""
    given = [part for part in call.parts[1:] if part.kind != "keyword" or not _NOT_ABOUT_WHICH.search(part.text)]
    parts = [part for one in given for part in one.walk()]
    if any(part.kind in ("slice", "star", "doublestar") for part in parts):
        return False
    if any(part.kind == "keyword" and part.text in ("train", "split", "mode", "phase") for part in parts):
        return False  # see training-set-as-test-set
    if call.last in _TRAIN_BY_DEFAULT and len(call.arguments) < 2 and call.keyword("train") is None:
        return True
    named = [_spaced(part.text) for part in parts if part.kind in ("path", "string", "attr")]
    return any(map(_TRAIN.search, named)) and not any(map(_HELD.search, named))


def _said(call: Expr) -> str:
    if call.last in _TRAIN_BY_DEFAULT and call.keyword("train") is None:
        return "of which train=True is the default"
    return ", ".join(written(one) for one in call.arguments[:2])
