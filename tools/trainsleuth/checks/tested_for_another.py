"""What is put into a collection is not what was looked for in it.

if item not in batch: batch.append(place) asks for one thing and keeps another: an index in place of the item it stands for, the wrong of two names. Duplicates get in,
and what is trained on are places and not items.

Fix: append what was looked for.

Cannot see: collections that are filled elsewhere than in the arm of the question.

Bad:
    import random
    import torch

    def positives(user_items, num):
        batch = []
        while len(batch) < num:
            place = random.randrange(len(user_items))
            item = user_items[place]
            if item not in batch:
                batch.append(place)
        return torch.tensor(batch)

Good:
    import random
    import torch

    def positives(user_items, num):
        batch = []
        while len(batch) < num:
            place = random.randrange(len(user_items))
            item = user_items[place]
            if item not in batch:
                batch.append(item)
        return torch.tensor(batch)

Good (what is kept is made of it):
    import torch

    def vocabulary(texts):
        words, seen = [], set()
        for text in texts:
            for word in text.split():
                if word not in seen:
                    seen.add(word)
                    words.append((len(words), word))
        return torch.arange(len(words)), words
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, derived, is_test, spelled, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "tested-for-another",
    "data",
    "error",
    "",
    suspects=("another-data-fault",),
    claims=("fails-silently",),
    look="print what is looked for beside what is put in",
)
_ASKS = re.compile(rb"not in\b")
_PUTS = ("append", "add")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_ASKS):
        for position, event in enumerate(function.events) if not is_test(function.path) else ():
            for put in _put(event):
                for asked in _asked(event, put):
                    yield _examined(function, position, asked, put)


def _put(event: Event) -> Iterator[Expr]:
    for call in event.calls:
        if call.last in _PUTS and call.receiver is not None and len(call.arguments) == 1 and call is event.value:
            yield call


def _asked(event: Event, put: Expr) -> Iterator[Expr]:
    """What the innermost test around it says is not yet in the collection: a name, or something of one."""
    branch = event.block.branches[-1] if event.block.branches else None
    test = branch.test if branch is not None and branch.kind == "if" else None
    if test is None or put.receiver is None:
        return
    collection = spelled(put.receiver)
    for part in test.walk():
        if (
            part.kind == "compare"
            and part.text == "not in"
            and len(part.parts) == 2
            and spelled(part.parts[1]) == collection
        ):
            yield part.parts[0]


def _examined(function: Function, position: int, asked: Expr, put: Expr) -> Finding:
    path, line, given = function.path, put.line, put.arguments[0]
    if spelled(asked) == spelled(given) or _is_of(asked, given) or _is_of(given, asked):
        return SAY.passed(path, line, f"{written(asked)} is looked for and kept")
    if asked.kind != "path" or given.kind != "path" or given.text in derived(function, [asked.text], 0, position):
        return SAY.open(path, line, f"{written(given)} may be made of {written(asked)}")
    collection = written(put.receiver) if put.receiver is not None else ""
    chain = (Link(path, asked.line, f"{asked.text} is looked for in {collection}"), Link(path, line, written(put)))
    message = (
        f"{written(put)} at {path}:{line} keeps {given.text} where {path}:{asked.line} asks whether {asked.text} is there: what is looked for is never put in; is "
        f"{collection}.{put.last}({asked.text}) meant?"
    )
    return SAY.fail(path, line, message, chain, "medium")


def _is_of(part: Expr, whole: Expr) -> bool:
    return any(spelled(one) == spelled(part) for one in whole.walk())
