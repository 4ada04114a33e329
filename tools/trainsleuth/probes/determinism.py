"""Does the program compute the same twice?

Runs the program twice for a few steps and compares, to the last bit and in the order of computation, what
enters the model, every layer's output, the loss, every gradient and every parameter.

Fails on: a difference between two runs although torch was seeded, with the first step and the first layer or
gradient that differs. Without a seed a difference is a note: it is what was asked for.
A pass means the steps seen are the same to the last bit; longer runs may still part.
Cost: two runs of a dozen steps; only when asked for. Cannot see: which of two operations of one layer differs.

Bad:
    torch.manual_seed(0)
    order = numpy.random.permutation(len(data))

Good:
    torch.manual_seed(0)
    order = torch.randperm(len(data))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainsleuth.finding import Finding, Outcome
from trainsleuth.trace import Event, Trace, place, shown

EXPERIMENT = "repeat"
NEEDED_STEPS = 3
WHY = {
    "start": "the parameters at the start",
    "input": "what enters the model",
    "layer": "the output of layer",
    "loss": "the loss",
    "gradient": "the gradient of",
    "update": "what the step adds to the parameters",
    "parameters": "the parameters",
}
KINDS = {"input": "input of a module", "loss": "loss", "gradient": "gradient", "parameters": "parameter"}
NEXT = {
    "start": "seed torch before the model is built, and numpy or random too where they draw its first values",
    "input": "seed what draws the data: numpy, random, workers, shuffling, file order of os.listdir",
    "layer": "look at this layer for dropout with a generator of its own, or an operation that is not deterministic",
    "loss": "look at what the loss draws or sums",
    "gradient": "torch.use_deterministic_algorithms(True) names operations whose backward is not deterministic",
    "update": "look at the optimizer: fused or asynchronous updates",
    "parameters": "look for what changes parameters besides the optimizer",
}


def compare(traces: Sequence[Trace]) -> Iterator[Finding]:
    """`traces` are those of the first training process of each repetition."""
    if len(traces) < 2:
        yield Finding(by="probe:determinism", outcome="open", family="training-procedure",
                      message="the program did not train twice, so nothing could be compared", next="allow more --time")  # fmt: skip
        return
    one, other = (trace.events("prints") for trace in traces[:2])
    steps = min(len(one), len(other))
    for first, second in zip(one, other, strict=False):
        row = _first_difference(first["rows"], second["rows"])
        if row is not None:
            yield _differs(traces[0], int(first["n"]), *row)
            return
    if steps < NEEDED_STEPS:
        yield _finding(
            traces[0],
            "open",
            f"two runs were the same, but only {steps} steps of both were seen",
            next="allow more --time",
        )
        return
    rows = [row for event in one[:steps] for row in event["rows"]]
    kinds = {row[0] for row in rows}
    if missing := [word for kind, word in KINDS.items() if kind not in kinds]:
        yield _finding(traces[0], "open", f"what was compared in {steps} steps of two runs is the same, but no {' and no '.join(missing)} could be "
                       "read", measured={"steps": steps, "compared": len(rows)})  # fmt: skip
        return
    yield _finding(traces[0], "pass", f"two runs computed the same in {steps} steps: inputs, layers, loss, gradients and parameters, "
                   f"{len(rows)} comparisons to the last bit", confidence="high", measured={"steps": steps, "compared": len(rows)})  # fmt: skip


def _first_difference(one: list[list[Any]], other: list[list[Any]]) -> tuple[str, str] | None:
    for mine, theirs in zip(one, other, strict=False):
        if mine[:3] != theirs[:3]:
            return mine[0], mine[1]
    return None if len(one) == len(other) else ("layer", "(another number of layer calls)")


def _differs(trace: Trace, step: int, kind: str, name: str) -> Finding:
    seeds = trace.events("seeded")
    # a trainer that seeds by itself comes after the model was drawn, and nobody wished for it
    is_wished = any(not event.get("lib") for event in seeds) if kind == "start" else bool(seeds)
    what = f"{WHY[kind]} {name}" if kind in ("layer", "gradient") else WHY[kind]
    seeded = f"though torch was seeded at {shown(seeds[0])}" if seeds else "and torch was never seeded"
    return _finding(
        trace, "fail",
        f"two runs of the same command part at step {step}: {what} differs first, {seeded}; expected the same"
        + ("" if seeds else " only with a seed"),
        severity="warning" if is_wished else "note", confidence="high", suspects=("seed-noise",) if not seeds else ("unseeded-randomness",),
        measured={"step": step}, next=NEXT[kind], claims=("fix-the-seed",),
    )  # fmt: skip


def _finding(trace: Trace, outcome: Outcome, message: str, **more: Any) -> Finding:
    ops = trace.ops("forward")
    site: Event = ops[0] if ops else {}
    path, line = place(site.get("site"))
    return Finding(by="probe:determinism", outcome=outcome, path=path, line=line, message=message, **more)
