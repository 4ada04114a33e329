"""What is saved is chosen by the best score so far, and the best score is never noted.

`if acc > best: torch.save(...)` without `best = acc` compares each epoch with the value from before training. Nearly every
epoch passes, and what lies in the file at the end is the last one, whatever it is called.

Fix: best = acc beside the save.

Cannot see: best scores in tables, and those that a caller keeps.

Bad:
    import torch

    def fit(model, train, validate, epochs):
        best = 0.0
        for epoch in range(epochs):
            train(model)
            acc = validate(model)
            if acc > best:
                torch.save(model.state_dict(), "best.pt")

Bad (in a class):
    import torch

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.best_loss = float("inf")

        def fit(self, train, validate, epochs):
            for epoch in range(epochs):
                train(self.model)
                loss = validate(self.model)
                if loss < self.best_loss:
                    torch.save(self.model.state_dict(), "best.pt")

Good:
    import torch

    def fit(model, train, validate, epochs):
        best = 0.0
        for epoch in range(epochs):
            train(model)
            acc = validate(model)
            if acc > best:
                best = acc
                torch.save(model.state_dict(), "best.pt")

Good (a file for each epoch):
    import torch

    def fit(model, train, validate, epochs, folder, save_all=True):
        best = 0.0
        for epoch in range(epochs):
            train(model)
            acc = validate(model)
            if acc > best or save_all:
                torch.save(model.state_dict(), folder / "epoch_{}_{:03.3f}.pt".format(epoch, acc))
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, Branch, Expr, Index, Spot, bindings, is_test, mentions, written
from trainsleuth.facts.training.best import Choice, choices
from trainsleuth.finding import Finding, Link

from ._uses import library_above
from ._verdicts import Verdicts

SAY = Verdicts(
    "best-not-updated",
    "training-procedure",
    "warning",
    "",
    suspects=("another-loop-fault",),
    claims=("state-dict-is-a-reference",),
    look="print the best score beside each save: it should change with every one",
    sure=("",),
)
_EXTREME = re.compile(r"^-|inf|maxsize|^None$", re.I)
_LEAVING = ("break", "return", "raise")
SMALL = 10.0  # a loss below this, and a score above 0, may be a threshold that is meant to stay


def check(index: Index) -> Iterator[Finding]:
    for choice in choices(index):
        if not is_test(choice.spot.function.path):
            yield _examined(index, choice)


def _examined(index: Index, choice: Choice) -> Finding:
    path, line, best = choice.spot.function.path, choice.score.line, choice.best
    setting = _attribute(index, choice) if "." in best.text else _local(index, choice)
    if isinstance(setting, str):
        return SAY.open(path, line, setting)
    if any(_leaves(choice, one.kind, one.block.branches) for one in choice.spot.function.events):
        return SAY.passed(path, line, "nothing is compared after the first that is better")
    if _has_names_of_its_own(choice):
        return SAY.passed(path, line, "each save has a file of its own")
    if (again := next((one for one in setting if _is_repeated(one, choice)), None)) is not None:
        return SAY.passed(path, line, f"{best.text} gets another value at {again.function.path}:{again.line}")
    first = next((one for one in setting if _is_extreme(_value(one, best.text), bool(choice.wants_more))), None)
    if first is None:
        return SAY.open(path, line, f"{best.text} may be a threshold that is meant to stay")
    return _failure(choice, first)


def _local(index: Index, choice: Choice) -> list[Spot] | str:
    """Where a variable of the function of the comparison gets a value, or why that is not all of it."""
    function, name = choice.spot.function, choice.best.text
    file = index.files[function.path]
    shared = file.body.source.holds(re.compile(rb"\b(?:global|nonlocal)\b[^\n]*\b%s\b" % re.escape(name.encode())))
    functions = file.functions.values() if shared else (function,) if name in bindings(function) else (file.body,)
    found = [Spot(one, binding.position) for one in functions for binding in bindings(one).get(name, ())]
    if choice.best.kind != "path" or not found or function.parameter(name) is not None:
        return f"who notes {written(choice.best)} is not followed"
    if not function.events[choice.spot.position].block.loops:
        return "no loop is around the comparison"
    return found


def _attribute(index: Index, choice: Choice) -> list[Spot] | str:
    """The same of an attribute of self, wherever one of that name is set."""
    function, (owner, _, name) = choice.spot.function, choice.best.text.partition(".")
    if index.class_of(function) is None or owner != function.self_name or "." in name:
        return f"who notes {written(choice.best)} is not followed"
    if library := library_above(index, function):
        return f"{library} may set {name}"
    if not function.events[choice.spot.position].block.loops and not index.callers(function):
        return f"nothing is seen to call {function.name} again and again"
    word = name.encode()
    if index.is_held(re.compile(rb"setattr\([^\n]*[\"']%s[\"']" % re.escape(word))):
        return f"{name} is set by its name"
    return [
        Spot(one, binding.position)
        for one in index.functions_holding(re.compile(rb"\b%s\b" % re.escape(word)))
        for path, found in bindings(one).items()
        if path.endswith(f".{name}")
        for binding in found
    ]


def _leaves(choice: Choice, kind: str, arms: tuple[Branch, ...]) -> bool:
    """The arm of the test ends the loop or the function."""
    return kind in _LEAVING and any(arm.test is not None and choice.best in arm.test.walk() for arm in arms)


def _has_names_of_its_own(choice: Choice) -> bool:
    """The file is named after the round or the score: epoch_3.pt beside epoch_2.pt."""
    function, saving = choice.spot.function, choice.saving
    file = saving.argument(1, "f") if saving.last == "save" else saving.argument(0, "save_directory")
    if file is None or saving.last not in ("save", "save_pretrained"):
        return False
    around = function.events[choice.spot.position].block.loops
    targets = (loop.target for loop in function.loops if loop.id in around and loop.target is not None)
    changing = {
        written(choice.score),
        *(part.text for target in targets for part in target.walk() if part.kind == "path"),
    }
    named = (one.value for one in bindings(function).get(file.text, ())) if file.kind == "path" else (file,)
    return any(mentions(one, changing) for one in named)


def _is_repeated(setting: Spot, choice: Choice) -> bool:
    """It is set in a loop around the comparison; an attribute in any method but the constructor, a global by a function."""
    function, here = setting.function, choice.spot.function.events[choice.spot.position].block.loops
    if "." in choice.best.text:
        return function.name != "__init__"
    if function is not choice.spot.function:
        return function.name != MODULE_BODY
    return not set(here).isdisjoint(function.events[setting.position].block.loops)


def _value(setting: Spot, path: str) -> Expr | None:
    last = path.rpartition(".")[2]
    found = (
        one for name, each in bindings(setting.function).items() if name.rpartition(".")[2] == last for one in each
    )
    return next((one.value for one in found if one.position == setting.position), None)


def _is_extreme(value: Expr | None, wants_more: bool) -> bool:
    """What any score is better than: 0 or -1 where more is better, 1e9 where less is, float("inf"), None."""
    if value is None or _EXTREME.search(written(value)):
        return value is not None
    number = float(value.text) if value.kind == "number" and re.fullmatch(r"[\d.]+(?:e\d+)?", value.text) else 1.0
    return number <= 0 if wants_more else number >= SMALL


def _failure(choice: Choice, first: Spot) -> Finding:
    path, line, best = choice.spot.function.path, choice.score.line, choice.best.text
    value = _value(first, best)
    shown = written(value) if value is not None else "its first value"
    chain = (
        Link(first.function.path, first.line, f"{best} is {shown}"),
        Link(path, line, f"{written(choice.score)} is compared with it, and that decides what is saved"),
    )
    message = (
        f"{best} at {path}:{line} decides what is saved and stays {shown}: every round that is better than that is saved, so what is "
        f"left is the last of them and not the best; expected {best} = {written(choice.score)} beside the save."
    )
    return SAY.fail(path, line, message, chain)
