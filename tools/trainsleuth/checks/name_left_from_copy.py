"""A line is copied for the second of two things, and one of its names still speaks of the first.

first_mask and second_mask, q1 and q2, real and fake: of two lines that say the same of two things, the second reads something of the
first, though its own stands beside it. Shapes agree, and the second thing is never used where it should be.

Question to answer: is the name of the first meant in the line of the second?

Fix: the name of the second.

Cannot see: lines that are far apart or written in two ways, names that differ in more than one word; functions that neither train,
compute a loss, give examples nor make their loaders.

Bad:
    from torch.nn.functional import mse_loss

    def regularised(net, noisy, clean, mask1, mask2, take):
        part1 = take(noisy, mask1)
        part2 = take(noisy, mask2)
        clean1 = take(clean, mask1)
        clean2 = take(clean, mask1)
        return mse_loss(net(part1) - part2, clean1 - clean2)

Bad (in the head of a loop):
    def follow(q1, q2, q1_target, q2_target, tau):
        for own, copy in zip(q1.parameters(), q1_target.parameters()):
            copy.data.lerp_(own.data, tau)
        for own, copy in zip(q1.parameters(), q2_target.parameters()):
            copy.data.lerp_(own.data, tau)

Bad (an argument that nothing reads):
    def forward(self, user_ids, item_ids):
        user = self.embed_user(user_ids)
        item = self.embed_item(user_ids)
        return self.head(user * item)

Good:
    from torch.nn.functional import mse_loss

    def regularised(net, noisy, clean, mask1, mask2, take):
        part1 = take(noisy, mask1)
        part2 = take(noisy, mask2)
        clean1 = take(clean, mask1)
        clean2 = take(clean, mask2)
        return mse_loss(net(part1) - part2, clean1 - clean2)

Good (two inputs of one network):
    def towers(self, x1, x2):
        x1 = self.conv1(x1)
        x2 = self.conv1(x2)
        x1 = self.conv2(x1)
        x2 = self.conv2(x2)
        return x1, x2
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Index, bindings, is_test, written
from trainsleuth.facts.records import Block
from trainsleuth.finding import Finding, Link

from ._uses import times_named
from ._verdicts import Verdicts

SAY = Verdicts(
    "name-left-from-copy",
    "loss",
    "warning",
    "",
    suspects=("another-loss-fault",),
    claims=("adaptive-parts-mask-bugs",),
    look="read the two lines beside each other, and say what each name is of",
)
_LEARNS = (  # what trains, computes a loss, gives examples or makes their loaders, updates a copy
    re.compile(rb"backward\("), re.compile(rb"loss\w*\("), re.compile(rb"DataLoader\("), re.compile(rb"def __getitem__"),
    re.compile(rb"zip\([^\n]*parameters"), re.compile(rb"criterion\("), re.compile(rb"bce\("),
)  # fmt: skip
_WORDS = re.compile(r"[A-Za-z]+|\d+|[^A-Za-z\d]+")
APART = 8  # statements from a line to its copy, at most
_FAMILIES = tuple(
    frozenset(words.split())
    for words in (
        "train training val valid validation dev test", "real fake", "pred prediction predicted target gt true label", "source target src tgt trg",
        "pos neg positive negative anchor", "first second third", "a b c", "left right", "student teacher", "user item", "head tail",
        "q qf k v", "gen dis disc g d", "actor critic", "query key value", "query support", "image text", "strong weak", "clean noisy",
    )
)  # fmt: skip
_OF_DATA = (
    "parameters",
    "named_parameters",
    "state_dict",
    "detach",
    "mean",
    "sum",
    "view",
    "reshape",
    "values",
    "items",
)
_COMPUTES = re.compile(r"forward|loss|step|__call__")
_OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "LBFGS")
_HARMLESS = ("num_workers", "pin_memory", "batch_size", "drop_last", "device", "dtype", "figsize", "label", "color")
_MEANT = re.compile(r"mean|std|vocab|scaler|stats|pseudo|conf|temperature|tau", re.IGNORECASE)  # of one for both
_PROPERTIES = ("dtype", "device", "shape", "size", "device_ids")
_LEAVES = ("path", "string", "number", "constant")


class _Twins(NamedTuple):
    """The line `copy` says of `second` what `line` says of `first`, which are words of names; they begin at `position`."""

    line: Event
    copy: Event
    first: str
    second: str
    position: int


def check(index: Index) -> Iterator[Finding]:
    learns = set(index.functions_holding(*_LEARNS))  # to read the statements of all functions is dear
    for function in index.functions():
        if (function in learns or _leaves_one_unread(function)) and not is_test(function.path):
            for twins in _twins(function):
                if (finding := _examined(function, twins)) is not None:
                    yield finding


def _leaves_one_unread(function: Function) -> bool:
    """forward(users, items) that names one of its arguments nowhere else."""
    names = [one.name for one in function.parameters if not one.kind and one.default is None]
    return function.name == "forward" and len(names) > 2 and any(_is_unread(function, name) for name in names[1:])


def _is_unread(function: Function, name: str) -> bool:
    return function.parameter(name) is not None and times_named(function, name) < 2


def _twins(function: Function) -> Iterator[_Twins]:
    """Lines that set names which differ in one word, and heads of loops over things whose names do."""
    waiting: dict[tuple[str, ...], tuple[int, Event, str]] = {}
    for position, event in enumerate(function.events):
        for key, word in _keys(event):
            before = waiting.get(key)
            waiting[key] = position, event, word
            if before is not None and before[2] != word and position - before[0] <= APART:
                if before[1] is not event and _around(before[1]) == _around(event) and _are_a_pair(before[2], word):
                    yield _Twins(before[1], event, before[2], word, position)


def _keys(event: Event) -> Iterator[tuple[tuple[str, ...], str]]:
    """Names that the statement is of, with one of their words left out, and that word."""
    if event.kind == "assign" and event.value is not None and len(event.targets) == 1:
        names = [event.targets[0].text] if event.targets[0].kind == "path" else []
    elif event.kind == "for" and event.value is not None and event.value.callee == "zip":
        last = event.value.arguments[-1:]
        names = [part.text for one in last for part in one.walk() if part.kind == "path"]
    else:
        return
    for name in names:
        words = _words(name)
        for place, word in enumerate(words):
            if word.isalnum():
                yield (event.kind, *words[:place], "", *words[place + 1 :]), word


def _around(event: Event) -> Block:
    """Where the statement stands; the head of a loop stands in the loop."""
    block = event.block
    return block._replace(loops=block.loops[:-1]) if event.kind == "for" else block


def _are_a_pair(first: str, second: str) -> bool:
    """Two numbers, or two of the words that part examples, data or networks."""
    if first.isdigit() and second.isdigit():
        return True
    return any(first.lower() in family and second.lower() in family for family in _FAMILIES)


@cache
def _words(name: str) -> tuple[str, ...]:
    return tuple(_WORDS.findall(name))


def _examined(function: Function, twins: _Twins) -> Finding | None:
    """None where the two lines are not the same but for the word."""
    line, copy = twins.line, twins.copy
    if line.value is None or copy.value is None or copy.value.last in _OPTIMIZERS:  # see wrong-player-optimized
        return None
    pairs = list(_leaves(line.value, copy.value, False))
    renamed, renamed_from, left = 0, "", []
    for pair in pairs:
        if pair is None:
            return None
        mine, its, is_called = pair
        wanted = _of_second(mine, twins)
        if wanted != mine and its == wanted:
            renamed, renamed_from = renamed + 1, mine
        elif its == mine and wanted != mine and not is_called and mine.rpartition(".")[2] not in _PROPERTIES:
            left.append((mine, wanted))
        elif its != mine:
            return None
    both = {mine for mine, _, _ in filter(None, pairs)}  # of both things in one line: nothing says which is meant
    left = [
        (mine, wanted)
        for mine, wanted in left
        if wanted not in both and not _MEANT.search(mine) and _is_there(function, wanted, twins)
    ]
    if renamed == 1 and [mine for mine, wanted in left if _heads(mine) == _heads(renamed_from)]:
        left = []  # k(train, train) beside k(train, test): one of a pair stays
    if left and not renamed and _is_of_twin_arguments(function, left[0][1]):
        return None
    if not left:
        if not renamed:
            return None
        return SAY.passed(function.path, copy.line, f"all names are those of {twins.second}")
    (mine, wanted), path = left[0], function.path
    chain = (
        Link(path, line.line, f"{written(line.value)} is of {twins.first}"),
        Link(path, copy.line, f"{written(copy.value)} is of {twins.second}, and reads {mine}"),
    )
    message = (
        f"{_said(copy)} at {path}:{copy.line} is the line of {path}:{line.line} with {twins.second} for {twins.first}, but still reads {mine}, though "
        f"{wanted} is there: is {mine} meant there?"
    )
    return SAY.fail(path, copy.line, message, chain, "medium")


def _leaves(mine: Expr, its: Expr, is_called: bool) -> Iterator[tuple[str, str, bool] | None]:
    """(text of one, text of the other, is it what is called) of each pair of names; None where the two are not alike."""
    if mine.kind != its.kind or len(mine.parts) != len(its.parts):
        yield None
    elif mine.kind in _LEAVES:
        yield mine.text, its.text, is_called
    elif mine.text != its.text:
        yield None
    elif mine.kind == "keyword" and mine.text in _HARMLESS:
        return
    else:
        for place, (one, other) in enumerate(zip(mine.parts, its.parts, strict=True)):
            is_method = mine.kind == "call" and place == 0 and one.last == other.last and one.last in _OF_DATA
            if is_method and one.receiver is not None and other.receiver is not None:
                yield from _leaves(one.receiver, other.receiver, False)
            else:
                yield from _leaves(one, other, mine.kind == "call" and place == 0 and one.kind == "path")


def _of_second(name: str, twins: _Twins) -> str:
    return "".join(twins.second if word == twins.first else word for word in _words(name))


def _heads(name: str) -> str:
    return name.partition(".")[0]


def _is_of_twin_arguments(function: Function, name: str) -> bool:
    """One call twice, and an argument that nothing reads: see twin-argument-unread."""
    return _is_unread(function, name) and _COMPUTES.search(function.name) is not None


def _is_there(function: Function, name: str, twins: _Twins) -> bool:
    """Something of that name was set before, or was given to the function, and it is not what the line itself sets."""
    if any(target.text == name for target in twins.copy.targets):
        return False
    head = name.partition(".")[0]
    if "." not in name and function.parameter(head) is not None:
        return True
    if any(one.position < twins.position for one in bindings(function).get(name, ())):
        return True
    before = function.events[: twins.position]
    return any(
        part.kind == "path" and part.text == name
        for event in before
        if event.value is not None
        for part in event.value.walk()
    )


def _said(event: Event) -> str:
    return written(event.targets[0]) if event.kind == "assign" else "the loop"
