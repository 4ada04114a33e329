"""Which parameters does an optimizer hold, which of them get a gradient, and which really move?

Membership x gradient x change for every parameter of every module that the program called, from real
values: a copy compared between steps. Also what the loss depends on by its autograd graph, so that
parameters hidden in a plain list are found although no module names them.

Fails on: a loss that reaches no parameter of any optimizer; parameters that get gradients but belong to no optimizer,
some of a trained module or all of another (open when weights were loaded into it, or from a file: it may be meant so), while an optimizer
may hold a copy that gets none; hidden parameters; an
optimizer whose parameters are all frozen; parameters that no gradient ever reaches, when they are a large share or
lie behind a detach, or run with gradients switched off in a forward that has them, or that only get gradients of exactly zero
(for those of a recurrent layer that is called less than five times, for one step each, a note); steps that change nothing, less than a millionth, or
less than half precision can hold (a note where a smaller part of the parameters stands still for it); one of several optimizers that never steps (a note while the program runs on and nothing clears its gradients); weights that decay away; steps of a
tenth of the weights, or more, with a loss that ends above its start; gradients that hardly reach the first layers; an
embedding and an output layer that began as equal copies; a line that called a copy of the model and then calls the
trained model itself (a target network whose name was rebound); an average or target network of which each update takes over
nearly all of the trained weights, not all, and always the same share (its two factors are exchanged); an average that takes the trained weights away (one that keeps less at each update is a note); one of two copies that
is updated from the network of the other. A copy of the model that never moves, or is saved with the
values from before training, or is updated softly and never used, is a note; so are norms that forward() makes anew, and
parameters that are read while their module is never called, when what is computed from them is detached and nothing moves them. A
model of which a quarter is frozen or more, with no weights that torch was seen to load, is open.
A pass rules these out for the steps seen; it does not say that the updates are useful.
Cost: one copy of the parameters, gradient norms at a few steps; a look at a sample of each average for a few dozen updates.
Cannot see: whether a frozen or unreached part is meant to be so when weights were loaded, parameters of
modules that are never called, updates outside torch optimizers where there is one, too (they show as changes only). Without
any, parameters that get gradients and never move while others are changed by hand fail (a note where weights were loaded).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Link
from trainsleuth.trace import Event, Trace, place, shown

from . import _by_hand, _copies, _reach, _soft_updates, _updates
from ._in_another_optimizer import waits
from ._parameters import MEANINGFUL_SHARE, Row, Table, fail, names, read_table
from ._vanishing import vanishing

EXPERIMENT = "observe"
READS = ("trace", "parameters", "soft_updates", "by_hand")
MOST = 0.25  # of a module's elements; a frozen part that is smaller is the likelier meant so


def probe(trace: Trace) -> Iterator[Finding]:
    table = read_table(trace)
    if not trace.stepping and (by_hand := [*_by_hand.left_behind(trace)] or [*_by_hand.moved(trace)]):
        yield from by_hand
        return
    if table is None or not trace.stepping:
        yield _nothing_to_compare()
        return
    twins = {number for _, number in _copies.twins_swapped(trace, table)}
    strangers = list(_copies.wrong_twin(trace, table)) + list(_untrained(trace, table))
    found = strangers or list(_reach.loss_reaches_nothing(trace))
    found += _reach.hidden(trace)
    found += _left_out(trace, table)
    misses = bool(strangers) or any(_copies.is_never_reached(table.of(optimizer)) for optimizer in trace.stepping)
    for optimizer in trace.stepping:
        frozen = [] if optimizer in twins else _frozen(trace, table, optimizer)
        found += frozen or _updates.steps_on_nothing(trace, table, optimizer, bool(found))
        found += _reach.unreached(trace, table, optimizer)
        cut = _reach.read_and_cut(trace, table, optimizer)
        found += cut
        misses |= bool(cut)
        found += _reach.only_zeros(trace, table, optimizer)
        found += _updates.shrunk(trace, table, optimizer)
        found += _updates.stands_still(trace, table, optimizer) or _updates.rounded_off(trace, table, optimizer)
    idle = list(_updates.idle(trace, table))
    waiting = [] if idle else list(waits(trace, table))
    misses |= bool(waiting)
    found += idle + waiting
    found += _copies.taken_over(table)
    found += _copies.left_behind(trace, table)
    found += _copies.saved_as_it_began(trace)
    found += _soft_updates.exchanged(trace)
    found += _soft_updates.with_less(trace)
    found += _soft_updates.forgets(trace)
    found += _soft_updates.of_another(trace)
    found += _soft_updates.never_called(trace)
    found += _copies.untied(table)
    found += _updates.too_fast(trace, table)
    found += vanishing(trace, table)
    yield from found
    yield from _summary(trace, table, bool([f for f in found if f.is_alarm]), misses)


def _nothing_to_compare() -> Finding:
    return Finding(
        by="probe:parameter_table",
        outcome="open",
        message="no optimizer step was seen, so membership, gradients and changes could not be compared",
        next="give a command that takes at least two optimizer steps",
    )


def _left_out(trace: Trace, table: Table) -> Iterator[Finding]:
    """Trainable parameters of a trained module that get gradients and that no optimizer holds."""
    for root in sorted(table.trained_roots):
        rows = [r for r in table.rows if r.root == root]
        lost = [r for r in rows if r.optimizer is None and r.trainable and r.gradients > r.zeros]
        if not lost or any(row.changed for row in lost):
            continue
        step = trace.ops("step")[0]
        number = next(r.optimizer for r in rows if r.optimizer is not None)
        born = trace.optimizer(number)
        share = sum(r.elements for r in lost) / sum(r.elements for r in rows)
        replaced = next((e for e in trace.events("module_replaced") if _is_about(e, lost)), None)
        how = f"; {replaced['name']} was replaced at {shown(replaced)}" if replaced else ""
        born_path, born_line = place(born.get("site"))
        yield fail(
            (replaced or born).get("site") or step.get("site"),
            f"{len(lost)} parameters of {table.roots[root]} ({share:.1%} of its elements: {names(lost)}) get gradients "
            f"but belong to no optimizer and never change over {table.steps} steps; {born.get('cls')} was built at "
            f"{shown(born)} without them{how}; expected all trainable parameters in it",
            "optimizer-misses-parameters",
            chain=(Link(born_path, born_line, "builds the optimizer"),) if born_path and born_line else (),
            measured={"left_out": len(lost), "share": round(share, 4), "steps": table.steps},
            next="build the optimizer after the last module is added or replaced, from model.parameters()",
            claims=("updates-not-applied",),
        )


def _untrained(trace: Trace, table: Table) -> Iterator[Finding]:
    """Modules of which every trainable parameter gets gradients, while no optimizer holds any."""
    held = [row for row in table.rows if row.optimizer is not None]
    strange = not any(row.called for row in held)  # the optimizer was built over another module
    if _reach.are_given_by_hand(trace):
        return
    told_of = {root for root, _ in _copies.twins_swapped(trace, table)}
    for root in sorted(
        {row.root for row in table.rows if row.root is not None} - table.trained_roots - table.copies - told_of
    ):
        rows = [row for row in table.rows if row.root == root and row.trainable]
        if not rows or not all(row.gradients > row.zeros and row.optimizer is None for row in rows):
            continue
        if any(row.changed for row in rows):
            continue
        born = trace.optimizer(trace.stepping[0])
        path, line = place(born.get("site"))
        told = (
            f"all {len(rows)} trainable parameters of {table.roots[root]} ({names(rows)}) get gradients but belong to no optimizer and never "
            f"change over {table.steps} steps; "
        )
        if _may_be_loaded(trace, root) and not strange:
            yield Finding(
                by="probe:parameter_table",
                outcome="open",
                family="optimizer",
                path=path,
                line=line,
                message=f"{told}weights were loaded, so it may be meant to stay as it is",
                next="freeze it with requires_grad_(False), which saves its gradients, or give it to the optimizer",
            )
            continue
        own = f"{born.get('cls')} was built at {shown(born)} "
        yield fail(
            born.get("site"),
            told
            + own
            + ("over parameters of nothing that runs" if strange else "without them")
            + "; expected them in it",
            "optimizer-misses-parameters",
            severity="error" if strange else "warning",
            confidence="high" if strange else "medium",
            chain=(Link(path, line, "builds the optimizer"),) if path and line else (),
            measured={"left_out": len(rows), "steps": table.steps},
            next="build the optimizer from the parameters of all modules that are to learn, after the last of them is made",
            claims=("updates-not-applied",),
        )


def _may_be_loaded(trace: Trace, root: int) -> bool:
    """Weights came into it, or may have come from a file by another way; not where others are copied from it."""
    loads = trace.ops("weights_loaded")
    given = trace.events("given_weights")
    if not given or given[-1]["other_files"] or any(load["cls"] == "torch.load" for load in loads):
        return bool(loads)
    return root in given[-1]["roots"]


def _kept_out(table: Table) -> tuple[str, float]:
    """What is frozen and in no optimizer, in words, and its share of the trained modules' elements."""
    rows = [r for r in table.rows if r.root in table.trained_roots]
    frozen = [r for r in rows if r.optimizer is None and not (r.trainable or r.gradients or r.changed)]
    share = sum(r.elements for r in frozen) / max(1, sum(r.elements for r in rows))
    if not frozen:
        return "", 0.0
    return (
        f"{len(frozen)} others ({share:.1%} of the elements: {names(frozen)}) have requires_grad=False and stay as they are",
        share,
    )


