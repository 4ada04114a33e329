"""The data are split, and the training set is made of all of them.

After train_ids, val_ids = train_test_split(ids) the training set has to be made of train_ids. Made of ids, it holds the
validation examples too: the validation score grows with overfitting, early stopping and the choice of the best epoch follow it,
and nothing looks wrong [leakage-is-widespread].

Question to answer: is the part for training used anywhere else?

Fix: train_ids where ids is given to the training set.

Cannot see: parts that are kept in dicts or attributes, splits in another function than the data set.

Bad:
    from data import Photos
    from sklearn.model_selection import train_test_split
    from torch.utils.data import DataLoader

    def loaders(ids, augment, plain):
        train_ids, val_ids = train_test_split(ids, test_size=0.2)
        train_set = Photos(ids, augment)
        val_set = Photos(val_ids, plain)
        return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)

Good:
    from data import Photos
    from sklearn.model_selection import train_test_split
    from torch.utils.data import DataLoader

    def loaders(ids, augment, plain):
        train_ids, val_ids = train_test_split(ids, test_size=0.2)
        train_set = Photos(train_ids, augment)
        val_set = Photos(val_ids, plain)
        return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Event, Expr, Function, Index, bound_names, is_sibling, is_test, written
from trainsleuth.facts.data.splits import held_out, is_training_part
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "split-left-unused",
    "data",
    "warning",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread",),
    look="count the examples of the validation set that are in the training set too",
)
_SPLITS = re.compile(rb"train_test_split\(|random_split\(|train\w*[ \t]*(?:,[^=\n]*)?=[^\n=]*\[[ \t]*:")
_TRAINS = re.compile(r"train|(^|_)tr(_|$)", re.I)
_LOOKING = ("len", "print", "info", "debug", "format", "type", "write", "log")


class _Split(NamedTuple):
    """At event `position`, `whole` is parted into `train` and `held`."""

    position: int
    whole: str
    train: Expr
    held: Expr
    value: Expr


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_SPLITS):
        if not is_test(function.path):
            for split in _splits(function):
                yield _examined(index, function, split)


def _splits(function: Function) -> Iterator[_Split]:
    cut: dict[str, tuple[Expr, str]] = {}
    for position, event in enumerate(function.events):
        if event.kind != "assign" or event.value is None:
            continue
        names = event.targets[0].parts if len(event.targets) == 1 and event.targets[0].kind in ("tuple", "list") else ()
        names = names or event.targets
        for train, held, whole in _parted(names, event.value):
            yield _Split(position, whole, train, held, event.value)
        values = event.value.parts if event.value.kind == "tuple" and len(names) > 1 else (event.value,)
        for name, value in zip(names, values, strict=False):
            if (edge := _edge(value)) and is_training_part(name) and edge[0] == ":":
                cut[value.parts[0].text] = name, edge[1:]
            elif edge and held_out(name) and (known := cut.get(value.parts[0].text)) and known[1] == edge[:-1]:
                yield _Split(position, value.parts[0].text, known[0], name, value)


def _parted(names: tuple[Expr, ...], value: Expr) -> Iterator[tuple[Expr, Expr, str]]:
    """train, val = train_test_split(whole), and random_split(whole, lengths)."""
    wholes = (
        value.arguments if value.last == "train_test_split" else value.arguments[:1] if value.kind == "call" else ()
    )
    if value.last not in ("train_test_split", "random_split") or len(names) < 2 * len(wholes):
        return
    for place, whole in enumerate(wholes):
        train, held = names[2 * place], names[2 * place + 1]
        if whole.kind == train.kind == held.kind == "path" and whole.text not in [one.text for one in names]:
            yield train, held, whole.text


def _edge(value: Expr) -> str:
    """ ":n" of ids[:n], "n:" of ids[n:]; "" for whatever is none."""
    part = value.parts[1] if value.kind == "index" and len(value.parts) == 2 else None
    if part is None or part.kind != "slice" or value.parts[0].kind != "path" or len(part.parts) != 1:
        return ""
    return written(part, 200).replace(" ", "")


def _examined(index: Index, function: Function, split: _Split) -> Finding:
    path, line, train = function.path, split.value.line, split.train.text
    later = _later(function, split)
    if train.startswith("_") or _is_used_inside(index, function, train):
        return SAY.passed(path, line, f"{train} may be used in other functions")
    if any(_uses(event, train) for event in later):
        return SAY.passed(path, line, f"{train} is used")
    if not any(_uses(event, split.held.text) for event in later):
        return SAY.open(path, line, f"neither {train} nor {split.held.text} is used here")
    made = next((event for event in later if _trains_on(event, split.whole)), None)
    if made is None:
        return SAY.open(path, line, f"{train} is not used, and nothing here is seen to train on {split.whole}")
    return _failure(path, split, made)


def _later(function: Function, split: _Split) -> list[Event]:
    """What may run after the split, until the whole is made anew."""
    here = function.events[split.position].block
    found = [one for one in function.events[split.position + 1 :] if not is_sibling(one.block, here)]
    ends = (place for place, one in enumerate(found) if split.whole in bound_names(one) and one.kind == "assign")
    return found[: next(ends, len(found))]


def _is_used_inside(index: Index, function: Function, name: str) -> bool:
    """Functions that see the variable speak of it; of an attribute, any."""
    word = re.compile(rb"\b%s\b" % re.escape(name.rpartition(".")[2].encode()))
    if "." in name:
        return True
    inner = index.files[function.path].functions.values()
    is_whole = function.name == MODULE_BODY
    users = [one for one in index.files.values() if is_whole and function.path in index.names.imported(one)]
    if any(one.body.source.holds(word) for one in users):
        return True
    return any(
        one is not function
        and (is_whole or one.qualname.startswith(f"{function.qualname}."))
        and one.source.holds(word)
        for one in inner
    )


def _uses(event: Event, name: str) -> bool:
    """Otherwise than to count or show it."""
    return any(part.kind == "path" and part.text.partition(".")[0] == name for part in _used(event))


def _used(event: Event) -> Iterator[Expr]:
    waiting = [
        *([event.value] if event.value is not None else []),
        *(one for one in event.targets if one.kind != "path"),
    ]
    waiting += [] if event.kind in ("assign", "augment", "for", "with") else list(event.targets)
    while waiting:
        part = waiting.pop()
        if part.kind != "call" or part.last not in _LOOKING:
            yield part
            waiting += part.parts


def _trains_on(event: Event, whole: str) -> bool:
    """train_set = Photos(ids), DataLoader(data, shuffle=True), model.fit(x)."""
    named = event.kind == "assign" and any(_TRAINS.search(one.last) and not held_out(one) for one in event.targets)
    for call in event.calls:
        given = [part.parts[0] if part.kind == "keyword" else part for part in call.parts[1:]]
        if call.last not in _LOOKING and any(one.kind == "path" and one.text == whole for one in given):
            shuffle = call.keyword("shuffle")
            if named or call.last == "fit" or (shuffle is not None and shuffle.text == "True"):
                return True
    return False


def _failure(path: str, split: _Split, made: Event) -> Finding:
    train, held, whole = split.train.text, split.held.text, split.whole
    shown = (
        f"{written(made.targets[0])} = {written(made.value)}"
        if made.targets and made.value
        else written(made.calls[-1])
    )
    chain = (
        Link(path, split.value.line, f"{whole} is parted into {train} and {held}"),
        Link(path, made.line, shown),
    )
    message = (
        f"{train} of {path}:{split.value.line} is never used, and line {made.line} trains on all of {whole}, {held} among them: what is "
        f"measured on {held} was trained on. Is {train} meant in place of {whole}?"
    )
    return SAY.fail(path, made.line, message, chain, "medium")
