"""What enters the model, batch by batch: are these the examples that were meant?

Reads the batches as the model gets them and as the loader gives them: shapes, ranges, labels, and a code
of every example, so that repeated examples are counted over batches, workers and the split. Pictures are
written as a PNG grid, sound as WAV and spectrogram, token ids are decoded when a tokenizer is in reach.

Fails on: batches in which all examples are the same; a loader that gives the same batch again and again;
examples that come once per worker; evaluation examples that were trained on; evaluation inputs on another
scale than training inputs, or with NaN or inf where training has none, or with the examples along another axis; batches of a single class each; targets that are one value in every batch (a note where that is but the end of a window),
or that the program makes of one class for all its losses of two; two views of each example (two calls of a module before one backward, or two parts
of its batch) that are equal in what goes in, comes out and comes back as gradient; a table with its target among the columns, or a window
whose last step is the target, as it is or with a scale for each series. A target at another place, or beside other terms of the loss, is a note: to recall it may be the task.
So does a mask of padding that the batches hold, which the model could take, is given in no training call, and which, given to it at the
end of the run, moves its outputs where no padding stands; where that cannot be tried it is a note.
Two tensors that are made apart, enter a model together and are equal in every call are a note as well, as is a target on another scale where it evaluates.
A pass shows ranges and counts and rules these out for the batches seen. Whether a label is right only a
person can see: look at the files.
Cost: a few percent, limited by itself: when it takes longer, only every tenth batch is read.
Cannot see: inputs that are no batch of plain tensors; an overlap of examples that are augmented anew each time, unless
the data sets keep them as tensors, arrays or paths; equal views that go to two modules, as an encoder and its average; a target
of a loss written by hand, or in what enters an encoder whose head the program calls by itself; a mask in batches that are no tables of tensors
by name, or that a module inside of the one that is called should be given.

Bad:
    self.generator = numpy.random.default_rng(0)  # each worker has the same one

Good:
    worker_init_fn=lambda worker: dataset.reseed(base_seed + worker)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

from ._batch_axes import turned_in_evaluation
from ._batch_masks import mask_left_out
from ._batch_repeats import alike, equal_inputs, overwritten, repeated, standing, standing_between
from ._batch_targets import target_in_input
from ._batch_values import constant_targets, one_class_made, other_scale, other_targets, single_class, spoilt
from ._batch_views import equal_views
from ._batch_words import NEEDED_BATCHES, described, labels_in_words, latest
from ._roots import models_among
from ._split_leaks import leaked, stored_twice

EXPERIMENT = "observe"
READS = ("batches", "views", "target_leaks", "masks", "batch_axes")


def probe(trace: Trace) -> Iterator[Finding]:
    entered = [event for event in trace.events("entered") if event["role"] == "train"]
    if not entered:
        yield Finding(by="probe:batch_as_seen", outcome="open", family="data",
                      message="no batch of two examples or more entered a module in training mode, so none was looked at",
                      next="print what enters the loss by hand")  # fmt: skip
        return
    rules = (
        alike,
        standing,
        standing_between,
        repeated,
        leaked,
        stored_twice,
        other_scale,
        other_targets,
        spoilt,
        single_class,
        constant_targets,
        one_class_made,
        overwritten,
        equal_inputs,
        equal_views,
        target_in_input,
        mask_left_out,
        turned_in_evaluation,
    )
    found = [finding for rule in rules for finding in rule(trace)]
    yield from found
    if not any(finding.is_alarm for finding in found):
        yield from _passes(trace, entered)


def _passes(trace: Trace, entered: list[Event]) -> Iterator[Finding]:
    told: dict[int, Event] = {}
    for event in entered:
        told.setdefault(event["root"], event)
    for root in models_among(told, trace):
        event = told[root]
        rows = [r for r in latest(trace, "rows", "role", "root", "loader") if (r["role"], r["root"]) == ("train", root)]
        path, line = place(event.get("site"))
        main = next(t for t in event["tensors"] if t["name"] == event["main"])
        total, distinct, telling = (sum(r[key] for r in rows) for key in ("rows", "distinct", "telling"))
        read, calls = (sum(r[key] for r in rows) for key in ("read", "calls"))
        few = read < NEEDED_BATCHES
        files = [f"{one['what']}: {one['path'] or ' / '.join(one['lines'])}" for one in event["shown"]]
        yield Finding(
            by="probe:batch_as_seen", outcome="open" if few else "pass", confidence="medium", family="data", path=path, line=line,
            message=f"{event['cls']} at {shown(event)} gets {described(main)}; {total} rows in {read} batches"
            + (f" of {calls}" if read < calls else "") + (f", {distinct} distinct of {telling} that can be told apart" if telling else "")
            + labels_in_words(trace) + (f"; fewer than {NEEDED_BATCHES} batches do not show whether they repeat" if few else "") + "".join(f". {one}" for one in files),
            measured={"rows": total, "distinct": distinct, "batches": read},
            next="look at the files: are these the examples that were meant, and do the labels fit?" if files else "",
        )  # fmt: skip
