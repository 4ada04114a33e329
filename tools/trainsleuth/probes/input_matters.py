"""Does what the model says depend on what it is shown?

When the run is over, the last training batch goes through the trained model again, in evaluation mode and
without gradients, as it was and with its examples exchanged among the rows, then those of each argument alone. The
outputs are compared exactly.

Fails on: outputs that are the same for every example although the examples differ: dead units, an input that
is multiplied by zero or overwritten, a head that sees only its bias; one of several arguments that has no effect. Columns of a
table that have none, and a model with attention that says the same whatever the order of its tokens, are notes.
Lengths, whole numbers with one value for each sequence, may go unused. Where an example hardly moves the output, it is open.
A pass means that at least one example changes its output; not that the model uses the right part of it.
Of a model that gives back nothing but its loss the largest modules inside are asked, and an argument without effect is a note.
Cost: three calls of the model, once. Cannot see: models spread over ranks.

Bad:
    x = self.norm(x) * self.gate  # gate is zero and gets no gradient

Good:
    x = x + self.norm(x) * self.gate
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainsleuth.finding import Confidence, Finding, Severity
from trainsleuth.probes._inspected import finding, models, parts, told, unanswered
from trainsleuth.probes._parameters import read_table
from trainsleuth.probes._updates import too_fast
from trainsleuth.trace import Event, Trace

EXPERIMENT = "observe"
BY = "probe:input_matters"
NEEDED_ROWS = 4  # by chance fewer could give the same output
HARDLY = 1e-3  # of the largest output: less may be a model that says the same of everything, or a large constant in it
NEEDED_STEPS = 5  # a last layer that starts at zero says the same of everything until it has learned


def probe(trace: Trace) -> Iterator[Finding]:
    for model in models(trace):
        found = _judge(trace, model)
        yield _after_large_steps(found) if found.is_alarm and _steps_are_large(trace) else found
        if found.outcome == "pass" and model.get("unordered"):
            yield _without_order(model)
    yield from (
        _without_one(part, idle) for part in parts(trace) if trace.steps >= NEEDED_STEPS and (idle := _idle(part))
    )
    yield from unanswered(trace, BY, "whether the input matters for the output")


def _steps_are_large(trace: Trace) -> bool:
    """Steps rewrite the weights: no unit may have survived them."""
    table = read_table(trace)
    return table is not None and bool(too_fast(trace, table))


def _after_large_steps(found: Finding) -> Finding:
    return replace(
        found, severity="note", suspects=("learning-rate-too-high",),
        message=f"{found.message}. Each step changes the weights by a large part of themselves (probe parameter_table), which alone can do that",
        next="mend the size of the steps first",
    )  # fmt: skip


def _judge(trace: Trace, model: Event) -> Finding:
    what = told(model)
    if "input_effect" not in model:
        return finding(BY, model, "open", f"whether the input of {what} matters stays open: {model['why']}")
    if not model["inputs_differ"] or model["rows"] < NEEDED_ROWS or trace.steps < NEEDED_STEPS:
        return finding(BY, model, "open", f"whether the input of {what} matters stays open: the last batch held "
                       f"{model['rows']} rows{'' if model['inputs_differ'] else ', all the same'}, after {trace.steps} steps")  # fmt: skip
    measured = {"effect": model["input_effect"], "largest_output": model["scale"], "rows": model["rows"]}
    if model["input_effect"] == 0.0:
        return _without_effect(
            model, measured, "high",
            f"{what} says exactly the same of all {model['rows']} examples of the last batch, though they differ, after "
            f"{trace.steps} steps; expected other outputs for other inputs",
            "look at the activations layer by layer (probe activations): where does the first layer become constant?",
        )  # fmt: skip
    if idle := _idle(model):
        named = ", ".join(map(repr, idle))
        return _without_effect(
            model, measured, "medium",
            f"{what}: exchanging {named} alone among the {model['rows']} examples changes no output at all, though the examples "
            f"differ there, after {trace.steps} steps; expected each input to matter",
            "follow this argument through the forward pass: is it dropped, overwritten or masked out?",
        )  # fmt: skip
    if model.get("shapes"):
        named = ", ".join(map(repr, model["shapes"]))
        return _without_effect(
            model, measured, "low",
            f"{what} takes nothing but the shape of {named}, so exchanging it among the {model['rows']} examples changes no output: "
            "is that meant?",
            "read what the forward pass does with this argument", "note",
        )  # fmt: skip
    if columns := model.get("unread_columns"):
        return _without_columns(model, columns)
    if model["input_effect"] < HARDLY * model["scale"]:
        return finding(
            BY, model, "open",
            f"whether the input of {what} matters stays open: exchanging examples moves the output by no more than "
            f"{model['input_effect']:.3g} of {model['scale']:.3g}, next to nothing, after {trace.steps} steps",
            measured=measured, next="print the outputs of ten different examples, and the activations layer by layer (probe activations)",
        )  # fmt: skip
    return finding(
        BY, model, "pass",
        f"{what}: exchanging examples moves the output by up to {model['input_effect']:.3g} of {model['scale']:.3g}",
        confidence="high", measured=measured,
    )  # fmt: skip


def _without_columns(model: Event, columns: list[int]) -> Finding:
    """Of a table that enters the model some columns have no effect. Gates that choose among them, or an actor that sees a part of
    the state, mean it so: it asks.
    """
    count, width = len(columns), model["shape"][1]
    shown_ones = ", ".join(map(str, columns[:5])) + (f" to {columns[-1]}" if count > 5 else "")
    return _without_effect(
        model, {"columns": count, "of": width}, "medium",
        f"{told(model)}: {count} of the {width} columns that enter it ({shown_ones}) can be exchanged among the {model['rows']} examples without any "
        "change of what it says, though they differ: are they left out on purpose?",
        "look at how the columns are taken apart: an index that stays, a slice that ends too soon, a mask", "note",
    )  # fmt: skip


def _idle(model: Event) -> list[str]:
    """Arguments that can be exchanged among the examples without any effect, though not only their shape is taken."""
    return [name for name in model.get("idle", ()) if name not in model.get("shapes", ())]


def _without_one(part: Event, idle: list[str]) -> Finding:
    """Inside of a model arguments may be handed on for other cases: it asks."""
    return _without_effect(
        part, {"rows": part["rows"]}, "low",
        f"{told(part)}: exchanging {', '.join(map(repr, idle))} alone among the {part['rows']} examples changes nothing that it gives back: is "
        "that meant?",
        "follow this argument through its forward pass: is it dropped, overwritten or masked out?", "note",
    )  # fmt: skip


def _without_order(model: Event) -> Finding:
    """Of a set of tokens that is meant so, so it asks."""
    return _without_effect(
        model, {"positions": model["shape"][1]}, "medium",
        f"{told(model)} has attention and says the same whatever the order of the tokens between the first and the last: the order of "
        f"{model['shape'][1]} positions does not reach it. Is a position encoding missing, or made and not added?",
        "look at how positions enter: x = embedding(tokens) + positions(tokens)", "note",
    )  # fmt: skip


def _without_effect(
    model: Event, measured: dict[str, Any], confidence: Confidence, message: str, next_test: str,
    severity: Severity = "warning",
) -> Finding:  # fmt: skip
    return finding(
        BY, model, "fail", message, severity=severity, confidence=confidence, measured=measured,
        suspects=("input-does-not-matter",), next=next_test, claims=("random-input-test", "zero-input-baseline"),
    )  # fmt: skip
