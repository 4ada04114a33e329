"""Which parameters does an optimizer hold, which of them get a gradient, and which really move?

Membership x gradient x change for every parameter of every module that the program called, from real
values: a copy compared between steps. Also what the loss depends on by its autograd graph, so that
parameters hidden in a plain list are found although no module names them.

Fails on: a loss that reaches no parameter of any optimizer; parameters that get gradients but belong to
no optimizer; hidden parameters; an optimizer whose parameters are all frozen; a large share of an
optimizer's parameters that no gradient ever reaches; steps that change nothing, or less than a millionth.
Steps of a tenth of the weights, or more, with a loss that ends above its start. A copy of the model that never moves is a note.
A pass rules these out for the steps seen; it does not say that the updates are useful.
Cost: one copy of the parameters, gradient norms at a few steps.
Cannot see: whether a frozen or unreached part is meant to be so when weights were loaded, parameters of
modules that are never called, updates outside torch optimizers (they show as changes only).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from trainsleuth.finding import Confidence, Finding, Link, Severity
from trainsleuth.trace import Event, Trace, place, shown

EXPERIMENT = "observe"
MEANINGFUL_SHARE = 0.25  # of an optimizer's elements; below it an unused output is the likelier reason
NEARLY_ALL = 0.9
NEEDED_READINGS = 2
STARTED_AT_ZERO = 0.2  # of a parameter's norm
STANDS_STILL = 1e-6  # of a parameter's norm, in its largest step; a thousandth is usual
NEEDED_STEPS_TO_STAND = 10
NEEDED_STEPS_TO_FALL = 20
ABOVE_START = 1.5  # times the first loss, over the last third of the steps
LARGE_UPDATE = 0.1  # of a parameter's norm, in its largest step
NEEDED_STEPS_FOR_COPIES = 100


@dataclass(frozen=True)
class Row:
    """One parameter, as the runtime tells it."""

    name: str | None
    root: int | None
    optimizer: int | None
    elements: int
    trainable: bool
    called: bool
    seen: int
    gradients: int
    zeros: int
    biggest: float | str
    changed: bool
    ratio: float | str | None


@dataclass(frozen=True)
class Table:
    rows: tuple[Row, ...]
    roots: tuple[str, ...]
    steps: int
    sampled: bool

    @cached_property
    def trained_roots(self) -> frozenset[int]:
        """Modules of which an optimizer holds at least one parameter."""
        return frozenset(r.root for r in self.rows if r.root is not None and r.optimizer is not None)

    def of(self, optimizer: int) -> list[Row]:
        return [row for row in self.rows if row.optimizer == optimizer]


def probe(trace: Trace) -> Iterator[Finding]:
    table = _table(trace)
    if table is None or not trace.stepping:
        yield Finding(
            by="probe:parameter_table",
            outcome="open",
            message="no optimizer step was seen, so membership, gradients and changes could not be compared",
            next="give a command that takes at least two optimizer steps",
        )
        return
    found = list(_loss_reaches_nothing(trace))
    found += _hidden(trace)
    found += _left_out(trace, table)
    for optimizer in trace.stepping:
        found += _frozen(trace, table, optimizer) or _steps_on_nothing(trace, table, optimizer, bool(found))
        found += _unreached(trace, table, optimizer)
        found += _stands_still(trace, table, optimizer)
    found += _copies_left_behind(table)
    found += _too_fast(trace, table)
    yield from found
    yield from _summary(trace, table, bool([f for f in found if f.is_alarm]))


def _table(trace: Trace) -> Table | None:
    told = trace.events("parameters")
    if not told:
        return None
    last = told[-1]
    return Table(tuple(Row(*row) for row in last["rows"]), tuple(last["roots"]), last["n"], last["sampled"])


def _fail(
    site: str | None,
    message: str,
    suspect: str,
    severity: Severity = "error",
    confidence: Confidence = "high",
    **more: object,
) -> Finding:
    path, line = place(site)
    return Finding(
        by="probe:parameter_table", outcome="fail", severity=severity, confidence=confidence, message=message,
        path=path, line=line, suspects=(suspect,), family="optimizer", **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _loss_reaches_nothing(trace: Trace) -> Iterator[Finding]:
    """Every backward of the first step ends before any parameter that an optimizer holds."""
    graphs = [g for g in trace.events("graph") if sum(g["members"]) and not g["truncated"]]
    if graphs and all(sum(graph["reached"]) == 0 for graph in graphs):
        graph = graphs[0]
        how = (
            "the tensor it starts from has no graph behind it (it was detached, converted or wrapped anew)"
            if graph["detached"]
            else f"the graph of {graph['nodes']} operations behind it ends before them"
        )
        yield _fail(
            graph.get("site"),
            f"backward at {shown(graph)} reaches none of the {sum(graph['members'])} parameters in the optimizer: "
            f"{how}; expected a gradient for them",
            "loss-cut-from-graph",
            measured={"reached": 0, "in_optimizer": sum(graph["members"]), "graph_nodes": graph["nodes"]},
            next="look for .item(), .detach(), .data, .numpy() or torch.tensor(...) between the model's output and this line",
            claims=("detach-breaks-learning",),
        )


def _hidden(trace: Trace) -> Iterator[Finding]:
    """Parameters in the graph that no optimizer and no module registers."""
    strangers = [s for graph in trace.events("graph")[:1] for s in graph["unregistered"]]
    sites = dict.fromkeys((s["site"], s["name"], s["cls"]) for s in strangers)
    for site, name, cls in sites:
        count = sum(s["name"] == name for s in strangers)
        where = f"{cls}.{name.rsplit('.', 1)[-1]}" if name else "a place that no called module names"
        yield _fail(
            site,
            f"the loss depends on {count} parameter tensors kept in {where}, but no module registers them and no "
            "optimizer holds them, so they are never trained, saved or moved to a device; expected nn.ModuleList, "
            "nn.ModuleDict or nn.ParameterList instead of a plain container",
            "unregistered-submodules",
            measured={"tensors": count},
            next="wrap the container and check that sum(p.numel() for p in model.parameters()) grows",
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
        yield _fail(
            (replaced or born).get("site") or step.get("site"),
            f"{len(lost)} parameters of {table.roots[root]} ({share:.1%} of its elements: {_names(lost)}) get gradients "
            f"but belong to no optimizer and never change over {table.steps} steps; {born.get('cls')} was built at "
            f"{shown(born)} without them{how}; expected all trainable parameters in it",
            "optimizer-misses-parameters",
            chain=(Link(born_path, born_line, "builds the optimizer"),) if born_path and born_line else (),
            measured={"left_out": len(lost), "share": round(share, 4), "steps": table.steps},
            next="build the optimizer after the last module is added or replaced, from model.parameters()",
            claims=("updates-not-applied",),
        )


def _is_about(replaced: Event, rows: list[Row]) -> bool:
    """Does the replaced submodule hold one of these parameters, by name?"""
    return any(row.name and replaced["name"] in row.name.split(".") for row in rows)


def _frozen(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Parameters handed to an optimizer although they never require a gradient."""
    rows = table.of(optimizer)
    frozen = [r for r in rows if not r.trainable and not r.gradients and not r.changed]
    total = sum(r.elements for r in rows)
    if not frozen or not total:
        return []
    share = sum(r.elements for r in frozen) / total
    born = trace.optimizer(optimizer)
    loaded = bool(trace.ops("weights_loaded"))
    alarming = share == 1.0 or ((share >= MEANINGFUL_SHARE or len(frozen) >= len(rows) / 2) and not loaded)
    why = "no weights were loaded, so they stay at their random start" if not loaded else "weights were loaded before"
    return [
        _fail(
            born.get("site"),
            f"{len(frozen)} of {len(rows)} parameters ({share:.1%} of elements: {_names(frozen)}) in "
            f"{born.get('cls')} built at {shown(born)} have requires_grad=False and never change; {why}",
            "frozen-parameters",
            severity=("error" if share == 1.0 else "warning") if alarming else "note",
            confidence="high" if alarming else "low",
            measured={"frozen": len(frozen), "share": round(share, 4)},
            next="search for requires_grad_(False) or requires_grad = False and decide whether this part is meant to learn",
            claims=("frozen-layers",),
        )
    ]


