"""The test set is made of the training examples.

Two lines that differ in one word are copied, and the word stays: both data sets say train=True. What is then called
the score on the test set is one on examples that the model was trained on, and grows with overfitting
[leakage-is-widespread].

Question to answer: are the test examples held out from training somewhere else?

Fix: train=False, or split="test".

Cannot see: data sets whose part is not said by a keyword, parts that are taken out elsewhere, validation sets (which
are often cut from the training examples).

Bad:
    from torch.utils.data import DataLoader
    from torchvision.datasets import FashionMNIST

    def loaders(transform):
        trainset = FashionMNIST("data", train=True, download=True, transform=transform)
        testset = FashionMNIST("data", train=True, download=True, transform=transform)
        return DataLoader(trainset, 64, shuffle=True), DataLoader(testset, 64)

Bad (inside of the loaders):
    from torch.utils.data import DataLoader
    from torchvision.datasets import SVHN

    train_loader = DataLoader(SVHN("data", split="train"), batch_size=64, shuffle=True)
    test_loader = DataLoader(SVHN("data", split="train"), batch_size=64)

Good:
    from torch.utils.data import DataLoader
    from torchvision.datasets import FashionMNIST

    def loaders(transform):
        trainset = FashionMNIST("data", train=True, download=True, transform=transform)
        testset = FashionMNIST("data", train=False, download=True, transform=transform)
        return DataLoader(trainset, 64, shuffle=True), DataLoader(testset, 64)

Good (each takes a part of the same examples, with transforms of its own):
    from torch.utils.data import DataLoader, Subset
    from torchvision.datasets import CIFAR10

    def loaders(order, random, plain):
        train_set = CIFAR10("data", train=True, transform=random)
        test_set = CIFAR10("data", train=True, transform=plain)
        train_set, test_set = Subset(train_set, order[:45_000]), Subset(test_set, order[45_000:])
        return DataLoader(train_set, 64, shuffle=True), DataLoader(test_set, 64)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index, encloses, is_sibling, is_test, spelled, written
from trainsleuth.facts.data.datasets import dataset_given
from trainsleuth.facts.data.loaders import is_spread
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "training-set-as-test-set",
    "data",
    "note",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread",),
    look="compare the first examples of the two data sets",
)
_TEST = re.compile(r"(^|_)test", re.IGNORECASE)
_SAYS_TEST = re.compile(rb"test\w*[ \t]*=|Test\w*[ \t]*=|TEST\w*[ \t]*=")
_SAYS_TRAIN = re.compile(rb"train(?:[ \t]*=[ \t]*True|(?:ing)?[\"'])")
_PART_TAKEN = re.compile(rb"(?i)(?:subset|split|sampler|take|skip|select)\w*\([^\n]*test(?!_size)")
_PARTS = ("train", "split", "mode", "phase", "partition", "subset", "image_set")
_OF_TRAINING = ("True", "train", "training")
_NOT_ABOUT_WHICH = re.compile(r"transform|download|aug|batch|worker|verbose")
_LOOKING = ("DataLoader", "len", "print")
_ABOUT = ("classes", "class_to_idx", "transform")


class Made(NamedTuple):
    """A data set that a name gets, or the loader that it is given to at once."""

    target: Expr
    position: int
    dataset: Expr
    is_loader: bool


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_SAYS_TEST):
        if not is_test(function.path) and function.source.holds(_SAYS_TRAIN):
            yield from _of_function(index, function)


def _of_function(index: Index, function: Function) -> Iterator[Finding]:
    made = list(_made(function))
    for one in made:
        if _TEST.search(one.target.last):
            for other in made:
                if _stands_beside(one, other) and _are_together(function, one, other):
                    yield _examined(index, function, one, other)
                    break


def _made(function: Function) -> Iterator[Made]:
    for position, event in enumerate(function.events):
        value = event.value
        if event.kind != "assign" or len(event.targets) != 1 or value is None or value.kind != "call":
            continue
        is_loader = value.last == "DataLoader"
        dataset = dataset_given(value) if is_loader else value
        if dataset is not None and dataset.kind == "call" and not is_spread(value) and not _is_sampled(value):
            yield Made(event.targets[0], position, dataset, is_loader)


def _is_sampled(call: Expr) -> bool:
    return call.keyword("sampler") is not None or call.keyword("batch_sampler") is not None


def _stands_beside(one: Made, other: Made) -> bool:
    """test_set and train_set."""
    owner, _, last = one.target.text.rpartition(".")
    name = _TEST.sub(r"\1train", last.lower())
    return one.is_loader is other.is_loader and other.target.text.lower() == (
        f"{owner.lower()}.{name}" if owner else name
    )


def _are_together(function: Function, one: Made, other: Made) -> bool:
    """Whenever the test set is made, the training set is."""
    return encloses(function.events[other.position].block, function.events[one.position].block)


def _examined(index: Index, function: Function, one: Made, other: Made) -> Finding:
    path, line, shown = function.path, one.dataset.line, one.target.text
    if _part_of_training(one.dataset) is None or _which(one.dataset) != _which(other.dataset):
        return SAY.passed(path, line, f"{shown} is of other examples than {other.target.text}")
    if not one.is_loader and (_is_used(function, one) or _is_cut_elsewhere(index, function)):
        return SAY.open(path, line, f"something is done to {shown}, which may take a part of it")
    said = written(_part_of_training(one.dataset) or one.dataset)
    chain = (
        Link(path, other.dataset.line, f"{other.target.text} = {written(other.dataset)}"),
        Link(path, line, f"{shown} = {written(one.dataset)}"),
    )
    message = (
        f"{shown} at {path}:{line} is made with {said}, of the same examples as {other.target.text} at line "
        f"{other.dataset.line}: are they held out from training? Expected the test part."
    )
    return SAY.fail(path, line, message, chain, "medium")


def _part_of_training(made: Expr) -> Expr | None:
    """train=True, split="train"."""
    given = (part for part in made.parts[1:] if part.kind == "keyword" and part.text in _PARTS)
    return next((part for part in given if part.parts[0].text in _OF_TRAINING), None)


def _which(made: Expr) -> tuple[object, ...]:
    """What says of which examples a data set is."""
    given = [part for part in made.parts[1:] if part.kind != "keyword" or not _NOT_ABOUT_WHICH.search(part.text)]
    return made.callee, *sorted(map(spelled, given), key=repr)


def _is_used(function: Function, made: Made) -> bool:
    """Otherwise than to be read, counted or given back."""
    name, here = made.target.text, function.events[made.position].block
    for event in function.events[made.position + 1 :]:
        if is_sibling(event.block, here):
            continue
        roots = [*event.targets, *([event.value] if event.value is not None and event.kind != "return" else [])]
        parts = [part for root in roots for part in root.walk() if part.kind == "path"]
        looked_at = {
            id(part) for call in event.calls if call.last in _LOOKING and not _is_sampled(call) for part in call.walk()
        }
        for part in parts:
            is_of_it = part.text == name or (part.text.startswith(f"{name}.") and part.last not in _ABOUT)
            if is_of_it and id(part) not in looked_at:
                return True
    return False


def _is_cut_elsewhere(index: Index, function: Function) -> bool:
    """The file, or one that calls the function, takes parts of something that is called a test set."""
    paths = {function.path, *(caller.spot.function.path for caller in index.callers(function))}
    return any(index.files[path].body.source.holds(_PART_TAKEN) for path in paths)
