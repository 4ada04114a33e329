"""The best checkpoint is chosen by its score on the test set.

`if acc > best: save` keeps the epoch that suits these examples best. Where they are the test set, the score that is
reported is the greatest of many tries on it, and is higher than on examples that nobody has chosen by
[test-set-tuning-contaminates]. Nothing in the run tells.

Fix: choose by a part of the training set that is held out, and ask the test set once, at the end.

Cannot see: data sets that nothing calls the test set, and choices that are made outside of the code.

Bad:
    import torch
    from torch.utils.data import DataLoader
    from torchvision.datasets import CIFAR10

    def accuracy(model, loader):
        hits = 0
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
        return hits / len(loader.dataset)

    def train(model, optimizer, criterion):
        train_loader = DataLoader(CIFAR10("data", train=True), 64, shuffle=True)
        loader = DataLoader(CIFAR10("data", train=False), 64)
        best = 0.0
        for epoch in range(90):
            for x, y in train_loader:
                optimizer.zero_grad()
                criterion(model(x), y).backward()
                optimizer.step()
            acc = accuracy(model.eval(), loader)
            model.train()
            if acc > best:
                best = acc
                torch.save(model.state_dict(), "best.pt")

Good (a part of the training set chooses):
    import torch
    from torch.utils.data import DataLoader, random_split
    from torchvision.datasets import CIFAR10

    def accuracy(model, loader):
        hits = 0
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
        return hits / len(loader.dataset)

    def train(model, optimizer, criterion):
        train_set, val_set = random_split(CIFAR10("data", train=True), [45_000, 5_000])
        train_loader, val_loader = DataLoader(train_set, 64, shuffle=True), DataLoader(val_set, 64)
        best = 0.0
        for epoch in range(90):
            for x, y in train_loader:
                optimizer.zero_grad()
                criterion(model(x), y).backward()
                optimizer.step()
            acc = accuracy(model.eval(), val_loader)
            model.train()
            if acc > best:
                best = acc
                torch.save(model.state_dict(), "best.pt")
        print(accuracy(model.eval(), DataLoader(CIFAR10("data", train=False), 64)))
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Event,
    Expr,
    Function,
    Index,
    Instance,
    Literal,
    Loop,
    Site,
    Spot,
    bound_names,
    derived,
    external_name,
    header_of,
    is_test,
    makers,
    mentions,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "chosen-on-test-set",
    "data",
    "note",
    "",
    suspects=("split-leak",),
    claims=("test-set-tuning-contaminates",),
    look="hold a part of the training set out, choose by it, and compare the score of that checkpoint on the test set",
)
_SAVES = ("save", "save_checkpoint", "save_model", "save_ckpt", "save_state", "save_pretrained", "save_weights")
_BEST = re.compile(r"(^|_)best|best(_|$)|^max_|_max$", re.I)
_IS_BEST = re.compile(r"^is_?best", re.I)
_TEST_LOADER = re.compile(r"^(test_?(data_?)?(loader|dl|set|iter)|(data_?)?loader_test|test_?dataset|test_data)$", re.I)
_VALIDATION = re.compile(r"(^|[_./])(val|valid|validation|dev)(_|$|[./]|loader|set|data)", re.I)
_SAID = ("test", "testing")
_PARTS = ("split", "mode", "phase", "partition", "subset", "set", "image_set", "data_split", "dataset_type", "flag")


def check(index: Index) -> Iterator[Finding]:
    said: set[Function] = set()
    for function, position, compare in _choices(index):
        if is_test(function.path):
            continue
        found = _examined(index, Spot(function, position), compare)
        if found.outcome == "fail" and function in said:
            found = SAY.passed(function.path, compare.line, "another score of the same loop was asked about")
        elif found.outcome == "fail":
            said.add(function)
        yield found


def _choices(index: Index) -> Iterator[tuple[Function, int, Expr]]:
    """Where a score is compared with the best so far and what is better is saved."""
    said: set[Expr] = set()
    for site in index.calls(*_SAVES):
        for branch in site.event.block.branches:
            test = branch.test
            if test is not None and test not in said and (compare := _with_best(test)) is not None:
                said.add(test)
                yield site.function, _header(site, test), compare
        if any(_IS_BEST.search(part.last) for part in _names(site.call)):
            for position, event in enumerate(site.function.events[: site.position]):
                if event.kind == "assign" and _assigns_best(event) and event.value is not None:
                    if event.value not in said and (compare := _with_best(event.value)) is not None:
                        said.add(event.value)
                        yield site.function, position, compare


def _names(call: Expr) -> Iterator[Expr]:
    return (part for part in call.walk() if part.kind == "path")


def _assigns_best(event: Event) -> bool:
    return any(_IS_BEST.search(target.last) for target in event.targets)


def _with_best(test: Expr) -> Expr | None:
    """The score that is compared with the best one."""
    for part in test.walk():
        if part.kind == "compare" and part.text in ("<", ">", "<=", ">=") and len(part.parts) == 2:
            one, other = part.parts
            for best, score in ((one, other), (other, one)):
                if best.kind in ("path", "attr", "index") and _is_best(best) and not _is_best(score):
                    return score
    return None


def _is_best(expr: Expr) -> bool:
    name = expr.parts[0] if expr.kind == "index" else expr
    return bool(_BEST.search(name.last)) or (
        expr.kind == "index" and any(p.kind == "string" and _BEST.search(p.text) for p in expr.parts[1:])
    )


def _header(site: Site, test: Expr) -> int:
    """Position of the if that has the test."""
    events = site.function.events
    return next((place for place in range(site.position, -1, -1) if events[place].value is test), site.position)


def _examined(index: Index, spot: Spot, score: Expr) -> Finding:
    path, line = spot.function.path, score.line
    behind = list(_behind(index, score, spot))
    loaders = [one for made, at in behind for one in _gone_over(index, made, at)]
    tests = [next(_test_sets(index, call, at), None) for call, at in loaders]
    if tests and all(tests):
        return _question(spot, score, next(one for one in tests if one is not None))
    if loaders and any(_is_other(index, call, at) for call, at in loaders):
        return SAY.passed(path, line, f"{written(score)} is of another part of the data")
    named = next((one for made, _ in behind for one in _named_test(made)), None)
    if named is not None and not any(_tells_validation(at.function) for _, at in behind):
        return _question(spot, score, (named, path))
    if not loaders:
        return SAY.open(path, line, f"what {written(score)} is computed from is not resolved")
    return SAY.passed(path, line, f"{written(score)} is not seen to be of a test set")


def _named_test(made: Expr) -> Iterator[Expr]:
    """test_loader of evaluate(model, test_loader)"""
    for call in made.walk():
        for part in call.parts[1:] if call.kind == "call" else ():
            given = part.parts[0] if part.kind == "keyword" else part
            if given.kind == "path" and _TEST_LOADER.search(given.last):
                yield given


def _tells_validation(function: Function) -> bool:
    """Some name there is of a validation set, so what is called a test set may be another one."""
    names = [parameter.name for parameter in function.parameters]
    names += [name for event in function.events for name in bound_names(event)]
    return any(_VALIDATION.search(name) for name in names)


def _behind(index: Index, score: Expr, spot: Spot, depth: int = 2) -> Iterator[tuple[Expr, Spot]]:
    """Expressions that the score is made of: stats = test(...) behind float(stats["acc"])."""
    for made, at in makers(index, score, spot):
        yield made, at
        names = [part for part in made.walk() if part.kind == "path"]
        runs = any(part.kind == "call" and index.may_run(part, at.function) for part in made.walk())
        for name in names if depth and not runs and made.kind != "path" else ():
            yield from _behind(index, name, at, depth - 1)


def _gone_over(index: Index, made: Expr, at: Spot) -> Iterator[tuple[Expr, Spot]]:
    """The loaders that are gone over to compute it: in the function that gives it back, or in the one that it stands in."""
    targets = [(call, one) for call in made.walk() if call.kind == "call" for one in index.calling.run_by(call, at)]
    for call, target in targets:
        frame = index.frames.frame(target.function, call, at, target.owner)
        for loop in _loops(target.function):
            yield from _loaders(index, loop, Spot(target.function, header_of(target.function, loop), frame))
    for loop in reversed(_loops(at.function)) if not targets else ():
        start = header_of(at.function, loop)
        if loop.end_line < made.line and mentions(made, _computed(at.function, loop, start, at.position)):
            if found := list(_loaders(index, loop, Spot(at.function, start, at.frame))):
                yield from found
                return


def _loops(function: Function) -> list[Loop]:
    return [loop for loop in function.loops if loop.kind == "for" and loop.source is not None]


def _computed(function: Function, loop: Loop, start: int, end: int) -> frozenset[str]:
    inside = [event for event in function.events[start + 1 :] if event.line <= loop.end_line]
    return derived(function, {name for event in inside for name in bound_names(event)}, start, end)


def _loaders(index: Index, loop: Loop, spot: Spot) -> Iterator[tuple[Expr, Spot]]:
    source = loop.source
    if source is None:
        return
    if source.kind == "call" and source.last in ("enumerate", "tqdm", "iter", "track") and source.arguments:
        source = source.arguments[0]
        if source.kind == "call" and source.last in ("tqdm", "iter") and source.arguments:
            source = source.arguments[0]
    for thing in index.objects.of(source, spot):
        if isinstance(thing, Instance) and thing.call is not None and thing.spot is not None:
            if thing.call.last == "DataLoader":
                yield thing.call, thing.spot


def _test_sets(index: Index, loader: Expr, spot: Spot) -> Iterator[tuple[Expr, str]]:
    """The call that makes the data set of a loader, where it says that it is the test set."""
    given = loader.argument(0, "dataset")
    for made, at in makers(index, given, spot) if given is not None else ():
        if made.kind == "call" and (_says_test(index, made, at) or _is_test_of_torchvision(index, made, at)):
            yield made, at.function.path


def _is_other(index: Index, loader: Expr, spot: Spot) -> bool:
    """What is known of the data set names another part."""
    given = loader.argument(0, "dataset")
    found = makers(index, given, spot) if given is not None else ()
    words = [part.text for made, _ in found for part in made.walk() if part.kind in ("string", "path")]
    return any(_VALIDATION.search(word) or "train" in word for word in words)


def _says_test(index: Index, made: Expr, spot: Spot) -> bool:
    """Points(root, split="test"), or a name in that place that stands for such a text only."""
    parts = [part.parts[0] for part in made.parts[1:] if part.kind == "keyword" and part.text in _PARTS]
    for part in (*parts, *made.arguments):
        things = (
            [Literal(part, spot)]
            if part.kind == "string"
            else index.objects.of(part, spot)
            if part.kind == "path"
            else ()
        )
        if things and all(
            isinstance(one, Literal) and one.expr.kind == "string" and one.expr.text in _SAID for one in things
        ):
            return True
    return False


def _is_test_of_torchvision(index: Index, made: Expr, spot: Spot) -> bool:
    train = made.argument(1, "train")
    if train is None or train.text != "False":
        return False
    return any(
        external_name(thing).startswith("torchvision.datasets") for thing in index.objects.of(made.parts[0], spot)
    )


def _question(spot: Spot, score: Expr, test_set: tuple[Expr, str]) -> Finding:
    path, line = spot.function.path, score.line
    made, where = test_set
    what = "the test set" if made.kind == "call" else "what is called the test set here"
    message = (
        f"{written(score)} at {path}:{line} decides which checkpoint is the best, and it is a score on {what} ({written(made)} at "
        f"{where}:{made.line}): is that checkpoint's score on it what is reported? Expected a validation set that chooses."
    )
    chain = (Link(where, made.line, written(made)), Link(path, line, f"{written(score)} decides what is saved"))
    return SAY.fail(path, line, message, chain, "medium", "note")
