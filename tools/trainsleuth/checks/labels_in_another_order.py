"""Outputs are collected in the order of a shuffled loader, and meet labels in the order of its data set.

for x, _ in loader: codes.append(net(x)), and loader.dataset.targets for the labels. While the loader shuffles, the k-th output is of another example
than the k-th label: a retrieval, a probe or a score over the two is at chance, or of the wrong thing.

The same where a classifier is fitted to such outputs and to the array that the data set was made of.

Fix: collect the labels from the batches as well, or go over a loader that does not shuffle.

Cannot see: labels that another function takes of the data set, loaders whose shuffle is computed.

Bad:
    import torch
    from torch.utils.data import DataLoader

    def codes(net, loader):
        found = []
        for x, _ in loader:
            found.append(net(x).sign())
        return torch.cat(found), torch.tensor(loader.dataset.targets)

    def retrieve(net, data, score):
        return score(*codes(net, DataLoader(data, 64, shuffle=True)))

Bad (the array that the data set was made of):
    import torch
    from torch.utils.data import DataLoader
    from data import Rows

    def embed(net, loader):
        found = []
        for x, _ in loader:
            found.append(net(x))
        return torch.cat(found).numpy()

    def judge(net, classifier, x_train, y_train):
        loader = DataLoader(Rows(x_train, y_train), 64, shuffle=True)
        embedded = embed(net, loader)
        return classifier.fit(embedded, y_train)

Good:
    import torch
    from torch.utils.data import DataLoader

    def codes(net, loader):
        found, labels = [], []
        for x, y in loader:
            found.append(net(x).sign())
            labels.append(y)
        return torch.cat(found), torch.cat(labels)

    def retrieve(net, data, score):
        return score(*codes(net, DataLoader(data, 64, shuffle=True)))
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, Loop, Site, Spot, constant, header_of, is_test, makers, written
from trainsleuth.facts.data.loaders import Loader, loaders_gone_over, option_given
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "labels-in-another-order",
    "data",
    "error",
    "",
    suspects=("targets-misaligned-with-inputs",),
    claims=("labels-shuffled-together",),
    look="compare the labels of the first batch with the first labels of the data set",
    forms={"of the loader": "labels asked of the loader's data set", "array": "an array that the data set was made of"},
)
_OF_DATA = re.compile(rb"\.dataset\.(?:targets|labels|y|label|target|samples|train_labels|test_labels|ys|tensors)\b")
_LABELS = re.compile(r"\.dataset\.(?:targets|labels|y|label|target|samples|train_labels|test_labels|ys|tensors)$")
_KEEPS = ("append", "extend", "cat", "concatenate", "vstack", "hstack", "tolist")
_COUNTS = (
    "bincount",
    "len",
    "set",
    "Counter",
    "unique",
    "max",
    "min",
    "compute_class_weight",
    "shape",
    "size",
    "dtype",
    "mean",
    "sum",
    "isinstance",
)
_MEET = ("fit", "partial_fit", "score")
_WRAPPERS = 2  # enumerate(tqdm(loader))
_SHUFFLE = 2  # its place among the arguments of DataLoader


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_OF_DATA):
        if not is_test(function.path):
            for loop in function.loops:
                if loop.kind == "for" and loop.source is not None and _keeps(function, loop):
                    for read in _labels(function, loop.source):
                        yield _examined(index, function, loop, read)
    for site in index.calls(*_MEET):
        if len(site.call.arguments) == 2 and not is_test(site.function.path):
            yield from _fitted(index, site)


def _fitted(index: Index, site: Site) -> Iterator[Finding]:
    """classifier.fit(outputs, labels): outputs that a function collected over a loader, labels that its data set was made of."""
    outputs, labels = site.call.arguments
    if outputs.kind != "path" or labels.kind != "path":
        return
    for call, spot in makers(index, outputs, Spot(site.function, site.position)):
        collected = _collector(index, call, spot)
        if collected is None:
            continue
        function, loop, given = collected
        for loader in loaders_gone_over(index, given, spot, 0):
            if _is_made_of(index, loader, labels):
                yield _judged(index, site, function, loop, loader, labels)
                return


def _collector(index: Index, call: Expr, spot: Spot) -> tuple[Function, Loop, Expr] | None:
    """The function that the call runs, its loop over a parameter in which it keeps what it computes, and what that parameter is given."""
    function = index.resolve(spot.function, call.callee) if call.callee else None
    if not isinstance(function, Function):
        return None
    for loop in function.loops:
        names = {part.text for part in loop.source.walk() if part.kind == "path"} if loop.source is not None else set()
        for parameter in function.parameters:
            if loop.kind == "for" and parameter.name in names and _keeps(function, loop):
                given = index.flow.given(function, call, parameter.name, False)
                return (function, loop, given) if given is not None else None
    return None


def _is_made_of(index: Index, loader: Loader, labels: Expr) -> bool:
    """Rows(x, labels), or Rows(x.values, labels.values), is what the loader is given."""
    data = loader.call.argument(0, "dataset")
    made = makers(index, data, loader.spot) if data is not None else ()
    return any(
        part.kind == "path" and (part.text == labels.text or part.text.startswith(f"{labels.text}."))
        for call, _ in made
        for argument in call.parts[1:]
        for part in argument.walk()
    )


def _judged(index: Index, site: Site, function: Function, loop: Loop, loader: Loader, labels: Expr) -> Finding:
    path, line, made = site.function.path, site.call.line, loader.spot.function.path
    if not _is_shuffled(index, loader):
        return SAY.passed(path, line, "the loader keeps the order of its data set")
    chain = (
        Link(made, loader.call.line, f"{written(loader.call)} shuffles"),
        Link(function.path, loop.line, f"{function.name} collects outputs in its order"),
        Link(path, line, f"{labels.text} is in that of the data set"),
    )
    message = (
        f"{written(site.call)} at {path}:{line} takes {labels.text} in the order of the data set, and outputs in the order of {written(loader.call)} at "
        f"{made}:{loader.call.line}, which shuffles: they do not belong together; expected a loader that does not shuffle there."
    )
    return SAY.fail(path, line, message, chain, form="array")


def _keeps(function: Function, loop: Loop) -> bool:
    inside = (event for event in function.events if loop.id in event.block.loops)
    return any(call.last in _KEEPS for event in inside for call in event.calls)


def _labels(function: Function, source: Expr) -> Iterator[Expr]:
    """loader.dataset.targets, of the loader that the loop goes over."""
    names = {part.text for part in source.walk() if part.kind == "path"}
    for event in function.events:
        for part, around in _within(event.value, ()) if event.value is not None else ():
            if part.kind == "path" and (met := _LABELS.search(part.text)) and part.text[: met.start()] in names:
                if not any(map(_is_counted, around)):
                    yield part
                    return


def _within(expr: Expr, around: tuple[Expr, ...]) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """All in an expression, with what it is a part of."""
    yield expr, around
    for part in expr.parts:
        yield from _within(part, (*around, expr))


def _is_counted(around: Expr) -> bool:
    """bincount(labels), len(set(labels)), labels[idx], labels.shape: no order is asked for."""
    if around.kind == "index":
        return any(part.kind in ("path", "call") for part in around.parts[1:])
    return around.last in _COUNTS


def _examined(index: Index, function: Function, loop: Loop, read: Expr) -> Finding:
    path = function.path
    known = list(_loaders(index, function, loop))
    shuffled = [loader for loader in known if _is_shuffled(index, loader)]
    if not known:
        return SAY.open(path, read.line, f"what loader {function.name} goes over is not known")
    if not shuffled:
        return SAY.passed(path, read.line, "the loader keeps the order of its data set")
    made = shuffled[0]
    where = made.spot.function.path
    chain = (
        Link(where, made.call.line, f"{written(made.call)} shuffles"),
        Link(path, loop.line, "outputs are collected in its order"),
        Link(path, read.line, f"{read.text} are in that of the data set"),
    )
    message = (
        f"{read.text} at {path}:{read.line} are the labels in the order of the data set, and what the loop at line {loop.line} collects comes in the order of "
        f"{written(made.call)} at {where}:{made.call.line}, which shuffles: they do not belong together; expected the labels of the batches."
    )
    return SAY.fail(path, read.line, message, chain, form="of the loader")


def _loaders(index: Index, function: Function, loop: Loop) -> Iterator[Loader]:
    assert loop.source is not None
    for frame in index.calling.contexts(function):
        yield from loaders_gone_over(index, loop.source, Spot(function, header_of(function, loop), frame), _WRAPPERS)


def _is_shuffled(index: Index, loader: Loader) -> bool:
    given = option_given(index, loader.call, loader.spot, _SHUFFLE, "shuffle")
    value = constant(index, *given) if given is not None else None
    return value is not None and value.text == "True"
