"""Rules of parameter_table about gradients: what the loss reaches, and what it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

from trainsleuth.finding import Finding, Link
from trainsleuth.trace import Event, Trace, place, shown

from ._parameters import MEANINGFUL_SHARE, NEEDED_READINGS, Row, Table, fail, names

NEARLY_ALL = 0.9
RECURRENT = "weight_hh"  # what a step takes from the one before
MANY_CALLS = 5  # of a layer in one forward: two to four inputs may each have one step on purpose
NEEDED_LOOKS = 5
CUT = 0.8  # of the parameters without a gradient


def are_given_by_hand(trace: Trace) -> bool:
    """No backward of the first step leads to what is stepped on, and yet it has gradients at each step: those of a copy (first-order MAML)."""
    graphs, steps = trace.events("graph"), trace.ops("step")
    reached = any(sum(graph["reached"]) for graph in graphs)
    return (
        bool(graphs and steps) and not reached and all(isinstance(op["norm"], float) and op["norm"] > 0 for op in steps)
    )


def loss_reaches_nothing(trace: Trace) -> Iterator[Finding]:
    """Every backward of the first step ends before any parameter that an optimizer holds."""
    graphs = [g for g in trace.events("graph") if sum(g["members"]) and not g["truncated"]]
    if graphs and all(sum(graph["reached"]) == 0 for graph in graphs) and not are_given_by_hand(trace):
        graph = graphs[0]
        how = (
            "the tensor it starts from has no graph behind it (it was detached, converted or wrapped anew)"
            if graph["detached"]
            else f"the graph of {graph['nodes']} operations behind it ends before them"
        )
        held = sum(graph["members"])
        cut, behind = next((pair for pair in _detached(trace) if len(pair[1]) >= CUT * held), (None, set()))
        path, line = place(cut.get("site")) if cut else (None, None)
        where = f"; a tensor computed from {len(behind)} of them is detached at {shown(cut)}" if cut else ""
        yield fail(
            (cut or graph).get("site"),
            f"backward at {shown(graph)} reaches none of the {held} parameters in the optimizer: {how}{where}; "
            "expected a gradient for them",
            "loss-cut-from-graph",
            chain=(Link(path, line, "cuts off what was computed from the parameters"),) if path and line else (),
            measured={"reached": 0, "in_optimizer": held, "graph_nodes": graph["nodes"]},
            next="look for .item(), .detach(), .data, .numpy() or torch.tensor(...) between the model's output and this line",
            claims=("detach-breaks-learning",),
        )


def hidden(trace: Trace) -> Iterator[Finding]:
    """Parameters in the graph that no optimizer and no module registers."""
    strangers = [
        Counter((s["site"], s["name"], s["cls"], s["fresh"]) for s in g["unregistered"]) for g in trace.events("graph")
    ]
    most: Counter[tuple[Any, ...]] = reduce(or_, strangers, Counter())  # the largest count of any backward
    for (site, name, cls, is_fresh), count in most.items():
        where = f"{cls}.{name.rsplit('.', 1)[-1]}" if name else "a place that no called module names"
        if is_fresh and not name:
            yield _made_anew(count)
            continue
        yield fail(
            site,
            f"the loss depends on {count} parameter tensors kept in {where}, but no module registers them and no "
            "optimizer holds them, so they are never trained, saved or moved to a device; expected nn.ModuleList, "
            "nn.ModuleDict or nn.ParameterList instead of a plain container, or layers made once in __init__ where forward() makes them anew",
            "unregistered-submodules",
            measured={"tensors": count},
            next="find where they are made, register them there, and check that sum(p.numel() for p in model.parameters()) grows",
        )


def _made_anew(count: int) -> Finding:
    """Norms that forward() makes each time: what they do they do, their scales and shifts only never learn."""
    return fail(
        None,
        f"the loss depends on {count} parameter tensors, all ones or all zeros as norms begin, that no module registers and no optimizer holds: a "
        "norm that forward() makes anew has scales and shifts that never learn; expected it to be made once in __init__, or without them",
        "unregistered-submodules",
        severity="note",
        confidence="medium",
        measured={"tensors": count},
        next="look for nn.LayerNorm(...) or another norm that is made within a forward()",
    )


def unreached(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Parameters that are called in the forward, held and trainable, and that no gradient ever reaches."""
    rows = [r for r in table.of(optimizer) if r.trainable]
    unreached = [r for r in rows if r.called and r.seen >= NEEDED_READINGS and r.gradients == 0]
    copied = table.copied(unreached)
    if any(row.changed for row in copied):  # a copy that follows the trained ones needs no gradient
        rows, unreached = ([row for row in some if row not in copied] for some in (rows, unreached))
    if not unreached or len(unreached) == len(rows):
        return []
    share = sum(r.elements for r in unreached) / max(1, sum(r.elements for r in rows))
    proof = _cut_at(trace, unreached)
    how = f"; a tensor computed from them is detached at {shown(proof)}" if proof else ""
    off = None if proof else _without_grad(table, unreached)
    if off:
        how = f"; they run with gradients switched off at {shown(off)}"
        # what was loaded may be meant to stay as it is
        proof = None if trace.ops("weights_loaded") or any(row.changed for row in unreached) else off
    alarming = share >= MEANINGFUL_SHARE or proof is not None
    site = proof or off or (trace.ops("forward")[0] if trace.ops("forward") else trace.ops("step")[0])
    return [
        fail(
            site.get("site"),
            f"{len(unreached)} of {len(rows)} trainable parameters ({share:.1%} of elements: {names(unreached)}) run in "
            f"the forward but never receive a gradient over {table.steps} steps; expected one, unless their output is unused{how}",
            "loss-cut-from-graph",
            severity="error" if share >= NEARLY_ALL else "warning" if alarming else "note",
            confidence="high" if share >= NEARLY_ALL else "medium" if alarming else "low",
            measured={"unreached": len(unreached), "share": round(share, 4)},
            next="look for detach, no_grad or an unused output behind these modules",
            claims=("detach-breaks-learning",),
        )
    ]


