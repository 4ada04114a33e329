"""The path of one batch: loader, batch, forward, loss with its input, backward, clip, step, across files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, LossCall, Spot, loss_calls, written

from ...configuration import Truth
from ...drawing.statements import statement
from ...loop.batch_path import Stage
from ...parts import source_lines
from ...program import Program
from ...programs.standing import off
from ...records import Part
from .forwards import forwards
from .inner_loss import InnerLoss, inner_losses, made_of, runs, says_loss
from .writing import Block

TAKES = {  # what the first argument of a loss of torch must be
    "CrossEntropyLoss": "logits",
    "cross_entropy": "logits",
    "BCEWithLogitsLoss": "logits",
    "binary_cross_entropy_with_logits": "logits",
    "BCELoss": "probabilities",
    "binary_cross_entropy": "probabilities",
    "NLLLoss": "log-probabilities",
    "nll_loss": "log-probabilities",
    "KLDivLoss": "log-probabilities",
    "kl_div": "log-probabilities",
    "CTCLoss": "log-probabilities",
    "ctc_loss": "log-probabilities",
}
ANY = ("MSELoss", "mse_loss", "L1Loss", "l1_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss")
_RANGES = {
    "probability": "probabilities",
    "sigmoid": "probabilities (sigmoid)",
    "log-probability": "log-probabilities",
    "logits": "logits",
    "rectified": "numbers that are never negative (relu)",
    "other": "neither logits nor probabilities",
}
_ORDER = ("loader", "batch", "source", "forward", "inside", "loss", "sum", "backward", "rescale", "unscale", "clip", "optimizer step", "scaler update", "scheduler step", "zero_grad")  # fmt: skip
MAX_EACH = {"loader": 4, "source": 4, "inside": 6, "sum": 6, "loss": 8, "forward": 6}


class Step(NamedTuple):
    """One line on the way, in the role that it plays. `said` is what is known about it beyond its text."""

    role: str
    function: Function
    line: int
    hops: int
    said: str = ""


def blocks(program: Program, truth: Truth, data: Part) -> Iterator[Block]:
    """One block for each step, in the order in which a batch meets them."""
    count: dict[str, int] = {}
    texts: dict[str, list[str]] = {}
    steps = [*_loaders(program, data), *_made(program), *_signs(program)]
    seen: set[tuple[str, int, str]] = set()
    for number, step in enumerate(sorted(steps, key=lambda one: (_ORDER.index(one.role), one.hops, one.line))):
        mark = (step.function.path, step.line, step.role)
        count[step.role] = count.get(step.role, 0) + (mark not in seen)
        if mark in seen or count[step.role] > MAX_EACH.get(step.role, 6):
            continue
        seen.add(mark)
        if off(program, truth, step.function, step.line):
            continue
        yield _block(program, step, number, texts)


def _block(program: Program, step: Step, number: int, texts: dict[str, list[str]]) -> Block:
    path = step.function.path
    if path not in texts:
        texts[path] = source_lines(program.index, path)
    text = statement(texts[path], step.line)
    where = f"{path}:{step.line}"
    lines = [f" {step.role}: {where} {text}"]
    if step.said:
        lines.append(f"    {step.said}")
    item = {"role": step.role, "path": path, "line": step.line, "text": text, "function": step.function.qualname, "said": step.said}  # fmt: skip
    return Block((), (number,), tuple(lines), item)


def _loaders(program: Program, data: Part) -> Iterator[Step]:
    """Where the loader of the training loop is made."""
    for place in data.places:
        if place.role == "built" and place.path in program.index.files and "oader" in place.text:
            file = program.index.files[place.path]
            inside = [one for one in file.functions.values() if one.line <= place.line <= one.end_line]
            yield Step("loader", max(inside, key=lambda one: one.line, default=file.body), place.line, 0)


def _made(program: Program) -> Iterator[Step]:
    losses = {(one.function, one.line) for one in program.training.stages if one.role == "loss"}
    within = [function for function in dict.fromkeys(one for one, _ in losses) if program.is_reached(function)]
    known = {
        (call.site.function, call.site.call.line): call
        for call in loss_calls(program.index, *TAKES, *ANY, within=within)
    }
    for stage in (one for one in program.training.stages if one.role in _ORDER):
        if stage.role == "loss":
            handed = _handed_on(program, stage)
            said = _named(handed) or _loss_input(program, stage, known)
            yield Step("loss", stage.function, stage.line, stage.hops, said)
            for inner in (one for function in handed for one in inner_losses(program, function)):
                yield _inner_step(inner, stage.hops)
        elif not (stage.role == "sum" and (stage.function, stage.line) in losses) and not _counts(stage):
            yield Step(stage.role, stage.function, stage.line, stage.hops, forwards(program, stage))


def _inner_step(inner: InnerLoss, hops: int) -> Step:
    said = _named(inner.runs) or f"input of {inner.call.last}: {_inputs(inner.call)}"
    made = made_of(inner.function, inner.call)
    return Step("loss", inner.function, inner.call.line, hops + inner.hops, f"{said}; {made}" if made else said)


def _handed_on(program: Program, stage: Stage) -> tuple[Function, ...]:
    """The functions of the project that a call of a loss runs: what it is given is not what the loss gets."""
    calls = (one for one in stage.event.calls if one.line == stage.line and says_loss(program, stage.function, one))
    return next((found for one in calls if (found := runs(program, stage.function, one))), ())


def _named(functions: tuple[Function, ...]) -> str:
    return "; ".join(f"runs {one.qualname} {one.path}:{one.line}" for one in functions)


def _inputs(call: Expr) -> str:
    return ", ".join(written(one, 40) for one in call.arguments[:3])


def _counts(stage: Stage) -> bool:
    """A loop over numbers hands out no batch."""
    value = stage.event.value
    return stage.role == "batch" and value is not None and value.kind == "call" and value.last in ("range", "trange")


def _loss_input(program: Program, stage: Stage, known: dict[tuple[Function, int], LossCall]) -> str:
    """What enters the loss: the expression, and the range of its numbers where that can be read."""
    found = known.get((stage.function, stage.line))
    call = found.site.call if found is not None else next((c for c in stage.event.calls if c.line == stage.line), None)
    if call is None or not call.arguments:
        return ""
    given = call.argument(0, "input", "logits", "outputs", "pred", "preds")
    if given is None or given.kind in ("star", "doublestar"):
        return ""
    position = found.site.position if found is not None else stage.function.events.index(stage.event)
    spots = found.spots if found is not None and found.spots else (Spot(stage.function, position),)
    values = [value for spot in spots[:4] for value in program.index.values.of(given, spot)]
    ranges = list(dict.fromkeys(_RANGES.get(value.range, "unknown") for value in values)) or ["unknown"]
    why = next((value.why for value in values if value.range == "unknown" and value.why), "")
    expects = TAKES.get(found.loss, "") if found is not None else ""
    name = found.loss if found is not None and found.loss else call.last
    if not expects and not {"logits", "probabilities", "log-probabilities"} & {*ranges}:
        return f"input of {name}: {written(given)}"
    said = f"input of {name}: {written(given)} is {' or '.join(ranges)}"
    said += f" ({why})" if why and "unknown" in ranges else ""
    return said + (f"; it expects {expects}" if expects else "")


def _signs(program: Program) -> Iterator[Step]:
    step = program.training.step
    near = (
        {step, *(caller for caller, _, _ in program.training.ways.loops_down_to(step))} if step is not None else set()
    )
    for function, found in program.signs.items():
        if program.is_reached(function):
            same = function in near or (step is not None and function.path == step.path)
            for sign in found:
                yield Step(sign.role, function, sign.site.call.line, 0 if same else 3)
