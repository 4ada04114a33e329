"""Is the model in training mode when it trains, in evaluation mode when evaluated, and is it the same model?

Follows the mode of every module over the run: which calls are followed by backward, which run on the batches
of a loader that never leads to one, and what comes after an evaluation. When the run is over, the model is
called once in evaluation mode to see whether anything still drops values. At a few steps it is followed whether the
loss is computed from what a module gives that nothing trains.

Fails on: training that goes on in evaluation mode after an evaluation (a note where no step follows its backwards: an evaluation that
goes backward); evaluation with dropout or batch
statistics on; dropout that ignores the mode; evaluation of a copy that stays as it was while the model that
trains is never evaluated; of an AveragedModel that is never updated; of the model with exactly the values from before its
first step, its trained ones put back afterwards (a shadow of the weights that is never updated); a teacher, an extractor of features, a reward or reference model in training mode: nothing
trains it, its dropout or batch norms act at each step, and the loss is computed against what it gives. A note where the
run was stopped before its end, so that the average may begin to move later; where a copy of what trains is called for each step
and never moves; and where noise may be meant: the teacher is a copy of the model, or what it gives enters what learns, or it is called several times for a backward.
A pass shows the modes of the phases seen; layers whose mode differs from the rest are counted, not judged.
Cost: none to speak of; where a teacher is in training mode, five steps in which each operation is followed. Cannot see:
evaluation without a data loader in training mode (rollouts and sampling look the same), what happens after the last step
seen, a teacher that is called inside of the module that holds it, stochastic depth, targets computed before the training.

Bad:
    x = F.dropout(x, 0.5)

Good:
    x = F.dropout(x, 0.5, training=self.training)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from trainsleuth.finding import Finding, Link
from trainsleuth.trace import Event, Trace, place, shown

from ._evaluated_weights import wrong_weights
from ._roots import models_among
from ._teachers import frozen_in_training_mode, never_follows

EXPERIMENT = "observe"
READS = ("phases", "teachers")
NEEDED_CALLS = 2  # training calls in the wrong mode


def probe(trace: Trace) -> Iterator[Finding]:
    phases = _phases(trace)
    roots = dict.fromkeys(phase["root"] for phase in phases if phase["backwards"])
    found = [finding for root in roots for finding in _of_root([p for p in phases if p["root"] == root])]
    found += _always_dropping(trace)
    found += wrong_weights(phases, trace)
    found += frozen_in_training_mode(trace)
    found += never_follows(trace)
    yield from found
    if not roots:
        yield Finding(by="probe:modes", outcome="open", family="eval",
                      message="no call of a module before a backward was seen, so no phase of training was seen")  # fmt: skip
    elif not any(finding.is_alarm for finding in found):
        yield from _passes(phases, models_among(roots, trace), _untold(trace))


def _phases(trace: Trace) -> list[Event]:
    """Those of a wrapper and of the module in it under one root, one that the table of parameters knows if any.

    Each with the number of functional dropouts that follow the mode; without it where none looked.
    """
    told = trace.events("phase")
    known = set(models_among((phase["root"] for phase in told), trace))
    roots = {phase["model"]: phase["root"] for phase in sorted(told, key=lambda one: one["root"] in known)}
    models = {phase["root"]: phase["model"] for phase in told}
    by_hand = {
        models[event["root"]]: {"by_hand": len(event.get("dropout_by_mode", ()))}
        for event in _called_in_evaluation(trace)
        if event["root"] in models
    }
    return [{**one, "root": roots[one["model"]], **by_hand.get(one["model"], {})} for one in told]


def _called_in_evaluation(trace: Trace) -> tuple[Event, ...]:
    """Modules that were called once more in evaluation mode when the run was over."""
    return (*trace.events("inspected"), *trace.events("inspected_modes"))


def _of_root(phases: Sequence[Event]) -> Iterator[Finding]:
    if _mode_layers(phases[0]) == "":
        return
    yield from _not_restored(phases)
    yield from _never_in_training(phases)
    yield from _evaluated_in_training(phases)


def _never_in_training(phases: Sequence[Event]) -> Iterator[Finding]:
    """Evaluated before the first step, and every step after that is in evaluation mode too."""
    trained = [phase for phase in phases if phase["backwards"]]
    before = [
        phase for phase in phases if not phase["grad"] and not phase["training"] and phase["n"] <= trained[0]["n"]
    ]
    calls = sum(phase["backwards"] for phase in trained)
    if calls < NEEDED_CALLS or any(phase["training"] for phase in phases) or not before or phases[0] is not before[0]:
        return
    path, line = place(before[0].get("site"))
    yield _fail(
        trained[0],
        f"{trained[0]['cls']} trains in evaluation mode from the start: an evaluation at {shown(before[0])} comes first, and none of {calls} "
        f"calls at {shown(trained[0])} is in training mode; its {_mode_layers(trained[0])} layers are off; expected model.train()",
        chain=(Link(path, line, "evaluates, and leaves the model in evaluation mode"),) if path and line else (),
        measured={"from_step": trained[0]["n"], "calls": calls},
        next="call model.train() at the start of each epoch, or at the end of the evaluation",
    )


def _mode_layers(phase: Event) -> str:
    """The layers for which the mode makes a difference, in words."""
    kinds = [f"{phase['dropouts']} dropout"] if phase["dropouts"] else []
    kinds += [f"{phase['by_hand']} functional dropout"] if phase.get("by_hand") else []
    kinds += [f"{phase['norms']} batch norm"] if phase["norms"] else []
    return " and ".join(kinds)


def _not_restored(phases: Sequence[Event]) -> Iterator[Finding]:
    """Trained in training mode, evaluated, and then trained in evaluation mode."""
    first = next((phase for phase in phases if phase["backwards"]), None)
    if first is None or not first["training"]:
        return
    late = [p for n, p in enumerate(phases) if _is_wrong(p, n, phases) and p["n"] > first["n"]]
    calls = sum(phase["backwards"] for phase in late)
    if calls < NEEDED_CALLS:
        return
    wrong = late[0]
    if all(_is_without_step(phase, phases) for phase in late):
        yield _backward_of_evaluation(wrong, calls)
        return
    before = [p for p in phases[: phases.index(wrong)] if not p["backwards"] and not p["training"]]
    returns = any(p["backwards"] and p["training"] and p["n"] > wrong["n"] for p in phases)
    again = ", training mode in between" if returns else ""
    path, line = place(before[-1].get("site")) if before else (None, None)
    links = (Link(path, line, "evaluates, and leaves the model in evaluation mode"),) if path and line else ()
    yield _fail(
        wrong,
        f"{wrong['cls']} trains in evaluation mode from step {wrong['n']} on{again}: {calls} calls at {shown(wrong)} that a backward "
        f"follows, after training mode before; its {_mode_layers(wrong)} layers are off; expected model.train() after evaluation",
        chain=links,
        measured={"from_step": wrong["n"], "calls": calls},
        next="call model.train() at the start of each epoch, or at the end of the evaluation",
    )


def _is_without_step(phase: Event, phases: Sequence[Event]) -> bool:
    """Several backwards, and training goes on behind them without a step between."""
    after = next((one for one in phases[phases.index(phase) + 1 :] if one["training"]), None)
    return phase["backwards"] > 1 and after is not None and after["n"] == phase["n"]


def _backward_of_evaluation(phase: Event, calls: int) -> Finding:
    """An attack on the model goes backward for its inputs, so it asks."""
    found = _fail(
        phase,
        f"{phase['cls']} is evaluated at {shown(phase)} with a backward behind each of {calls} calls and no step: the gradients of the evaluation stay "
        "in .grad, and unless they are cleared first the next training step takes them in; expected no backward there, and torch.no_grad()",
        measured={"backwards": calls, "at_step": phase["n"]},
        next="look at which branch holds the backward: it belongs under the same condition as the step",
    )
    return replace(found, severity="note", confidence="medium")


def _is_wrong(phase: Event, n: int, phases: Sequence[Event]) -> bool:
    """Trains in evaluation mode: over several backwards, or after an evaluation that left it so and up to a step.

    An attack on the model, or another player's turn, takes gradients in evaluation mode too.
    """
    if phase["training"] or not phase["backwards"]:
        return False
    before, after = phases[n - 1] if n else None, phases[n + 1] if n + 1 < len(phases) else None
    left = before is not None and not before["backwards"] and not before["training"] and not before["grad"]
    return bool(phase["backwards"] >= NEEDED_CALLS or (left and after is not None and after["n"] > phase["n"]))


def _evaluated_in_training(phases: Sequence[Event]) -> Iterator[Finding]:
    """Batches of a loader that never trains go through the model in training mode."""
    training = {phase["loader"] for phase in phases if phase["backwards"]}
    wrong = [p for p in phases if p["training"] and not p["backwards"] and p["loader"] not in training]
    wrong = [phase for phase in wrong if not phase["grad"]]
    if not wrong or None in training:
        return
    phase = {**wrong[0], "dropouts": wrong[0]["dropouts_on"], "norms": wrong[0]["norms_on"]}
    layers = _mode_layers(phase)
    harm = "values are dropped" if not phase["norms"] else "statistics of the evaluation batches are used, and kept"
    yield _fail(
        phase,
        f"{phase['cls']} is evaluated in training mode at {shown(phase)}: {sum(p['calls'] for p in wrong)} calls without "
        f"gradients on a loader that never trains, with {layers} layers on ({harm}); expected model.eval() before",
        measured={"calls": sum(p["calls"] for p in wrong), "dropouts": phase["dropouts"], "norms": phase["norms"]},
        next="call model.eval() before the evaluation and model.train() after it; no_grad alone changes no mode",
    )


def _always_dropping(trace: Trace) -> Iterator[Finding]:
    """Dropout called by hand, without regard to the mode."""
    for model in _called_in_evaluation(trace):
        for seen in model["dropout_in_eval"]:
            yield _fail(
                seen,
                f"{seen['fn']} at {shown(seen)} drops values with probability {seen['p']:.2g} although {model['cls']} is in "
                "evaluation mode; expected training=self.training",
                measured={"p": seen["p"], **({"outputs_differ_by": model["noise"]} if "noise" in model else {})},
                next="pass training=self.training (or dropout_p=0 outside of training) and evaluate again",
            )


def _fail(site: Event, message: str, **more: Any) -> Finding:
    path, line = place(site.get("site"))
    return Finding(by="probe:modes", outcome="fail", severity="warning", confidence="high", family="eval", path=path,
                   line=line, message=message, suspects=("eval-mode",),
                   claims=("train-eval-mode", "no-grad-is-not-eval"), **more)  # fmt: skip


def _undecided(trained: Sequence[Event], evaluated: Sequence[Event]) -> str:
    """What was seen and may be meant so, or not; "" when the modes are the usual ones."""
    if not any(phase["training"] for phase in trained):
        return ", and are off while it trains: whether that is meant is open"
    if not all(phase["training"] for phase in trained):
        return ", and are off in part of them: whether that is meant is open"
    if any(phase["training"] for phase in evaluated):
        return ": whether those in training mode evaluate is open"
    return "" if evaluated else ", so whether evaluation turns them off is open"


def _modes_of(trained: Sequence[Event], seen: str) -> str:
    on, off = (sum(p["backwards"] for p in trained if p["training"] == mode) for mode in (True, False))
    if on and off:
        return f"training mode in {on} and in evaluation mode in {off} of {seen}"
    return f"{'training' if on else 'evaluation'} mode in all {'of ' if seen.startswith('the') else ''}{seen}"


def _untold(trace: Trace) -> int:
    """All backwards of the run where only its first phases were told, else 0."""
    return next((int(event["backwards"]) for event in trace.events("phases") if not event["all_told"]), 0)


def _passes(phases: Sequence[Event], roots: list[int], untold: int) -> Iterator[Finding]:
    for root in roots:
        mine = [phase for phase in phases if phase["root"] == root]
        trained = [phase for phase in mine if phase["backwards"]]
        evaluated = [phase for phase in mine if not phase["backwards"] and not (phase["grad"] and phase["training"])]
        path, line = place(trained[0].get("site"))
        frozen = (
            f", {trained[0]['other_flag']} modules of it in the other ({', '.join(trained[0]['other_names'][:3])})"
            if trained[0]["other_flag"]
            else ""
        )
        again = "" if evaluated else "; no call of it in an evaluation was seen"
        if evaluated:
            off = all(not phase["training"] for phase in evaluated)
            again = f"; {sum(p['calls'] for p in evaluated)} calls without a backward (evaluation, or targets), {'all in evaluation mode' if off else 'some in training mode'}"
        backwards = sum(phase["backwards"] for phase in trained)
        seen = f"the first {backwards} of {untold} backwards" if untold else f"{backwards} backwards seen"
        watched = "by_hand" in trained[0]
        why = _undecided(trained, evaluated) if _mode_layers(trained[0]) or not watched else ""
        yield Finding(
            by="probe:modes", outcome="open" if why else "pass", confidence="high" if evaluated else "low", family="eval", path=path, line=line,
            message=f"{trained[0]['cls']} trains in {_modes_of(trained, seen)}{frozen}{again}; "
            f"{_dependence(_mode_layers(trained[0]), watched, why)}",
            measured={"phases": len(mine), "evaluations": len([p for p in evaluated if not p["training"]])},
        )  # fmt: skip


def _dependence(layers: str, watched: bool, why: str) -> str:
    """What the mode switches, and what is open about it."""
    unwatched = "" if watched or not why else ", functional dropout could not be watched"
    if layers:
        return f"{layers} layers depend on it{unwatched}{why}"
    return f"no layers depend on it{unwatched}{': whether the mode matters is open' if why else ''}"
