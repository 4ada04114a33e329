"""The best checkpoint is chosen by its score on the test set.

`if acc > best: save` keeps the epoch that suits these examples best. Where they are the test set, the score that is
reported is the greatest of many tries on it, and is higher than on examples that nobody has chosen by
[test-set-tuning-contaminates]. Nothing in the run tells.

Fix: choose by a part of the training set that is held out, and ask the test set once, at the end.

Cannot see: data sets that nothing calls the test set, and choices that are made outside of the code. Where it is not
seen how a data set is made, the name of its loader counts: a validation set that is called test_loader is asked about.

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

from trainsleuth.facts import Expr, Function, Index, Spot, bound_names, is_test, written
from trainsleuth.facts.data.parts import is_of_other_part, names_validation, test_set_of
from trainsleuth.facts.training.best import choices
from trainsleuth.facts.training.scores import behind_score, loaders_behind
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
_TEST_LOADER = re.compile(r"^(test_?(data_?)?(loader|dl|set|iter)|(data_?)?loader_test|test_?dataset|test_data)$", re.I)


def check(index: Index) -> Iterator[Finding]:
    said: set[Function] = set()
    for spot, score, *_ in choices(index):
        if is_test(spot.function.path):
            continue
        found = _examined(index, spot, score)
        if found.outcome == "fail" and spot.function in said:
            found = SAY.passed(spot.function.path, score.line, "another score of the same loop was asked about")
        elif found.outcome == "fail":
            said.add(spot.function)
        yield found


def _examined(index: Index, spot: Spot, score: Expr) -> Finding:
    path, line = spot.function.path, score.line
    behind = list(behind_score(index, score, spot))
    loaders = [one for made, at in behind for one in loaders_behind(index, made, at)]
    tests = [test_set_of(index, one) for one in loaders]
    if tests and tests[0] is not None and all(tests):
        return _question(spot, score, *tests[0])
    if any(is_of_other_part(index, one) for one in loaders):
        return SAY.passed(path, line, f"{written(score)} is of another part of the data")
    named = next((one for made, _ in behind for one in _named_test(made)), None)
    if named is not None and not any(_tells_validation(at.function) for _, at in behind):
        return _question(spot, score, named, path)
    if not loaders:
        return SAY.open(path, line, f"what {written(score)} is computed from is not resolved")
    return SAY.passed(path, line, f"{written(score)} is not seen to be of a test set")


def _named_test(made: Expr) -> Iterator[Expr]:
    """test_loader of evaluate(model, test_loader): by its name alone, so this asks and never accuses. Whoever calls a
    validation set so says no in a word; to wait for what makes the data would pass over most of these choices.
    """
    for call in made.walk():
        for part in call.parts[1:] if call.kind == "call" else ():
            given = part.parts[0] if part.kind == "keyword" else part
            if given.kind == "path" and _TEST_LOADER.search(given.last):
                yield given


def _tells_validation(function: Function) -> bool:
    """Some name there is of a validation set, so what is called a test set may be another one."""
    names = [parameter.name for parameter in function.parameters]
    names += [name for event in function.events for name in bound_names(event)]
    return any(names_validation(name) for name in names)


def _question(spot: Spot, score: Expr, made: Expr, where: str) -> Finding:
    path, line = spot.function.path, score.line
    what = "the test set" if made.kind == "call" else "what is called the test set here"
    message = (
        f"{written(score)} at {path}:{line} decides which checkpoint is the best, and it is a score on {what} ({written(made)} at "
        f"{where}:{made.line}): is that checkpoint's score on it what is reported? Expected a validation set that chooses."
    )
    chain = (Link(where, made.line, written(made)), Link(path, line, f"{written(score)} decides what is saved"))
    return SAY.fail(path, line, message, chain, "medium", "note")
