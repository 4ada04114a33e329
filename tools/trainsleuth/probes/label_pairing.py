"""Has the model learned which target belongs to which input?

The program trains for a while through its own loop, but for some batches of the first epoch, which are kept
back. Then the parameters are held still, and at every other step the examples that enter the model are moved
by one against their targets: in batches that were kept back, and in batches that were trained on. A model that
has learned anything about the pairs must do worse on mixed-up ones, also on pairs that it never met.

Fails on: pairs learned by heart, where mixing hurts those that were trained on and not those that were kept
back, as with targets shuffled apart from inputs, or with far too few data; and a loss that has fallen and is
level, but is the same for mixed-up pairs: what was learned is only how the targets are distributed; and mixed-up
pairs that do clearly better, for those that were trained on too: the training moves away from its pairs.
A pass means that the pairs matter. Where no data loader serves the batches none can be kept back, and wrong
pairs of few data that were learned by heart pass too, with low confidence. While nothing has been learned
yet, the answer is open.
Cost: a run of its own, 140 steps to train and 60 to compare; only when asked for.
Cannot see: views of one example against each other, or two towers that one call feeds (open), adversarial training, rollouts, losses that do not pair examples with targets; examples that a
sampler draws twice in the first epoch are no longer new.

Bad:
    inputs = inputs[torch.randperm(len(inputs))]

Good:
    order = torch.randperm(len(inputs))
    inputs, targets = inputs[order], targets[order]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose
from statistics import fmean, stdev
from typing import Any, NamedTuple

from trainsleuth.finding import Finding, Outcome
from trainsleuth.trace import Event, Trace, place

EXPERIMENT = "pairing"
BY = "probe:label_pairing"
NEEDED = 10  # steps as they are, and as many mixed up
NEEDED_OF_ALL = 70  # steps, of which a third is compared, so that both kinds get what they need
FEWEST = 5  # of them with batches of one kind
SMALL = 1 / 3  # of what mixing costs on pairs that were trained on
CLEAR = 4.0  # standard errors between the two
FELL = 0.9  # of the first loss: something was learned
LEVEL = 0.03  # of the first loss: change between the last two quarters of the training below which it is level
FELL_A_LITTLE = 0.015  # of the first loss, when the curve has clearly flattened since
FLAT = 0.2  # of the whole fall; one that goes on evenly has 0.25 of it left between the last two quarters
ROUNDING = 1e-5  # of the loss
STILL_SAME = 2.0  # standard errors within which they are the same


def probe(trace: Trace) -> Iterator[Finding]:
    steps = trace.events("paired")
    fit, real, mixed = ([_loss(e) for e in steps if e["phase"] == phase] for phase in ("fit", "real", "mixed"))
    if len(trace.stepping) > 1:
        yield _finding(trace, "open", "several optimizers step, so the loss is not one of examples against targets")
    elif len(real) < NEEDED or len(mixed) < NEEDED:
        yield _too_few(trace, len(steps), len(fit))
    elif not any(event["changed"] for event in steps):
        yield _finding(
            trace, "open", "no batch of examples entered a module in training mode, so none could be mixed up"
        )
    elif all(event["together"] for event in steps if event["changed"]):
        yield _finding(
            trace,
            "open",
            "all that enters the model is moved together and it gives back the loss: no target stays behind to be paired with",
        )
    elif any(not isinstance(loss, float) for loss in fit + real + mixed):
        yield _finding(trace, "open", "the loss is not finite", next="run the probe first_nonfinite")
    else:
        met = _gap(steps, "new") or _gap(steps, None)
        if met is None:
            yield _finding(trace, "open", "too few steps of one kind were seen to compare", next="allow more --steps")
        else:
            yield _judge(trace, fit, met, _gap(steps, "known"))


def can_answer(trace: Trace) -> bool:
    """Is there enough of this program, which was seen under another experiment?"""
    is_long = not trace.ended_by_itself or trace.steps >= NEEDED_OF_ALL
    return is_long and len(trace.stepping) <= 1 and any(map(_has_rows, trace.events("entered")))


def _has_rows(entered: Event) -> bool:
    """Are these examples, and not the numbers of a single one, as where a policy acts?"""
    shapes = [one["shape"] for one in entered["tensors"] if one["name"] == entered["main"] and "float" in one["dtype"]]
    return entered["role"] == "train" and not any(len(shape) < 2 for shape in shapes)


def _too_few(trace: Trace, steps: int, fit: int) -> Finding:
    few = f"{steps} steps were seen, too few to compare after {fit} of training"
    if not trace.ended_by_itself:
        return _finding(trace, "open", few, next="allow more --steps or --time")
    shorter = f", or give --steps {steps}: of those a part is kept for the comparison" if steps >= NEEDED_OF_ALL else ""
    return _finding(trace, "open", f"the program ended by itself: {few}", next=f"let it train for more epochs{shorter}")


def _loss(event: Event) -> Any:
    numbers = all(isinstance(loss, float) for loss in event["losses"]) and event["losses"]
    return fmean(event["losses"]) if numbers else None


class Gap(NamedTuple):
    """Losses of one kind of batches, as they are and mixed up. `error`: the standard error of the difference.
    `is_equal`: batch by batch, to rounding.
    """

    kind: str | None
    real: float
    mixed: float
    error: float
    is_equal: bool

    @property
    def apart(self) -> float:
        """In standard errors."""
        gap = self.mixed - self.real
        return gap / self.error if self.error > 0 else (0.0 if gap == 0 else float("inf"))


def _gap(steps: Sequence[Event], kind: str | None) -> Gap | None:
    """`kind` None: what no loader served, so that nothing is known of it."""
    of_kind = [event for event in steps if event["phase"] != "fit" and event.get("pairs") == kind]
    real, mixed = ([_loss(e) for e in of_kind if e["phase"] == phase] for phase in ("real", "mixed"))
    if min(len(real), len(mixed)) < FEWEST:
        return None
    independent = min([len(real), len(mixed), *(event["batches"] for event in of_kind if kind)])
    error = ((stdev(real) ** 2 + stdev(mixed) ** 2) / independent) ** 0.5
    unlike = [loss for loss in mixed if not any(isclose(loss, other, rel_tol=ROUNDING) for other in real)]
    is_equal = len(unlike) <= 1  # the real step of one may be of the other kind, where a batch is fetched ahead
    return Gap(kind, fmean(real), fmean(mixed), error, is_equal)


def _judge(trace: Trace, fit: Sequence[float], met: Gap, known: Gap | None) -> Finding:
    start, third = fmean(fit[:3]), max(3, len(fit) // 4)
    measured = {"first": start, "real": met.real, "mixed": met.mixed, "standard_errors": round(met.apart, 2),
                "steps": len(fit)}  # fmt: skip
    pairs = "pairs that were kept back from it" if met.kind == "new" else "pairs as they are"
    told = f"after {len(fit)} steps the loss is {met.real:.4g} for {pairs} and {met.mixed:.4g} for mixed-up ones"
    if met.is_equal:
        return _finding(
            trace,
            "open",
            f"{told}, equal to rounding: mixing them changed nothing, so both sides of a pair enter the model together and were moved "
            "together, or it does not look at what was moved",
            measured=measured,
            next="run the probe input_matters: it tells whether the model looks at its inputs",
        )
    if met.apart > CLEAR:
        heart = "" if met.kind == "new" else "; none could be kept back, so wrong pairs learned by heart look the same"
        return _finding(trace, "pass", f"the pairs matter: {told} (it started at {start:.4g}){heart}",
                        confidence="low" if heart else "high", measured=measured)  # fmt: skip
    if met.apart < -CLEAR and (known is None or known.apart < -CLEAR):
        return _failure(
            trace,
            f"mixed-up pairs do better: {told} (it started at {start:.4g}); what is trained moves away from its pairs, "
            "expected mixed-up ones to do clearly worse",
            measured,
            suspects=("loss-below-bound", "targets-misaligned-with-inputs"),
            then="look for a wrong sign of the loss, maximize=True, or targets that belong to a neighbouring row",
        )
    if known is not None and known.apart > CLEAR and _is_small(met, known):
        same = "the same" if met.apart > -CLEAR else "even less"
        return _failure(
            trace,
            f"pairs are learned by heart: {told}, {same}, but {known.real:.4g} and {known.mixed:.4g} for pairs that were "
            "trained on; expected what is learned from some pairs to hold for others",
            {**measured, "real_known": known.real, "mixed_known": known.mixed},
        )
    fall = fmean(fit[-2 * third : -third]) - fmean(fit[-third:])
    noise = stdev(fit[-2 * third :]) * (2 / third) ** 0.5
    fell, level = met.real < FELL * start, abs(fall) < max(LEVEL * abs(start), 2 * noise)
    gained = start - fmean(fit[-third:])
    flattened = gained > FELL_A_LITTLE * abs(start) and abs(fall) < 2 * noise < FLAT * gained
    if ((fell and level) or flattened) and abs(met.apart) < STILL_SAME:
        return _failure(
            trace,
            f"{told}: the same within {abs(met.apart):.1f} standard errors, though it fell from {start:.4g} and is level; "
            "expected mixed-up pairs to do clearly worse",
            measured,
        )
    little = "too little was learned to tell" if met.apart > -CLEAR else "why they do better is not known"
    if known is not None and known.apart > CLEAR:
        little = f"{known.real:.4g} and {known.mixed:.4g} for pairs that were trained on, of which too little carries over to tell"
    return _finding(trace, "open", f"{told} ({met.apart:.1f} standard errors apart, from {start:.4g}): {little}",
                    measured=measured, next="let it train longer: with more --steps and --time, for more epochs where it ends by itself")  # fmt: skip


def _is_small(met: Gap, known: Gap) -> bool:
    """What mixing costs on new pairs, at most, against what it costs on known ones."""
    return met.mixed - met.real + STILL_SAME * met.error < SMALL * (known.mixed - known.real)


def _failure(
    trace: Trace,
    message: str,
    measured: dict[str, Any],
    suspects: tuple[str, ...] = ("targets-misaligned-with-inputs", "input-does-not-matter"),
    then: str = "print ten inputs with their targets as they enter the loss; look for a shuffle, sort or join of one side only",
) -> Finding:
    return _finding(
        trace, "fail", message,
        severity="warning", confidence="medium", measured=measured,
        suspects=suspects, claims=("labels-shuffled-together", "random-input-test"), next=then,
    )  # fmt: skip


def _finding(trace: Trace, outcome: Outcome, message: str, **more: Any) -> Finding:
    ops = trace.ops("forward")
    path, line = place(ops[0].get("site")) if ops else (None, None)
    text = message if outcome != "open" else f"whether the pairs matter stays open: {message}"
    return Finding(by=BY, outcome=outcome, family="data", path=path, line=line, message=text, **more)