def _is_about(replaced: Event, rows: list[Row]) -> bool:
    """Does the replaced submodule hold one of these parameters, by name?"""
    return any(row.name and replaced["name"] in row.name.split(".") for row in rows)


def _frozen(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Parameters handed to an optimizer although they never require a gradient; a copy of trained ones is told as that."""
    rows = table.of(optimizer)
    still = [r for r in rows if not r.trainable and not r.gradients and not r.changed]
    copied = table.copied(still) if len(still) < len(rows) else []
    frozen = [r for r in still if r not in copied]
    total = sum(r.elements for r in rows)
    told = [_copies.held_still(trace.optimizer(optimizer), copied, table)] if copied else []
    if not frozen or not total:
        return told
    share = sum(r.elements for r in frozen) / (total - sum(r.elements for r in copied))
    born = trace.optimizer(optimizer)
    loaded = bool(trace.ops("weights_loaded"))
    alarming = share == 1.0 or (
        (share >= MEANINGFUL_SHARE or len(frozen) >= (len(rows) - len(copied)) / 2) and not loaded
    )
    why = "no weights were loaded, so they stay at their random start" if not loaded else "weights were loaded before"
    return [
        *told,
        fail(
            born.get("site"),
            f"{len(frozen)} of {len(rows) - len(copied)} parameters ({share:.1%} of elements: {names(frozen)}) in "
            f"{born.get('cls')} built at {shown(born)} have requires_grad=False and never change; {why}",
            "frozen-parameters",
            severity=("error" if share == 1.0 else "warning") if alarming else "note",
            confidence="high" if alarming else "low",
            measured={"frozen": len(frozen), "share": round(share, 4)},
            next="search for requires_grad_(False) or requires_grad = False and decide whether this part is meant to learn",
            claims=("frozen-layers",),
        ),
    ]


def _summary(trace: Trace, table: Table, failed: bool, misses: bool) -> Iterator[Finding]:
    held = [r for r in table.rows if r.optimizer is not None]
    moved = sum(r.changed for r in held)
    ratios = sorted(r.ratio for r in held if isinstance(r.ratio, float) and r.ratio > 0)
    median = ratios[len(ratios) // 2] if ratios else 0.0
    born: Event = trace.optimizer(trace.stepping[0])
    path, line = place(born.get("site"))
    frozen, share = _kept_out(table)
    doubtful = share >= MOST and not trace.ops("weights_loaded")
    still = bool(held) and not moved and not failed
    yield Finding(
        by="probe:parameter_table",
        outcome="open" if doubtful or still or (misses and not failed) else "pass",
        confidence="high",
        family="optimizer",
        path=path,
        line=line,
        message=f"{moved} of {len(held)} parameters in {len(trace.stepping)} optimizer(s) changed over {table.steps} steps, "
        f"{sum(r.gradients > 0 for r in held)} received gradients"
        + ("" if failed or misses else "; none that requires a gradient is missing")
        + (" (changes judged on a sample of each)" if table.sampled else "")
        + (f"; {frozen}" if frozen else "")
        + ("; whether they learn is open, for nothing has moved yet" if still else "")
        + (
            "; whether they were to learn is open, for torch was not seen to load weights into them (other readers, like safetensors, are not watched)"
            if doubtful
            else ""
        ),
        next="search for requires_grad_(False) or requires_grad = False" if doubtful else "",
        measured={"held": len(held), "changed": moved, "median_update_ratio": median},
    )
