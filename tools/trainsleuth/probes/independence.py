"""Does an example's output depend on its batch mates, or a token's on what comes later?

When the run is over, the last training batch goes through the trained model in evaluation mode, once as it
was and once with everything exchanged but one example; its output must be the same but for rounding (eight steps
between the numbers that its type has at the largest output). Where its noise moves it, or its shape, and lengths come with the
examples, the lengths stay.
Where targets are the inputs moved by one, the second half of each sequence is exchanged, and the outputs of
the first half must stay.

Fails on: outputs that move with the batch mates (a wrong axis, view for transpose, batch_first, statistics of
the batch in evaluation), or that come in another row; a next-token model that sees the future, or only it; one whose targets are the very tokens that it sees, or those after the next.
A pass proves independence for this batch and these weights. With rows that are all the same, or an output that
nothing moves, the answer is open, as it is for what rounding in half precision may do as well.
Of a model that gives back nothing but its loss the two largest modules inside are asked that take and give a row per example; there
mixing is a note.
Cost: four calls of the model, once. Cannot see: full-batch models of graphs (their rows belong together),
mixing that happens in training mode alone, or behind the modules of one that gives back its loss, models called by other methods than forward.

Bad:
    x = x.view(x.shape[1], x.shape[0], -1)

Good:
    x = x.transpose(0, 1)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.probes._inspected import finding, models, parts, told, unanswered
from trainsleuth.trace import Event, Trace, shown

EXPERIMENT = "observe"
BY = "probe:independence"
SURELY_ROUNDED = 1e-5  # of the largest output; numbers of half precision round by more, and may hide what mixes


def probe(trace: Trace) -> Iterator[Finding]:
    for model in models(trace):
        yield _mates(model)
        if model.get("copies"):
            yield from _copying(model)
        elif model.get("causal") is not None:
            yield _future(model)
        if model.get("twice"):
            yield _moved_twice(model)
    for part in parts(trace):
        if (found := _mates(part)).outcome == "fail" and part.get("axis_1_effect") != 0.0:
            is_order = any(row != part["own_row"] for row in part.get("lands") or ())
            yield (
                found if is_order else replace(found, severity="note", confidence="low")
            )  # a loss may compare examples
    yield from unanswered(trace, BY, "whether examples are independent of each other")


def _mates(model: Event) -> Finding:
    what = told(model)
    effect, along = model.get("mates_effect"), model.get("axis_1_effect")
    if effect is None:
        why = (
            "with other batch mates its output has another shape"
            if "scale" in model
            else "no output has a row per example"
        )
        return _open(model, model.get("why") or why)
    measured = {"effect": effect, "largest_output": model["scale"], "rows": model["rows"]}
    if effect == 0.0 and (why := _unmoved_anyhow(model)):
        return _open(model, why)
    rounded = model.get("rounded")
    if rounded and rounded > SURELY_ROUNDED * model["scale"]:
        return _open(
            model,
            f"its output moves by {rounded:.3g} of {model['scale']:.3g}, which rounding to its type can do as well",
        )
    if effect == 0.0 and model.get("same_lengths"):
        return _open(
            model,
            "one example's output stays the same with batch mates of the same lengths; with others it moves, as it does where noise is drawn "
            "in the order of the lengths, or where rows are as long as the longest",
        )
    if effect == 0.0:
        exactly = f"but for rounding ({rounded:.3g} of {model['scale']:.3g})" if rounded else "to the last bit"
        return finding(BY, model, "pass", f"{what}: one example's output is the same with other batch mates, {exactly}",
                       confidence="high", measured=measured)  # fmt: skip
    if model["pairwise"] or model["compares"]:
        return _open(model, "it compares the examples of a batch with each other, or is given a graph")
    swapped = (
        "; along axis 1 its outputs are independent, so that is the axis it takes for the batch" if along == 0.0 else ""
    )
    if not model["by_loader"] and (not model["moves"] or swapped):
        return _open(
            model,
            f"its output moves by {effect:.3g} with the other rows, but no loader shows that rows are examples{swapped}",
        )
    if any(row != model["own_row"] for row in model.get("lands") or ()):
        return _in_another_order(model, what, measured)
    return finding(
        BY, model, "fail",
        f"{what} mixes examples: in evaluation mode an example's output moves by {effect:.3g} of {model['scale']:.3g} when only "
        f"its batch mates change{swapped}; expected no change at all",
        severity="warning", confidence="high" if model["by_loader"] else "medium", measured=measured,
        suspects=("wrong-axis-or-mask",), claims=("backprop-dependency-check", "view-vs-permute"),
        next="look for view or reshape where transpose is meant, batch_first, softmax or a norm over axis 0",
    )  # fmt: skip


def _in_another_order(model: Event, what: str, measured: dict[str, Any]) -> Finding:
    """Each example moves one row of each output, and that is not its own."""
    row, lands = model["own_row"], model["lands"]
    elsewhere = sum(one != row for one in lands)
    if model["tells_order"]:
        return _open(model, f"its rows come back in another order, and whole numbers come with them that may say in which: example {row} is "
                     f"row {next(one for one in lands if one != row)}")  # fmt: skip
    are_all = elsewhere == len(lands)
    which = "its outputs come" if are_all else f"{elsewhere} of its {len(lands)} outputs come"
    return finding(
        BY, model, "fail",
        f"{what} gives rows back in another order than its examples: {which} with example {row} in row "
        f"{next(one for one in lands if one != row)}, in evaluation mode; expected each example in its own row",
        severity="warning" if are_all else "note", confidence="medium" if are_all else "low", measured=measured,
        suspects=("targets-misaligned-with-inputs",), claims=("backprop-dependency-check",),
        next="where rows are sorted on the way, as by length, undo it in all that is returned",
    )  # fmt: skip


def _unmoved_anyhow(model: Event) -> str:
    """Why an output that stays the same tells nothing; "" when it does."""
    if not model["inputs_differ"]:
        return f"the {model['rows']} rows of the last batch are all the same"
    return "" if model["input_effect"] else "its output is the same for every example, so nothing could move it"


def _future(model: Event) -> Finding:
    what = f"{model['cls']} called at {shown(model)}"
    if model["causal"] and not model["later_moved"]:
        return finding(BY, model, "open", f"whether {what} sees the future stays open: no output moves when later tokens change",
                       next="run the probe input_matters")  # fmt: skip
    if model["causal"]:
        return finding(BY, model, "pass", f"{what}: nothing said in the first {model['positions']} positions moves when later tokens change",
                       confidence="high", measured={"positions": model["positions"]})  # fmt: skip
    return finding(
        BY, model, "fail",
        f"{what} sees the future: outputs at {model['moved_positions']} of the first {model['positions']} positions move by up to "
        f"{model['future_effect']:.3g} when only later tokens change, though its targets are the next tokens; expected no change",
        severity="error", confidence="high",
        measured={"moved_positions": model["moved_positions"], "positions": model["positions"], "effect": model["future_effect"]},
        suspects=("wrong-axis-or-mask",), claims=("backprop-dependency-check",),
        next="check the mask of every attention, and that convolutions are padded on the left only",
    )  # fmt: skip


def _copying(model: Event) -> Iterator[Finding]:
    """A model that sees each token and no later one, and is asked for that token."""
    if model.get("reversed"):
        yield _reversed(model)
    if not model["causal"] or not model["own_moved"]:
        return  # an autoencoder, or one that moves its inputs by one itself
    yield finding(
        BY, model, "fail",
        f"{model['cls']} called at {shown(model)} learns to copy: the targets of the loss are the tokens that enter it, at the same "
        "positions, and each output sees its own token and no later one; expected the next tokens as targets",
        severity="error", confidence="high", family="data", suspects=("targets-misaligned-with-inputs",),
        measured={"positions": model["positions"]}, claims=("off-by-one-target",),
        next="compare logits[:, :-1] with labels[:, 1:], or let the model shift the labels that it is given",
    )  # fmt: skip


def _reversed(model: Event) -> Finding:
    """Asked for each token, it sees that one and those behind it, and none before."""
    return finding(
        BY, model, "fail",
        f"{model['cls']} called at {shown(model)} sees the future and not the past: when a token changes, so does what is said at its own place, "
        "which the loss asks for, and earlier ones do not count at later places; expected it the other way round",
        severity="error", confidence="high", suspects=("wrong-axis-or-mask",), claims=("backprop-dependency-check",),
        measured={"positions": model["positions"]},
        next="turn the mask of the attention: what lies behind the place is to be hidden (triu with diagonal=1)",
    )  # fmt: skip


def _moved_twice(model: Event) -> Finding:
    """The labels that enter are the next tokens already, and the loss compares with those after them."""
    return finding(
        BY, model, "fail",
        f"{model['cls']} called at {shown(model)} moves its labels twice: those that enter it are the next tokens, and the targets of the loss "
        "are the tokens after the next; expected the next tokens as targets",
        severity="error", confidence="high", family="data", suspects=("targets-misaligned-with-inputs",),
        measured={"places": 2}, claims=("off-by-one-target",),
        next="give the model labels equal to the inputs where it moves them itself, or take the shift out of the collate function",
    )  # fmt: skip


def _open(model: Event, why: str) -> Finding:
    return finding(BY, model, "open", f"whether {model['cls']} keeps examples apart stays open: {why}",
                   next="give one example alone and in a batch, in evaluation mode, and compare")  # fmt: skip