def _steps_on_nothing(trace: Trace, table: Table, optimizer: int, explained: bool) -> list[Finding]:
    """No parameter of this optimizer ever has a gradient, or none ever changes."""
    rows = [r for r in table.of(optimizer) if r.trainable]
    if not rows or max(r.seen for r in rows) < NEEDED_READINGS or any(r.changed for r in rows) or explained:
        return []
    step = next(op for op in trace.ops("step") if op["optimizer"] == optimizer)
    steps = [op for op in trace.ops("step") if op["optimizer"] == optimizer]
    if all(op["grads"] == "some" for op in steps):
        return []  # gradients are there: the learning rate is at fault, and its own probe says so
    return [
        _fail(
            step.get("site"),
            f"{len(steps)} steps of {trace.optimizer(optimizer).get('cls')} at {shown(step)} changed none of its "
            f"{len(rows)} parameters: their gradients were {step['grads']} when it stepped; expected gradients there",
            "step-order",
            confidence="medium",  # an effect: the step trace names what emptied them
            measured={"steps": len(steps)},
            next="look at what happens between backward and this step (clearing, a second copy of the model)",
            claims=("updates-not-applied",),
        )
    ]


def _stands_still(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Gradients arrive and the rate is not zero, yet no update is large enough to matter."""
    rows = [r for r in table.of(optimizer) if r.trainable and r.gradients > r.zeros]
    # what started at zero is as large as its own updates
    ratios = sorted(r.ratio for r in rows if isinstance(r.ratio, float) and r.ratio < STARTED_AT_ZERO)
    rates = [max(tick["lr"].get(str(optimizer)) or [0.0]) for tick in trace.events("tick")]
    if len(rates) < NEEDED_STEPS_TO_STAND or not ratios or max(ratios) >= STANDS_STILL or not rates[-1] > 0.0:
        return []
    if rates[-1] > 1.01 * rates[len(rates) // 2]:
        return []  # a warm-up that is still on its way
    step = next(op for op in trace.ops("step") if op["optimizer"] == optimizer)
    moved = sum(r.changed for r in rows)
    return [
        _fail(
            step.get("site"),
            f"{len(rates)} steps of {trace.optimizer(optimizer).get('cls')} at {shown(step)} moved {moved} of {len(rows)} parameters "
            f"with gradients, none by more than {max(ratios):.2g} of its size in a step, at a learning rate of {rates[-1]:.3g}; "
            "expected about a thousandth",
            "learning-rate-zero-or-tiny",
            severity="warning",
            measured={"largest_update_ratio": max(ratios), "rate": rates[-1], "moved": moved, "steps": len(rates)},
            next="raise the rate, or keep parameters in float32: in half precision small updates are lost to rounding",
            claims=("update-ratio",),
        )
    ]


def _too_fast(trace: Trace, table: Table) -> list[Finding]:
    """Steps are a large part of the weights themselves, and the loss of a supervised task ends above its start."""
    ratios = sorted(r.ratio for r in table.rows if r.optimizer is not None and isinstance(r.ratio, float))
    values = [
        fmean(t["losses"])
        for t in trace.events("tick")
        if t["losses"] and all(isinstance(v, float) for v in t["losses"])
    ]
    supervised = [call for call in trace.events("loss") if call["training"] and call.get("target")]
    if len(trace.stepping) != 1 or not supervised or not ratios or len(values) < NEEDED_STEPS_TO_FALL:
        return []
    first, last = median(values[:3]), median(values[-len(values) // 3 :])
    typical = ratios[len(ratios) // 2]
    if first <= 0 or last <= ABOVE_START * first or typical < LARGE_UPDATE:
        return []
    step = trace.ops("step")[0]
    return [
        _fail(
            step.get("site"),
            f"the loss goes from {first:.3g} to {last:.3g} in {len(values)} steps, and steps at {shown(step)} change half of the "
            f"parameters by {typical:.2g} of their size or more; expected a fall, and steps of about a thousandth",
            "learning-rate-too-high",
            severity="warning",
            confidence="medium",
            measured={"first_loss": first, "last_loss": last, "update_ratio": typical, "steps": len(values)},
            next="divide the learning rate by ten until the loss falls, or run the probe lr_range",
            claims=("update-ratio", "edge-of-stability-lr"),
        )
    ]


def _copies_left_behind(table: Table) -> list[Finding]:
    """A module with the names and sizes of a trained one that is in no optimizer and never changes."""
    if table.steps < NEEDED_STEPS_FOR_COPIES:
        return []
    by_root: dict[int, list[Row]] = {}
    for row in table.rows:
        if row.root is not None:
            by_root.setdefault(row.root, []).append(row)
    shapes = {root: [(r.name, r.elements) for r in rows] for root, rows in by_root.items()}
    trained = [shapes[root] for root in table.trained_roots]
    return [
        _fail(
            None,
            f"{table.roots[root]} has the {len(rows)} parameters of the trained model, is called, and none of its own changed over "
            f"{table.steps} steps: a target or average of the weights would have moved by now, a fixed teacher would not",
            "another-loop-fault",
            severity="note",
            confidence="low",
            measured={"parameters": len(rows), "steps": table.steps},
            next="if it is meant to follow the model, look for the line that updates it and whether it runs",
        )
        for root, rows in by_root.items()
        if root not in table.trained_roots and shapes[root] in trained and not any(r.changed for r in rows)
    ]


def _unreached(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Parameters that are called in the forward, held and trainable, and that no gradient ever reaches."""
    rows = [r for r in table.of(optimizer) if r.trainable]
    unreached = [r for r in rows if r.called and r.seen >= NEEDED_READINGS and r.gradients == 0]
    if not unreached or len(unreached) == len(rows):
        return []
    share = sum(r.elements for r in unreached) / max(1, sum(r.elements for r in rows))
    alarming = share >= MEANINGFUL_SHARE
    cut = trace.events("detach")[-1] if trace.events("detach") else None
    site = cut or (trace.ops("forward")[0] if trace.ops("forward") else trace.ops("step")[0])
    how = f"; a tensor with a graph is detached at {shown(cut)}" if cut else ""
    return [
        _fail(
            site.get("site"),
            f"{len(unreached)} of {len(rows)} trainable parameters ({share:.1%} of elements: {_names(unreached)}) run in "
            f"the forward but never receive a gradient over {table.steps} steps; expected one, unless their output is unused{how}",
            "loss-cut-from-graph",
            severity="error" if share >= NEARLY_ALL else "warning" if alarming else "note",
            confidence="high" if share >= NEARLY_ALL else "medium" if alarming else "low",
            measured={"unreached": len(unreached), "share": round(share, 4)},
            next="look for detach, no_grad or an unused output behind these modules",
            claims=("detach-breaks-learning",),
        )
    ]


def _names(rows: list[Row]) -> str:
    """The first names, with the common prefix told once when all share it."""
    names = [row.name or f"unnamed of {row.elements} elements" for row in rows]
    prefix = names[0].split(".")[0]
    if len(names) > 2 and all(name.startswith(prefix + ".") for name in names):
        return f"all in {prefix}"
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _summary(trace: Trace, table: Table, failed: bool) -> Iterator[Finding]:
    held = [r for r in table.rows if r.optimizer is not None]
    moved = sum(r.changed for r in held)
    ratios = sorted(r.ratio for r in held if isinstance(r.ratio, float) and r.ratio > 0)
    median = ratios[len(ratios) // 2] if ratios else 0.0
    born: Event = trace.optimizer(trace.stepping[0])
    path, line = place(born.get("site"))
    yield Finding(
        by="probe:parameter_table",
        outcome="pass",
        confidence="high",
        family="optimizer",
        path=path,
        line=line,
        message=f"{moved} of {len(held)} parameters in {len(trace.stepping)} optimizer(s) changed over {table.steps} steps, "
        f"{sum(r.gradients > 0 for r in held)} received gradients"
        + ("" if failed else "; none that needs training is missing")
        + (" (changes judged on a sample of each)" if table.sampled else ""),
        measured={"held": len(held), "changed": moved, "median_update_ratio": median},
    )
