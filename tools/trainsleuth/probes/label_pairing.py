"""Has the model learned which target belongs to which input?

The program trains for a while through its own loop. Then the parameters are held still, and at every other
step the examples that enter the model are moved by one against their targets. A model that has learned
anything about the pairs must do worse on mixed-up ones.

Fails on: a loss that has fallen and is level, but is the same for mixed-up pairs: what was learned is only how
the targets are distributed, as with targets shuffled apart from inputs, or an input that the model ignores.
A pass means that the pairs matter. With few data, pairs that are wrong can be learned by heart: then it
passes too. While nothing has been learned yet, the answer is open.
Cost: a run of its own, 140 steps to train and 60 to compare; only when asked for.
Cannot see: adversarial training, rollouts, losses that do not pair examples with targets.

Bad:
    inputs = inputs[torch.randperm(len(inputs))]

Good:
    order = torch.randperm(len(inputs))
    inputs, targets = inputs[order], targets[order]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, stdev
from typing import Any

from trainsleuth.finding import Finding, Outcome
from trainsleuth.trace import Event, Trace, place

EXPERIMENT = "pairing"
BY = "probe:label_pairing"
NEEDED = 10  # steps of each kind
CLEAR = 4.0  # standard errors between the two
FELL = 0.9  # of the first loss: something was learned
LEVEL = 0.03  # of the first loss: change between the last two quarters of the training below which it is level
FELL_A_LITTLE = 0.015  # of the first loss, when the curve has clearly flattened since
FLAT = 0.2  # of the whole fall; one that goes on evenly has 0.25 of it left between the last two quarters
STILL_SAME = 2.0  # standard errors within which they are the same


def probe(trace: Trace) -> Iterator[Finding]:
    steps = trace.events("paired")
    fit, real, mixed = ([_loss(e) for e in steps if e["phase"] == phase] for phase in ("fit", "real", "mixed"))
    if len(trace.stepping) > 1:
        yield _finding(trace, "open", "several optimizers step, so the loss is not one of examples against targets")
    elif len(real) < NEEDED or len(mixed) < NEEDED:
        yield _finding(trace, "open", f"{len(steps)} steps were seen, too few to compare after {len(fit)} of training",
                       next="allow more --steps or --time")  # fmt: skip
    elif not any(event["changed"] for event in steps):
        yield _finding(
            trace, "open", "no batch of examples entered a module in training mode, so none could be mixed up"
        )
    elif any(not isinstance(loss, float) for loss in fit + real + mixed):
        yield _finding(trace, "open", "the loss is not finite", next="run the probe first_nonfinite")
    else:
        yield _judge(trace, fit, real, mixed)


def _loss(event: Event) -> Any:
    numbers = all(isinstance(loss, float) for loss in event["losses"]) and event["losses"]
    return fmean(event["losses"]) if numbers else None


def _judge(trace: Trace, fit: Sequence[float], real: Sequence[float], mixed: Sequence[float]) -> Finding:
    error = (stdev(real) ** 2 / len(real) + stdev(mixed) ** 2 / len(mixed)) ** 0.5
    gap = fmean(mixed) - fmean(real)
    apart = gap / error if error > 0 else (0.0 if gap == 0 else float("inf"))
    start, third = fmean(fit[:3]), max(3, len(fit) // 4)
    fall = fmean(fit[-2 * third : -third]) - fmean(fit[-third:])
    measured = {
        "first": start,
        "real": fmean(real),
        "mixed": fmean(mixed),
        "standard_errors": round(apart, 2),
        "steps": len(fit),
    }
    told = f"after {len(fit)} steps the loss is {fmean(real):.4g} for pairs as they are and {fmean(mixed):.4g} for mixed-up ones"
    if apart > CLEAR:
        return _finding(
            trace, "pass", f"the pairs matter: {told} (it started at {start:.4g})", confidence="high", measured=measured
        )
    noise = stdev(fit[-2 * third :]) * (2 / third) ** 0.5
    fell, level = fmean(real) < FELL * start, abs(fall) < max(LEVEL * abs(start), 2 * noise)
    gained = start - fmean(fit[-third:])
    flattened = gained > FELL_A_LITTLE * abs(start) and abs(fall) < 2 * noise < FLAT * gained
    if ((fell and level) or flattened) and abs(apart) < STILL_SAME:
        return _finding(
            trace, "fail",
            f"{told}: the same within {abs(apart):.1f} standard errors, though it fell from {start:.4g} and is level; expected "
            "mixed-up pairs to do clearly worse",
            severity="warning", confidence="medium", measured=measured,
            suspects=("targets-misaligned-with-inputs", "input-does-not-matter"), claims=("labels-shuffled-together", "random-input-test"),
            next="print ten inputs with their targets as they enter the loss; look for a shuffle, sort or join of one side only",
        )  # fmt: skip
    return _finding(trace, "open", f"{told} ({apart:.1f} standard errors apart, from {start:.4g}): too little was learned to tell",
                    measured=measured, next="allow more --steps")  # fmt: skip


def _finding(trace: Trace, outcome: Outcome, message: str, **more: Any) -> Finding:
    ops = trace.ops("forward")
    path, line = place(ops[0].get("site")) if ops else (None, None)
    text = message if outcome != "open" else f"whether the pairs matter stays open: {message}"
    return Finding(by=BY, outcome=outcome, family="data", path=path, line=line, message=text, **more)
