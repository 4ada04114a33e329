"""What shape has every layer's output in one training step?

Lists each module's inputs and outputs of the first training call in the order of the calls, with dtype and
size, and every softmax with its axis.

Fails on: a softmax over the batch axis, when the model was then seen to mix its examples; a view that regroups the numbers of
different rows, where axes were to change places: the channels of a convolution read as the last axis, rows as channels, or two
neighbouring axes exchanged. The largest value of an output taken over another axis than that which the loss takes for the classes is a note.
A pass shows the first and last layers; the whole list stands in the run's events ("layers").
Cost: one slower step. Cannot see: operations between modules, other than softmax and views; views of data behind the first step;
axes of equal length.

Bad:
    weights = scores.softmax(0)

Good:
    weights = scores.softmax(-1)

Bad:
    rows = convolved.view(-1, channels)

Good:
    rows = convolved.permute(0, 2, 3, 1).reshape(-1, channels)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

from ._picked_axes import picked_over_another_axis
from ._regrouped import regrouped
from ._roots import models_among

EXPERIMENT = "observe"
READS = ("layers", "losses", "picked_axes")
SHOWN = 8


def probe(trace: Trace) -> Iterator[Finding]:
    yield from regrouped(trace.events("graph"))
    yield from picked_over_another_axis(trace)
    tables = trace.events("layers")
    if not tables:
        yield Finding(by="probe:shapes", outcome="open", family="architecture",
                      message="no call of a module in training mode was seen, so no shape was read")  # fmt: skip
        return
    found = list(_softmax_over_batch(trace))
    yield from found
    if not found:
        yield from _softmax_in_doubt(trace)
        models = models_among((table["root"] for table in tables), trace)
        yield from (_pass(trace, table) for table in tables if table["root"] in models)


def _softmax_over_batch(trace: Trace) -> Iterator[Finding]:
    """The line that mixes examples, where the model as a whole was seen to mix them."""
    mixing = [model for model in trace.events("inspected") if model.get("mates_effect")]
    sizes = {model["rows"] for model in mixing}
    for event in trace.events("activation")[-400:]:
        if event["fn"] not in ("softmax", "log_softmax") or event.get("axis") != 0 or event["shape"][0] not in sizes:
            continue
        path, line = place(event.get("site"))
        yield Finding(
            by="probe:shapes", outcome="fail", severity="warning", confidence="high", family="architecture", path=path, line=line,
            message=f"{event['fn']} at {shown(event)} runs over axis 0 of {event['shape']}, the axis of the examples, and the "
            "model's outputs move with the batch mates; expected the axis of the classes or positions",
            measured={"axis": 0}, suspects=("wrong-axis-or-mask",), next="pass dim=-1 (or 1) and run the probe independence again",
            claims=("backprop-dependency-check",),
        )  # fmt: skip
        return


def _softmax_in_doubt(trace: Trace) -> Iterator[Finding]:
    """A softmax over axis 0 in a program whose model could not be called again: whether that is the batch is not known."""
    if any(model.get("mates_effect") is not None for model in trace.events("inspected")):
        return
    for event in trace.events("activation"):
        if event["fn"] in ("softmax", "log_softmax") and event.get("axis") == 0 and len(event["shape"]) > 1:
            path, line = place(event.get("site"))
            yield Finding(
                by="probe:shapes", outcome="open", family="architecture", path=path, line=line,
                message=f"whether {event['fn']} at {shown(event)} over axis 0 of {event['shape']} runs over the examples stays open: the "
                "model could not be called again with other batch mates",
                next="look which axis holds the examples there",
            )  # fmt: skip
            return


def _pass(trace: Trace, table: Event) -> Finding:
    root: Event = next((event for event in trace.events("root") if event["root"] == table["root"]), {})
    rows = table["rows"]
    leaves = rows if len(rows) <= SHOWN else [*rows[: SHOWN // 2], *rows[-SHOWN // 2 :]]
    text = ", ".join(_row(row) for row in leaves)
    path, line = place(root.get("site"))
    return Finding(
        by="probe:shapes", outcome="pass", confidence="medium", family="architecture", path=path, line=line,
        message=f"{root.get('cls', 'the model')}: {len(rows)} layer calls in one step, first and last: {text}",
        measured={"layers": len(rows)},
    )  # fmt: skip


def _row(row: list[Any]) -> str:
    name, cls, given, out, dtype, *_ = row
    return f"{name} {cls} {given[0] if given else '?'} to {out[0] if out else '?'}{'' if dtype in (None, 'float32') else ' ' + dtype}"
