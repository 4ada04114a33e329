"""A runner of a framework whose loop the project writes anew: class EpochRunner(Runner) with a train() of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Function

from ..program import Program
from ..records import Place
from .frameworks import Framework

_TRAIN = ("train", "fit", "learn")  # of the methods that start a framework, those that only train
_INNER = ("_inner_training_loop", "inner_training_loop")  # what train() of Hugging Face leaves the loop to
_REGISTERS = re.compile(r"(?:add|register)_(?:hooks?|callbacks?)")
STEPS = ("training_step", "compute_loss", "train_step", "forward_backward")


def own_loops(program: Program, framework: Framework, runner: Class) -> Iterator[Place]:
    """The loops of its methods that train, and the calls in them down to what a framework calls a step; where such a
    method leaves the loop to the framework, that, and what it has the framework call besides.
    """
    for cls in program.index.lineage(runner):
        yield program.at(cls.body, cls.line, "class", 0.8)
        yield from _handed_on(program, cls)
        for name in (*_TRAIN, *_INNER):
            method = cls.methods.get(name) if name in framework.starts or name in _INNER else None
            if method is not None and method.loops:
                yield program.at(method, method.line, "holds the loop", 0.8)
                yield from _looped(program, runner, method)


def overrides_loop(program: Program) -> bool:
    """A class that the framework runs has the loop itself, with the call of its step."""
    methods = (program.index.method(cls, name) for cls in program.training.hooked_classes for name in _INNER)
    return any(method is not None and any(_steps(program, method, in_loops=True)) for method in methods)


def _handed_on(program: Program, cls: Class) -> Iterator[Place]:
    for method in cls.methods.values():
        for event in method.events:
            for call in event.calls:
                receiver = call.receiver
                if receiver is not None and receiver.callee == "super" and call.last == method.name in _TRAIN:
                    yield program.at(method, method.line, "holds the loop", 0.8)
                    yield program.at(method, call.line, "hand-over", 0.85)
                elif receiver is not None and receiver.text == method.self_name and _REGISTERS.fullmatch(call.last):
                    yield program.at(method, call.line, "registered", 0.78)


def _looped(program: Program, runner: Class, method: Function) -> Iterator[Place]:
    for event in method.events:
        for call in event.calls if event.block.loops else ():
            own = call.receiver is not None and call.receiver.text == method.self_name
            called = program.index.method(runner, call.last) if own else None
            steps = list(_steps(program, called or method, in_loops=called is None))
            if call.last in STEPS or (called is not None and steps):
                for number in event.block.loops:
                    yield program.at(method, method.loops[number].line, "loop", 0.93)
                yield program.at(method, call.line, "call of the step", 0.9)
                yield from steps


def _steps(program: Program, method: Function, in_loops: bool) -> Iterator[Place]:
    for event in method.events:
        for call in event.calls:
            if call.last in STEPS and (event.block.loops or not in_loops):
                yield program.at(method, call.line, "call of the step", 0.9)