def read_and_cut(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Parameters of modules whose forward is never called, so their values are read by themselves, as those of a codebook:
    what is computed from them is detached, no gradient comes back, and nothing else moves them.
    """
    rows = [r for r in table.of(optimizer) if r.trainable]
    still = [r for r in rows if not (r.called or r.gradients or r.changed) and r.seen >= NEEDED_READINGS]
    behind = {name: event for event, names_behind in reversed(list(_detached(trace))) for name in names_behind}
    cut = [r for r in still if r.name in behind]
    if not cut:
        return []
    site = behind[cut[0].name or ""]
    return [
        fail(
            site.get("site"),
            f"{len(cut)} of {len(rows)} trainable parameters ({names(cut)}) are read although the module that holds them is not called; what "
            f"is computed from them is detached at {shown(site)}, and over {table.steps} steps they get no gradient and do not move; expected "
            "a gradient by some term of the loss, or an update by hand, unless they are to stay as they are",
            "loss-cut-from-graph",
            severity="note",
            confidence="low",
            measured={"cut": len(cut), "steps": table.steps},
            next="of two terms that pull two sides together each detaches the other side: see whether both detach the same one",
            claims=("detach-breaks-learning",),
        )
    ]


def only_zeros(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Parameters that get a gradient at every look, and it is exactly zero each time: nothing passes behind them."""
    rows = [r for r in table.of(optimizer) if r.trainable and r.gradients]
    dead = [r for r in rows if r.gradients == r.zeros and r.gradients >= NEEDED_LOOKS]
    share = sum(r.elements for r in dead) / max(1, sum(r.elements for r in rows))
    is_recurrent = bool(dead) and all(RECURRENT in (row.name or "") for row in dead)
    if not dead or len(dead) == len(rows) or (share < MEANINGFUL_SHARE and not is_recurrent):
        return []
    site = trace.ops("forward")[0] if trace.ops("forward") else trace.ops("step")[0]
    what = "; each call of the recurrent layer sees one step, and begins with a state of zeros" if is_recurrent else ""
    return [
        fail(
            site.get("site"),
            f"{len(dead)} of {len(rows)} parameters ({share:.1%} of elements: {names(dead)}) got a gradient of exactly zero in all "
            f"{dead[0].gradients} looks over {table.steps} steps{what}; expected values other than zero",
            "input-does-not-matter",
            severity="note" if is_recurrent and not _is_called_again(trace, dead[0]) else "warning",
            measured={"zero_gradients": len(dead), "share": round(share, 4), "looks": dead[0].gradients},
            next="look whether the state that the layer gives back is handed to its next call, and whether it goes over the axis of time"
            if is_recurrent
            else "look at what comes after these modules: units that are never active, a product with zero, an output that is not used",
            claims=() if is_recurrent else ("dead-relu-forty-percent",),
        )
    ]


def _is_called_again(trace: Trace, row: Row) -> bool:
    """Is the layer of these weights called again and again within a forward, as a decoder is?"""
    layer = (row.name or "").rpartition(".")[0]
    return any(sum(name == layer for name, *_ in event["rows"]) >= MANY_CALLS for event in trace.events("layers"))


def _without_grad(table: Table, unreached: list[Row]) -> Event | None:
    """The first place where all of these run under no_grad, in a forward that has gradients."""
    places = {(root, name): site for root, name, site in table.without_grad}
    sites = [places.get((row.root, row.name)) for row in unreached]
    return {"site": sites[0]} if all(sites) else None


def _cut_at(trace: Trace, unreached: list[Row]) -> Event | None:
    """The detach behind which most of these parameters lie: their output was not unused, it was cut."""
    missing = {row.name for row in unreached}
    return next((event for event, behind in _detached(trace) if len(missing & behind) >= CUT * len(missing)), None)


def _detached(trace: Trace) -> Iterator[tuple[Event, set[str]]]:
    """Each place that detaches, with the parameters behind all that it detached: one line may serve two towers."""
    found: dict[Any, tuple[Event, set[str]]] = {}
    for event in trace.events("detach"):
        found.setdefault(place(event.get("site")), (event, set()))[1].update(event["behind"])
    yield from found.values()
