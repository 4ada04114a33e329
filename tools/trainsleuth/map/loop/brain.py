"""SpeechBrain: the networks of a Brain stand in a section of its recipe, and its own methods run them by these names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class

from ..program import Program
from ..recipe.recipes import refers_to
from ..records import Place

_SECTION = "modules."
_RUNS = re.compile(r"\.(?:modules\.\w|hparams\.\w+\.(?:encode|decode|forward|extract_features)$)")
MAX_FORWARDS = 8


def is_brain(program: Program) -> bool:
    framework = program.training.framework
    return framework is not None and framework.name == "SpeechBrain"


def modules(program: Program) -> Iterator[Place]:
    """Where the recipe lists the networks and makes them, and where the Brain is handed them."""
    listed = [one for one in program.settings if one.key.startswith(_SECTION)] if is_brain(program) else []
    if listed:
        yield Place(listed[0].path, listed[0].line, "configuration", 0.8)
    named = {refers_to(one.value) for one in listed}
    for choice in program.choices:
        if choice.key.rpartition(".")[0] in named:
            yield Place(choice.path, choice.line, "configuration", 0.85)
    for called in program.reached_calls if listed else ():
        given = called.call.keyword("modules")
        if given is not None and any(isinstance(one, Class) for one in called.targets):
            yield program.at(called.function, given.line, "handed over", 0.8)


def forwards(program: Program) -> Iterator[Place]:
    """self.modules.encoder(features) in compute_forward(), and what counts the epochs."""
    for choice in program.choices if is_brain(program) else ():
        if choice.value.endswith("EpochCounter"):
            yield Place(choice.path, choice.line, "configuration", 0.7)
    steps = (cls.methods.get("compute_forward") for cls in program.training.hooked_classes if is_brain(program))
    for step in filter(None, steps):
        calls = (call for event in step.events for call in event.calls)
        found = [call.line for call in calls if _RUNS.search(call.callee)]
        yield from (program.at(step, line, "forward", 0.8) for line in dict.fromkeys(found[:MAX_FORWARDS]))
