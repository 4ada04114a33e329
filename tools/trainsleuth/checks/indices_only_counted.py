"""A data set is as long as its list of indices, and takes its examples without it.

A part of a data set keeps the indices of its examples, says len(self.indices), and gives self.dataset[item] in place of
self.dataset[self.indices[item]]. Every part then holds the same first examples: clients, folds, training and validation share
theirs, and the rest is never seen [leakage-is-widespread].

Question to answer: were the examples taken by the indices before?

Fix: self.dataset[self.indices[item]].

Cannot see: lists that are not named as indices, examples that another object takes.

Bad:
    from torch.utils.data import Dataset

    class Part(Dataset):
        def __init__(self, dataset, idxs):
            self.dataset = dataset
            self.idxs = list(idxs)

        def __len__(self):
            return len(self.idxs)

        def __getitem__(self, item):
            image, label = self.dataset[item]
            return image, label

Good:
    from torch.utils.data import Dataset

    class Part(Dataset):
        def __init__(self, dataset, idxs):
            self.dataset = dataset
            self.idxs = list(idxs)

        def __len__(self):
            return len(self.idxs)

        def __getitem__(self, item):
            image, label = self.dataset[self.idxs[item]]
            return image, label

Good (taken before):
    from torch.utils.data import Dataset

    class Part(Dataset):
        def __init__(self, images, labels, indices):
            self.images = images[indices]
            self.labels = labels[indices]
            self.indices = indices

        def __len__(self):
            return len(self.indices)

        def __getitem__(self, item):
            return self.images[item], self.labels[item]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, Index, bindings, is_test, mentions, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "indices-only-counted",
    "data",
    "error",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread",),
    look="compare the first example of two parts with different indices",
)
_COUNTS = re.compile(rb"def __len__\b")
_INDICES = re.compile(r"(\w*_)?(idxs?|indices|indexes|inds?|subset_ids|sample_ids)$", re.I)


def check(index: Index) -> Iterator[Finding]:
    for file in index.files_holding(_COUNTS):
        for cls in file.classes.values() if not is_test(file.path) else ():
            if (finding := _examined(index, cls)) is not None:
                yield finding


def _examined(index: Index, cls: Class) -> Finding | None:
    length, item = cls.methods.get("__len__"), cls.methods.get("__getitem__")
    if length is None or item is None or (indices := _counted(length)) is None:
        return None
    name = indices.last
    setting = index.method(cls, "__init__")
    if setting is None or (given := _given(setting, name)) is None:
        return SAY.open(cls.path, length.line, f"who gives {written(indices)} is not followed")
    if any(_reads(one, name) for one in _others(index, cls, length, setting)):
        return SAY.passed(cls.path, item.line, f"{written(indices)} is read")
    if (taken := _taken_plainly(item)) is None:
        return SAY.open(cls.path, item.line, "no example is seen to be taken by the number alone")
    if _uses_before(setting, name, given):
        return SAY.passed(cls.path, item.line, f"examples are taken by {given} before")
    return _failure(cls, length, taken, written(indices))


def _counted(length: Function) -> Expr | None:
    """self.indices of return len(self.indices), which is all that is done."""
    if len(length.events) != 1 or length.events[0].kind != "return" or length.events[0].value is None:
        return None
    value = length.events[0].value
    given = value.arguments[0] if value.callee == "len" and len(value.arguments) == 1 else None
    is_own = given is not None and given.kind == "path" and given.text == f"{length.self_name}.{given.last}"
    return given if is_own and given is not None and _INDICES.match(given.last) else None


def _given(setting: Function, name: str) -> str | None:
    """The parameter that the attribute is, or is a list of."""
    found = bindings(setting).get(f"{setting.self_name}.{name}", ())
    value = found[0].value if len(found) == 1 else None
    if value is not None and value.kind == "call" and value.last in ("list", "array", "asarray", "sorted", "tolist"):
        value = value.arguments[0] if value.arguments else value.receiver
    is_parameter = value is not None and value.kind == "path" and setting.parameter(value.text) is not None
    return value.text if is_parameter and value is not None else None


def _others(index: Index, cls: Class, *known: Function) -> Iterator[Function]:
    for one in index.lineage(cls):
        yield from (method for method in one.methods.values() if method not in known)


def _reads(function: Function, name: str) -> bool:
    return function.source.holds(re.compile(rb"\b%s\b" % re.escape(name.encode())))


def _taken_plainly(item: Function) -> Expr | None:
    """self.dataset[item], by the number that __getitem__ is given."""
    numbers = [one.name for one in item.parameters[1:2]]
    for event in item.events:
        for part in event.value.walk() if event.value is not None else ():
            if part.kind == "index" and part.parts[0].text.startswith(f"{item.self_name}.") and len(part.parts) == 2:
                if [part.parts[1].text] == numbers and numbers[0] not in bindings(item):
                    return part
    return None


def _uses_before(setting: Function, name: str, given: str) -> bool:
    """The constructor does more with the indices than to keep them."""
    own = f"{setting.self_name}.{name}"
    for event in setting.events:
        if any(target.text == own for target in event.targets):
            continue
        if mentions(event.value, (given, own)) or any(mentions(target, (given, own)) for target in event.targets):
            return True
    return False


def _failure(cls: Class, length: Function, taken: Expr, indices: str) -> Finding:
    shown, whole = written(taken), written(taken.parts[0])
    chain = (
        Link(cls.path, length.events[0].line, f"{cls.name} is as long as {indices}"),
        Link(cls.path, taken.line, f"{shown} takes the example without them"),
    )
    message = (
        f"{cls.name} counts {indices} and nothing else reads it: {shown} at {cls.path}:{taken.line} gives the first examples of "
        f"{whole}, whatever the indices are; expected {whole}[{indices}[{written(taken.parts[1])}]]."
    )
    return SAY.fail(cls.path, taken.line, message, chain)
