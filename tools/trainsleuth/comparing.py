"""Two runs that should train the same: at which step, and where in it, they part, and by how much.

Both are watched for a few steps (runtime/prints.py). What is the same to the last bit is; else the distance of two
tensors, relative to their size, tells rounding from a difference.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.launcher import Run
from trainsleuth.probing import NEEDED, Request, ending, launch_once
from trainsleuth.trace import Event, traces

EXPERIMENT = "repeat"
ROUNDING = 1e-3  # of its size, up to which a tensor counts as the same: single precision in another order of sums
PRECISION = {
    "float64": 1e-15,
    "float32": 1e-7,
    "float16": 1e-3,
    "bfloat16": 8e-3,
}  # of a parameter, when a step adds to it
MOST_ROUNDING = 0.1  # of an update
BATCHWISE = ("input", "layer", "loss")  # another number of processes has other batches in each
WHOLE = 0.02  # of a whole number or its inverse, for a ratio of two sizes to be told as one
ALWAYS = ("start", "update", "parameters")  # once in each step, however many batches it takes
WRAPPERS = ("module.", "_orig_mod.")
WORDS = {
    "start": "the parameters at the start",
    "input": "what enters",
    "layer": "the output of",
    "loss": "the loss",
    "gradient": "the gradient of",
    "update": "what the step adds to the parameters",
    "parameters": "the parameters after the step",
}
NEXT = {
    "start": "seed both before the model is built, or load the same weights",
    "input": "look at the data and their order: seeds, shuffling, batch size, transforms",
    "layer": "compare this layer in both: its code, its mode, dropout",
    "loss": "compare how the loss is put together and averaged",
    "gradient": "compare what lies between loss and gradient: division by the number of batches, scaling, clipping, detach",
    "update": "compare the optimizers: class, rate, weight decay, groups, schedule",
    "parameters": "look for what changes parameters besides the optimizer",
}

Key = tuple[str, str, int]  # kind, name, and which of several in one step


@dataclass(frozen=True)
class Difference:
    """One tensor of one step in both runs. `apart`: their distance, as it is estimated, in parts of the larger size."""

    step: int
    kind: str
    name: str
    sizes: tuple[float, float]
    apart: float

    @property
    def words(self) -> str:
        """What it is, in half a sentence."""
        return f"{WORDS[self.kind]} {self.name}" if self.kind in ("input", "layer", "gradient") else WORDS[self.kind]

    @property
    def ratio(self) -> str:
        """ "4 times as large" where one size is nearly a whole number of times the other."""
        one, other = self.sizes
        if not (one and other and math.isfinite(one) and math.isfinite(other)):
            return ""
        times = max(one, other) / min(one, other)
        if times < 2 - WHOLE or abs(times - round(times)) > WHOLE * times:
            return ""
        return f", {'the first' if one > other else 'the second'} {round(times)} times as large"


@dataclass(frozen=True)
class Comparison:
    """What two runs had in common. `same`, `near`: comparisons to the last bit, and up to rounding; `parted`: the first
    that is neither; `first`, `furthest`: of `near`; `left_out`: kinds of values that could not be set side by side.
    `findings`: the verdict, then how the runs ended where that matters.
    """

    steps: int = 0
    same: int = 0
    near: int = 0
    parted: Difference | None = None
    first: Difference | None = None
    furthest: Difference | None = None
    left_out: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    ran: tuple[str, ...] = field(default=())


def compare(one: Request, other: Request) -> Comparison:
    """Runs both, one after the other, within the seconds of the first. Raises ProbeError for wrong usage."""
    runs: list[Run] = []
    ends: list[Finding] = []
    left = one.seconds
    for share, request in ((left / 2, one), (left, other)):
        seconds = min(share, left)
        run = launch_once(replace(request, given=one.seconds), EXPERIMENT, seconds, seconds)
        left -= run.seconds
        runs.append(run)
        training = [trace for trace in traces(run.events) if trace.trains]
        ends += ending(run, training, EXPERIMENT)
        if not training or left < NEEDED:
            break
    found = _of_runs(*runs) if len(runs) == 2 else Comparison()
    return replace(found, findings=(verdict(found), *ends), ran=tuple(run.ran for run in runs))


def _of_runs(one: Run, other: Run) -> Comparison:
    training = [[trace for trace in traces(run.events) if trace.trains] for run in (one, other)]
    if not all(training):
        return Comparison()
    first, second = (processes[0].events("prints") for processes in training)
    return side_by_side(first, second, BATCHWISE if len(training[0]) != len(training[1]) else ())


def side_by_side(one: Sequence[Event], other: Sequence[Event], aside: Iterable[str] = ()) -> Comparison:
    """The same of the events alone: one "prints" per step of each run. `aside`: kinds that are not to be compared."""
    same = near = 0
    parted = first_near = furthest = None
    left_out: dict[str, None] = dict.fromkeys(aside)
    steps = 0
    for first, second in zip(one, other, strict=False):
        steps += 1
        mine, theirs = _rows(first), _rows(second)
        left_out.update(dict.fromkeys(_uneven(mine, theirs)))
        for key, row in mine.items():
            if key[0] in left_out or key not in theirs:
                continue
            difference = _difference(int(first["n"]), row, theirs[key])
            if difference is None:
                same += 1
            elif difference.apart <= max(ROUNDING, _of_parameters(mine, difference)):
                near += 1
                first_near = first_near or difference
                furthest = max(furthest, difference, key=lambda each: each.apart) if furthest else difference
            elif parted is None:
                parted = difference
        if parted is not None:
            break
    return Comparison(steps, same, near, parted, first_near, furthest, tuple(left_out))


def _of_parameters(rows: Mapping[Key, Sequence[Any]], difference: Difference) -> float:
    """What rounding of the parameters can be of an update, which is small beside them."""
    whole = rows.get(("parameters", "after the step", 0))
    size = min(difference.sizes)
    if difference.kind != "update" or whole is None or not size:
        return 0.0
    return min(MOST_ROUNDING, PRECISION.get(difference.name, 0.0) * float(whole[3]) / size)


def _rows(event: Event) -> dict[Key, Sequence[Any]]:
    seen: Counter[tuple[str, str]] = Counter()
    rows: dict[Key, Sequence[Any]] = {}
    for row in event["rows"]:
        kind, name = row[0], _plain(row[1])
        rows[kind, name, seen[kind, name]] = [kind, name, *row[2:]]
        seen[kind, name] += 1
    return rows


def _plain(name: str) -> str:
    """A name without what wrappers put before it."""
    for wrapper in WRAPPERS:
        name = name.removeprefix(wrapper)
    return name


def _uneven(mine: Mapping[Key, Any], theirs: Mapping[Key, Any]) -> Iterator[str]:
    """Kinds of which the runs have not the same, as when one takes several batches per step."""
    kinds = dict.fromkeys(key[0] for key in (*mine, *theirs) if key[0] not in ALWAYS)
    for kind in kinds:
        if {key for key in mine if key[0] == kind} != {key for key in theirs if key[0] == kind}:
            yield kind


def _difference(step: int, mine: Sequence[Any], theirs: Sequence[Any]) -> Difference | None:
    """None where both are the same to the last bit. The distance is estimated by the marks, and at least that of the sizes."""
    if mine[2] == theirs[2] and "?" not in mine[2]:
        return None
    sizes = _number(mine[3]), _number(theirs[3])
    gaps = [_number(one) - _number(other) for one, other in zip(mine[4], theirs[4], strict=False)]
    size = max(sizes)
    apart = max(math.sqrt(sum(gap * gap for gap in gaps) / len(gaps)), abs(sizes[0] - sizes[1])) if gaps else 0.0
    apart = apart / size if size else 0.0
    return Difference(step, mine[0], mine[1], sizes, apart if math.isfinite(apart) else 1.0)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def verdict(found: Comparison) -> Finding:
    """The answer as a finding; open where nothing could be compared."""
    by = "probe:compare"
    compared = found.same + found.near
    if not compared and found.parted is None:
        why = "no step of both was seen" if not found.steps else "nothing of the two runs could be set side by side"
        return Finding(by=by, outcome="open", message=why, next="allow more --time")
    seen = f"{found.steps} {'step' if found.steps == 1 else 'steps'}"
    aside = (
        f"; not set side by side, for the runs have not the same number of them or of processes: {', '.join(found.left_out)}"
        if found.left_out
        else ""
    )
    measured: dict[str, Any] = {"steps": found.steps, "same": found.same, "near": found.near}
    if found.parted is not None:
        gone = found.parted
        before = f"before it {found.same} {'is' if found.same == 1 else 'are'} the same to the last bit"
        before += f", {found.near} up to rounding" if found.near else ""
        return Finding(
            by=by, outcome="fail", severity="error", confidence="high", family="training-procedure",
            message=f"the two runs part at step {gone.step} (counted from 0) in {gone.words}: {gone.apart:.2g} of its size apart "
            f"(norms {gone.sizes[0]:.4g} and {gone.sizes[1]:.4g}{gone.ratio}); {before if compared else 'nothing before it is the same'}{aside}; expected the same",
            measured={**measured, "apart": gone.apart}, next=NEXT[gone.kind],
        )  # fmt: skip
    if found.first is not None and found.furthest is not None:
        first, far = found.first, found.furthest
        return Finding(
            by=by, outcome="pass", confidence="high", measured={**measured, "apart": far.apart},
            message=f"the two runs do the same up to rounding in {seen}: of {compared} comparisons {found.same} are the same "
            f"to the last bit; the first that is not is {first.words} at step {first.step} ({first.apart:.1g} of its size), the "
            f"furthest {far.words} at step {far.step} ({far.apart:.1g}){aside}",
        )  # fmt: skip
    return Finding(by=by, outcome="pass", confidence="high", measured=measured,
                   message=f"the two runs do the same in {seen}, {found.same} comparisons to the last bit{aside}")  # fmt: skip
