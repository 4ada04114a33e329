"""The best model is kept without a copy, so it goes on training.

`best_model = model` gives the one network a second name. The steps of the epochs that follow change it under both names, and
what is tested, returned or saved at the end as the best model is the last one.

Question to answer: does each round make a network of its own?

Fix: best_model = copy.deepcopy(model).

Cannot see: models whose names do not say so, those that are kept in lists, objects that are trained by another class.

Bad:
    def fit(model, train, validate, test, epochs):
        best, best_model = 0.0, None
        for epoch in range(epochs):
            train(model)
            score = validate(model)
            if score > best:
                best, best_model = score, None
                best_model = model
        return test(best_model)

Bad (in a class):
    class Trainer:
        def __init__(self, model, optimizer):
            self.model, self.optimizer = model, optimizer
            self.best_model, self.best_loss = None, 1e18

        def step(self, x, y, loss_of):
            self.optimizer.zero_grad()
            loss_of(self.model(x), y).backward()
            self.optimizer.step()

        def validate(self, loss):
            if loss < self.best_loss:
                self.best_model, self.best_loss = self.model, loss

        def predict(self, x):
            return self.best_model(x)

Good:
    import copy

    def fit(model, train, validate, test, epochs):
        best, best_model = 0.0, None
        for epoch in range(epochs):
            train(model)
            score = validate(model)
            if score > best:
                best = score
                best_model = copy.deepcopy(model)
        return test(best_model)

Good (each round has a network of its own):
    def search(build, train, validate, rates):
        best, best_model = 0.0, None
        for rate in rates:
            model = build(rate)
            train(model)
            score = validate(model)
            if score > best:
                best, best_model = score, model
        return best_model
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Branch, Event, Expr, Function, Index, bindings, encloses, is_test, mentions, written
from trainsleuth.facts.reading.scopes import Binding
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "best-model-not-copied",
    "training-procedure",
    "warning",
    "",
    suspects=("another-loop-fault",),
    claims=("state-dict-is-a-reference",),
    look="compare a weight of the best model before and after the next step: it changes with the model's own",
)
_KEEPS = re.compile(
    b"|".join(
        rb"%s_?(?i:model|net|network|\w*coder|classifier|policy)\w*\b[^\n=]*=[^=]" % word
        for word in (b"best", b"Best", b"BEST")
    )
)
_BEST = re.compile(r"best_?(model|net(work)?|(en|de)coder|classifier|policy)", re.I)
_MODEL = re.compile(r"(^|_)(model|net|network|encoder|decoder|classifier|policy)\d?$", re.I)
_IMPROVED = re.compile(r"(^|_)(is_?)?(best|better|improved?)(_|$)", re.I)
_TRAINS = ("backward", "train", "step")
_TRAINING = re.compile(r"(^|_)(train|fit)(_|$)")
_LEAVING = ("break", "return", "raise")


class _Kept(NamedTuple):
    """At event `position`, in an arm that the score decides on, `best` becomes another name of `model`."""

    function: Function
    position: int
    best: str
    model: Expr
    arm: Branch

    @property
    def event(self) -> Event:
        return self.function.events[self.position]


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_KEEPS):
        if not is_test(function.path):
            for kept in _kept(function):
                yield _examined(index, kept)


def _kept(function: Function) -> Iterator[_Kept]:
    for name, found in bindings(function).items():
        for one in found if _BEST.fullmatch(name.rpartition(".")[2]) else ():
            value, arm = one.value, _decided(function.events[one.position])
            is_plain = one.kind == "assign" and not one.items and value is not None and value.kind == "path"
            if is_plain and value is not None and arm is not None and _MODEL.search(value.last) and value.text != name:
                if not _BEST.fullmatch(value.last):
                    yield _Kept(function, one.position, name, value, arm)


def _decided(event: Event) -> Branch | None:
    """The innermost arm around it whose test compares scores, or says that this one is better."""
    for arm in reversed(event.block.branches):
        for part in arm.test.walk() if arm.test is not None else ():
            compares = part.kind == "compare" and part.text in ("<", ">", "<=", ">=")
            if compares or (part.kind == "path" and _IMPROVED.search(part.last)):
                return arm
    return None


def _examined(index: Index, kept: _Kept) -> Finding:
    path, line, model = kept.function.path, kept.event.line, kept.model.text
    if "." in kept.best and not kept.event.block.loops:
        trains = _is_trained_by_class(index, kept)
    else:
        trains = _is_trained_in_loop(kept)
    if isinstance(trains, str):
        return SAY.passed(path, line, trains)
    later = [one for one in kept.function.events if kept.arm not in one.block.branches]
    if any(one.kind in _LEAVING and encloses(one.block, kept.event.block) for one in _of_arm(kept)):
        return SAY.passed(path, line, "nothing is trained after it is kept")
    if any(_loads(one, (kept.best, model)) for one in later):
        return SAY.passed(path, line, f"{kept.best} or {model} gets its weights from elsewhere afterwards")
    use = next((one for one in later if mentions(one.value, (kept.best,)) and not _only_looks(one, kept.best)), None)
    if use is None and not ("." in kept.best and _is_used_elsewhere(index, kept)):
        return SAY.passed(path, line, f"{kept.best} is not used where training has gone on")
    return _failure(kept, trains, use)


def _of_arm(kept: _Kept) -> Iterator[Event]:
    return (one for one in kept.function.events[kept.position :] if kept.arm in one.block.branches)


def _is_trained_in_loop(kept: _Kept) -> Event | str:
    """What trains the same object in each round of the loop, or why nothing does."""
    function, model = kept.function, kept.model.text
    if not (loops := kept.event.block.loops):
        return "no loop is around it"
    inside = [one for one in function.events if loops[-1] in one.block.loops or one.text == str(loops[-1])]
    if any(loops[-1] in function.events[one.position].block.loops for one in _bound(function, model)):
        return f"{model} is another one in each round"
    target = next((loop.target for loop in function.loops if loop.id == loops[-1]), None)
    if target is not None and mentions(target, (model, model.partition(".")[0])):
        return f"{model} is another one in each round"
    for event in inside:
        for call in event.calls:
            is_its = call.receiver is not None and mentions(call.receiver, (model,))
            given = _TRAINING.search(call.last) is not None and mentions(call, (model,))
            if call.last == "backward" or given or (is_its and call.last in _TRAINS):
                return event
    return "nothing in the loop is seen to train it"


def _bound(function: Function, path: str) -> Iterator[Binding]:
    """Bindings of the name, and of what it is an attribute of."""
    while path:
        yield from (one for one in bindings(function).get(path, ()) if one.kind != "append")
        path = path.rpartition(".")[0]


def _is_trained_by_class(index: Index, kept: _Kept) -> Event | str:
    cls, model = index.class_of(kept.function), kept.model.text
    if cls is None or not model.startswith(f"{kept.function.self_name}."):
        return f"{model} is not an attribute of the same object"
    methods = cls.methods.values()
    if any(model in bindings(one) for one in methods if one.name not in ("__init__", "_init", "setup")):
        return f"{model} is made anew by a method"
    for method in methods:
        for event in method.events if "backward" in method.called else ():
            if any(call.last == "backward" for call in event.calls):
                return event
    return "nothing in the class is seen to train it"


def _loads(event: Event, names: tuple[str, ...]) -> bool:
    """model.load_state_dict(torch.load(file)): by either name."""
    return any(call.last.startswith("load") and mentions(call.receiver, names) for call in event.calls)


def _only_looks(event: Event, name: str) -> bool:
    return event.kind in ("if", "while") or any(call.last in ("print", "deepcopy") for call in event.calls)


def _is_used_elsewhere(index: Index, kept: _Kept) -> bool:
    word = re.compile(rb"\b%s\b" % re.escape(kept.best.rpartition(".")[2].encode()))
    cls = index.class_of(kept.function)
    methods = cls.methods.values() if cls is not None else ()
    others = [one for one in methods if one is not kept.function and one.name != "__init__"]
    return any(one.source.holds(word) for one in others)


def _failure(kept: _Kept, trains: Event, use: Event | None) -> Finding:
    path, line, model = kept.function.path, kept.event.line, kept.model.text
    chain = [
        Link(path, line, f"{kept.best} is {model} itself"),
        Link(path, trains.line, f"{written(trains.calls[-1])} goes on training"),
    ]
    if use is not None:
        chain.append(Link(path, use.line, f"{kept.best} is used when training has gone on"))
    message = (
        f"{kept.best} = {model} at {path}:{line} keeps no copy: both names mean one network, which goes on training, so the best "
        f"model is the last one. Is copy.deepcopy({model}) meant?"
    )
    return SAY.fail(path, line, message, tuple(chain), "medium")
