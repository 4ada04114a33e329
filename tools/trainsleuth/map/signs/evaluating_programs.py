"""Programs of their own that evaluate, sample or infer: those that a README starts, or that say so by name and deed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function

from ..launching.launch import Command, commands_of
from ..loop.networks import calls_network, is_network
from ..program import Program
from ..programs.sidelines import ASIDE, NEVER

MOST = 4  # programs
BY_DEED = 0.45  # the score of one that does not say so by its name
_FILE = re.compile(
    r"(?:^|[_/])(?:eval\w*|val(?:[._]|id\w*)|test|infer\w*|inference\w*|generat\w*|sampl(?!ers?\.)\w*|predict\w*|demo|score|transcribe|synth\w*|fid|calc\w*_(?:metrics?|scores?)|enjoy|play(?:[._]|er))",
    re.I,
)
_OF_EVALUATION = re.compile(r"(?:^|(?<=/))(?:eval|evaluation)/")  # a folder in which such programs are no strangers
_UNIT_TEST = re.compile(rb"(?m)\bpytest\b|\bunittest\b|^def test_")
_LOADS = re.compile(
    rb"\b(?:load_state_dict|torch\.load|from_pretrained|load_from_checkpoint|load_model|restore)\b|\.eval\(\)"
)
_ASKS = re.compile(
    r"(?:\s|=)--?(?:\w+[-_])?(?:eval|evaluate|test|inference|infer|validate|test_mode|val)(?:[-_]only)?(?:[= ](?:1|true|yes))?(?=\s|$)"
    r"|\s(?:--?)?(?:mode|phase|stage|split|run_type|action|task)[= ](?:eval\w*|test\w*|infer\w*|val\w*|predict)(?=\s|$)",
    re.I,
)


class Evaluating(NamedTuple):
    """`score`: how likely a reader looks for it there. `lines`: where texts of the repository start it."""

    path: str
    score: float
    lines: tuple[Command, ...]


def evaluating_programs(program: Program) -> list[Evaluating]:
    """The likeliest first."""
    trained = {entry.path for entry in program.entries if entry.trains} | {program.entry.path}
    beside = {command.target: command for command in _of_the_same_script(program)}
    found = []
    for path in program.started:
        if path not in trained and path in program.index.files:
            lines = tuple(one for one in program.commands if one.target == path and one.path and one.text)
            lines = (beside[path], *lines) if path in beside else lines
            score = _score(program, path, lines, path in beside)
            if score:
                found.append(Evaluating(path, score, lines))
    return sorted(found, key=lambda one: -one.score)[:MOST]


def own_commands(program: Program) -> Iterator[Command]:
    """Lines that start the program itself to evaluate: python main.py --split val --eval 1"""
    asked = (one for one in program.commands if one.target == program.entry.path and one.path)
    yield from islice((one for one in asked if _ASKS.search(one.text)), 2)


def _score(program: Program, path: str, lines: tuple[Command, ...], is_beside: bool) -> float:
    name = PurePosixPath(path).name
    shown = any(one.path.lower().endswith((".md", ".rst")) for one in lines)
    source = program.index.files[path].body.source
    near = PurePosixPath(path).parent == PurePosixPath(program.entry.path).parent
    if NEVER.search(path) and (not (shown or near) or source.holds(_UNIT_TEST) or not source.holds(_LOADS)):
        return 0.0
    if not (_FILE.search(name) or _OF_EVALUATION.search(path)):
        return BY_DEED if (shown or near) and _only_applies(program, path) else 0.0
    if ASIDE.search(_OF_EVALUATION.sub("", path)) and not near and not shown:
        return 0.0
    return 0.9 if is_beside else 0.8 if shown and near else 0.75 if near or shown else 0.5


def _only_applies(program: Program, path: str) -> bool:
    """It brings a network its weights and trains none: denoise.py, run_mujoco.py."""
    file = program.index.files[path]
    does = [event for function in file.functions.values() for event in function.events]
    return any(map(restores, does)) and not any(call.last == "backward" for one in does for call in one.calls)


def _of_the_same_script(program: Program) -> Iterator[Command]:
    """What else the launch script that the caller gave starts, the first of each: train, then evaluate."""
    script = next((command.script for command in program.entry.commands if command.script), "")
    found = commands_of(program.index, script) if script else ()
    yield from reversed([one for one in found if one.target != program.entry.path])


def rounds(program: Program, function: Function) -> Iterator[tuple[Function, int]]:
    """The first loop in which it runs a network or an agent, that call, and what of the project it calls that is no network."""
    for event in function.events:
        for call in event.calls if event.block.loops else ():
            if calls_network(program.values, function, call) or _runs(call):
                yield function, function.loops[event.block.loops[0]].line
                yield function, call.line
                for target in program.graph.targets(function, call):
                    owner = program.index.class_of(target) if isinstance(target, Function) else None
                    if isinstance(target, Function) and owner is not None and not is_network(program.index, owner):
                        yield target, target.line
                        yield owner.body, owner.line
                return


_RUNNERS = re.compile(
    r"^(?:\w+_)?(?:model|net|network|policy|generator|agent|actor|pipe|pipeline|player|predictor|processor|inferencer|tracker|sampler|core)(?:_?[a-z\d])?$",
    re.I,
)
_RUNS = ("step", "act", "select_action", "get_action", "predict", "generate", "sample", "forward", "inference")


def _runs(call: Expr) -> bool:
    held = call.receiver.last if call.receiver is not None else ""
    return (_RUNNERS.search(call.last) is not None and bool(call.parts[1:])) or (
        call.last in _RUNS and (_RUNNERS.search(held) is not None or (call.last == "step" and "env" in held))
    )


def restores(event: Event) -> int:
    """The line of a call that brings a network its weights; 0 for none."""
    return next((call.line for call in event.calls if _RESTORES.search(call.last)), 0)


_RESTORES = re.compile(
    r"^(?:load_state_dict|from_pretrained|load_from_checkpoint|_?load_(?:\w+_)?(?:model|checkpoint|ckpt|weights|network)s?|load_pretrained|restore)$"
)
