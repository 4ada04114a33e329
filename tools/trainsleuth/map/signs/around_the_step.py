"""What a training loop does besides the step: it takes a batch, evaluates, asks how far it is, stops early."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from trainsleuth.facts import Event, Expr, External, Function

from ..program import Program
from ..records import Place

_EVALUATES = re.compile(
    r"^_?(?:run_|do_)?(?:eval(?:uate|uation)?|valid(?:ate|ation)?|val|test)(?:_\w+)?$|^_?\w+_(?:validation|evaluation|val_epoch|eval_epoch)$",
    re.I,
)
_MADE_FOR_IT = re.compile(r"(?:^|\.)(?:\w*DistributedDataParallel|FullyShardedDataParallel|GradScaler|EarlyStopping)$")
_STOPS_EARLY = re.compile(r"^_?early_?stop\w*$", re.I)
_SCORES = {"batch": 0.6, "evaluates": 0.52, "stops early": 0.5, "mode": 0.42, "asks": 0.4, "counts": 0.38}


def around_the_step(program: Program, near: Set[Function]) -> Iterator[Place]:
    """In the loops above the step and around it; and where what the loop relies on is made."""
    for function in near:
        share = program.weight(function) ** 0.3
        loops = {loop.id for loop in function.loops if loop.line in program.training.loop_lines.get(function, ())}
        for event in function.events:
            inside = not loops.isdisjoint(event.block.loops)
            if inside and (role := _role(event)):
                yield program.at(function, event.line, role, _SCORES[role] * share)
            if inside and event.block.loops[-1] in loops and (test := _left_by(event)) is not None:
                yield program.at(function, test.line, "stops early", _SCORES["stops early"] * share)
    for called in program.reached_calls:
        if any(isinstance(one, External) and _MADE_FOR_IT.search(one.name) for one in called.targets):
            yield program.at(called.function, called.call.line, "made for it", 0.42 * called.weight**0.3)
    for cls, places in program.made_at.items():
        if _STOPS_EARLY.search(cls.name):
            yield program.at(cls.body, cls.line, "stops early", _SCORES["stops early"])
            yield from (program.at(function, line, "made for it", 0.42) for function, line in places)


def of_a_runner(program: Program) -> Iterator[Place]:
    """Where the loop is that of an object of another library: runner = OfflineRunner(agent=agent), runner.start()."""
    for called, names in program.bound_calls:
        if any(isinstance(one, External) and _RUNNER.search(one.name) for one in called.targets):
            share = called.weight**0.3
            yield program.at(called.function, called.call.line, "runner", 0.74 * share)
            starts = {f"{name}.{verb}" for name in names for verb in _STARTS}
            for event in called.function.events:
                if any(call.callee.removeprefix("self.") in starts for call in event.calls):
                    yield program.at(called.function, event.line, "call of the loop", 0.9 * share)


_RUNNER = re.compile(r"\.\w*(?:Runner|Trainer|Learner|TrainLoop|TrainingLoop)$")
_STARTS = ("start", "run", "train", "fit", "learn", "launch")


def _role(event: Event) -> str:
    for call in event.calls:
        if call.callee == "next":
            return "batch"
        if _EVALUATES.search(call.last) and call.last != "eval":
            return "evaluates"
        if _STOPS_EARLY.search(call.last) or (call.receiver is not None and _STOPS_EARLY.search(call.receiver.last)):
            return "stops early"
        if call.last == "train" and call.receiver is not None and not call.parts[1:]:
            return "mode"
    if event.kind == "augment" and event.value is not None and event.value.text == "1":
        return "counts"
    return "asks" if event.kind == "if" and len(event.block.loops) > 0 and _is_count(event) else ""


def _left_by(event: Event) -> Expr | None:
    """The test behind which a loop is left: if time.time() - started > limit: break"""
    if event.kind not in ("break", "return") or not event.block.branches:
        return None
    return event.block.branches[-1].test


def _is_count(event: Event) -> bool:
    return event.value is not None and any(part.kind == "binary" and part.text == "%" for part in event.value.walk())
