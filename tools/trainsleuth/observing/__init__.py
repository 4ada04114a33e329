"""The observed map: a few steps of the user's own program, put onto what reading says of it.

print(observed_map(Request(("python", "train.py"), root=folder, cwd=folder), folder).map.text)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainsleuth import launcher, step_order
from trainsleuth.launcher import Limits, Run
from trainsleuth.map import Anatomy, Map, draw, read_anatomy
from trainsleuth.observing.events import without_evaluation, without_transforms
from trainsleuth.observing.joining import differences, joined
from trainsleuth.observing.records import Difference, Observation, Seen, Settings
from trainsleuth.observing.seeing import files, parts, settings
from trainsleuth.observing.telling import lines
from trainsleuth.observing.words import words_of
from trainsleuth.probing import Request
from trainsleuth.trace import Trace, traces

__all__ = ["Difference", "Observation", "ObservedMap", "Seen", "Settings", "observe", "observed_map", "words_of"]

STEPS = 2
EXPERIMENT = {"listeners": ["trace", "losses", "components"]}
SHARE = 0.45  # of the budget, at most, for what ran; the rest is the map itself


@dataclass(frozen=True)
class ObservedMap:
    """A map with what ran marked on it; `differences` are between reading and running."""

    map: Map
    observation: Observation
    differences: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """The contract of `map --format json`, with a section "observed"."""
        observed = {**self.observation.to_dict(), "differences": [one.to_dict() for one in self.differences]}
        return {**self.map.to_dict(), "observed": observed}


def observe(asked: Request) -> Observation:
    """Runs the command for two steps (or `asked.steps`) under the step trace. Raises LaunchError for wrong use."""
    steps = asked.steps or STEPS
    asked.say(f"running the program for {steps} steps, {asked.seconds:.0f} s at most")
    run = launcher.launch(
        list(asked.command),
        {**EXPERIMENT, "steps": steps, "seconds": asked.seconds},
        root=asked.root,
        cwd=asked.cwd,
        python=asked.python,
        limits=Limits(seconds=asked.seconds),
        contain=asked.contain,  # type: ignore[arg-type]
        cancelled=asked.cancelled,
        progress=asked.progress,
    )
    return observation(run)


def observation(run: Run) -> Observation:
    """What the first process that trains showed; with none, what the busiest one made before the run ended."""
    every = traces(run.events)
    training = [trace for trace in every if trace.trains]
    first = training[0] if training else max(every, key=lambda trace: len(trace.told), default=Trace(0, None, ()))
    return Observation(
        *(run.command, run.ran, run.ended, run.why, run.seconds, first.steps, len(training), bool(training)),
        parts=tuple(parts(first)),
        order=_order(first) if training else "",
        settings=settings(first),
        files=files(first),
        hooks_missing=first.hooks_missing,
        output=run.output,
    )


def _order(trace: Trace) -> str:
    """The operations of one step; "" where no optimizer stepped."""
    trained = without_evaluation(without_transforms(trace))
    return f"{step_order.told(trained)} ({trained.steps} steps seen)" if trained.stepping else ""


def observed_map(
    asked: Request,
    root: str | os.PathLike[str],
    scope: str | None = None,
    recipe: str | None = None,
    budget: int = 2000,
) -> ObservedMap:
    """Reads the repository, runs the command, and draws the map of the program that ran with what ran on it.

    Without a scope or a recipe, those are taken that the run showed: its entry, the one recipe that it opened.
    Raises as `map_repository` does, before anything runs, and LaunchError.
    """
    anatomy = read_anatomy(root, scope, recipe, budget)
    seen = observe(asked)
    told = tuple(_other_program(anatomy, seen, scope, recipe))
    if told:
        scope = next((one.seen for one in told if one.component == "entry_point"), scope)
        recipe = next((one.seen for one in told if one.component == "config"), recipe)
        anatomy = read_anatomy(root, scope, recipe, budget)
    told += tuple(differences(anatomy, seen))
    drawn = draw(joined(anatomy, seen), budget, lines(seen, told, int(budget * 4 * SHARE)))
    return ObservedMap(drawn, seen, told)


def _other_program(anatomy: Anatomy, seen: Observation, scope: str | None, recipe: str | None) -> Iterator[Difference]:
    """Where reading by itself would have taken another program, or none of its recipes."""
    entry = next((one.path for one in seen.of("entry_point") if one.path in anatomy.index.files), None)
    read = anatomy.program.entry.path if anatomy.program is not None else "no program"
    if scope is None and entry is not None and entry != read:
        yield Difference("entry_point", f"{read} as the likeliest program", entry)
    opened = [path for path in seen.files if path in anatomy.recipes]
    if recipe is None and len(opened) == 1:
        yield Difference("config", f"{len(anatomy.recipes)} recipes, none chosen", opened[0], settles=True)
