"""Rules of modes about the weights that an evaluation uses: those of a copy that stays, or those from before the training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

SELDOM = 0.5  # of the steps
NEEDED_STEPS = 10  # between the first and the last of them, or of training before


def wrong_weights(phases: Sequence[Event], trace: Trace) -> Iterator[Finding]:
    averages = [phase for phase in phases if phase.get("averaged") is not None]
    others = [phase for phase in phases if phase not in averages]
    yield from _never_averaged(averages, trace)
    yield from _a_copy_that_stays(others)
    for root in dict.fromkeys(phase["root"] for phase in phases if phase["backwards"]):
        yield from _as_it_began([phase for phase in phases if phase["root"] == root], trace)


def _never_averaged(phases: Sequence[Event], trace: Trace) -> Iterator[Finding]:
    """An AveragedModel that was told of no weights at all is called after training."""
    for root in dict.fromkeys(phase["root"] for phase in phases):
        mine = [phase for phase in phases if phase["root"] == root]
        last = mine[-1]
        stands = len(set(chain.from_iterable(map(_codes, mine)))) == 1  # else they are averaged by hand
        if last["averaged"] or last["until"] < NEEDED_STEPS or not stands:
            continue
        at_the_end = trace.ended_by_itself and last["until"] >= trace.steps
        yield _fail(
            last,
            at_the_end,
            f"the {last['cls']} that is called at {shown(last)} after {last['until']} steps was never updated: it counts 0 calls of "
            f"update_parameters over {trace.steps} steps, so its weights are those from before the training"
            f"{'' if at_the_end else ', unless its updates begin later than what was watched'}; expected the averaged weights there",
            "call update_parameters(model) behind optimizer.step(), from the step on at which averaging is to begin",
            steps=trace.steps,
            averaged=0,
        )


def _a_copy_that_stays(phases: Sequence[Event]) -> Iterator[Finding]:
    """What is evaluated is as large as what trains, is not trained, and never moves."""
    trained = {phase["held"]: phase for phase in phases if phase["backwards"] and phase.get("held")}
    training = {phase["loader"] for phase in phases if phase["backwards"]}
    called = [p for p in phases if p.get("weights") and not p["backwards"] and not p["grad"]]
    for phase in called:
        trained.pop(phase["held"], None)  # the model that trains is evaluated too
    evaluated = [p for p in called if p["loader"] not in training or _is_seldom(p)]
    for root in dict.fromkeys(phase["root"] for phase in evaluated):
        mine = [phase for phase in evaluated if phase["root"] == root]
        first, last = mine[0], mine[-1]
        stands = len(set(chain.from_iterable(map(_codes, mine)))) == 1 and last["until"] > first["n"]
        if not stands or first["elements"] not in trained:
            continue
        model = trained[first["elements"]]
        found = _fail(
            first,
            first["loader"] is None or first["loader"] not in training,
            f"what is evaluated at {shown(first)} is another {first['cls']}: its {first['elements']} parameters are the same after "
            f"{first['n']} and after {last['until']} steps, and the {model['cls']} that trains at {shown(model)} is never evaluated; "
            "expected the trained weights there",
            "evaluate the model that trains, or update the copy (averaging, load_state_dict) after each step",
            first_step=first["n"],
            last_step=last["until"],
            elements=first["elements"],
        )
        yield replace(found, suspects=("eval-mode",), claims=("train-eval-mode", "no-grad-is-not-eval"))


def _is_seldom(phase: Event) -> bool:
    """Called at few of the steps: a teacher or a target network is called at each."""
    steps = phase["until"] - phase["n"]
    return steps >= NEEDED_STEPS and bool(phase["steps"] <= SELDOM * steps)


def _as_it_began(phases: Sequence[Event], trace: Trace) -> Iterator[Finding]:
    """The model is evaluated with the values that it had before training, and has its trained ones again afterwards, or is
    never evaluated with any others.

    Where it goes on from those values (folds, rewinding, a meta-learner) or is left with them after others (the best was
    the first), they may be meant.
    """
    begun = phases[0].get("weights")
    evaluated = [p for p in phases if not p["grad"] and p["n"] >= NEEDED_STEPS and p.get("weights")]
    last = evaluated[-1] if evaluated else None
    if phases[0]["n"] or begun is None or last is None or last["weights"] != begun:
        return
    alike = [phase for phase in evaluated if phase.get("weights") == begun]
    is_always = alike == evaluated
    after = _after(last, phases)
    is_left = after == begun
    has_moved = any(code not in (begun, None) for phase in phases for code in _codes(phase))
    if after is None or (is_left and not (is_always and has_moved)):
        return
    also = (
        ""
        if is_always
        else f", and with others in {len(evaluated) - len(alike)} evaluations more, so they may be compared"
    )
    yield _fail(
        last,
        is_always and trace.ended_by_itself,
        f"{last['cls']} is evaluated at {shown(last)} with exactly the {last['elements']} values that it had before the first step: last "
        f"after {last['n']} steps, {len(alike)} times in all{also}, and {'is left with them' if is_left else 'its own weights are back afterwards'}; "
        "expected weights that "
        "have learned: what is swapped in (an average, a shadow) was never updated"
        f"{'' if trace.ended_by_itself else ', or is updated only after the steps that were watched'}",
        "look for the call that updates the average or shadow after each step, and whether it runs",
        steps=last["n"],
        evaluations=len(alike),
    )


def _after(last: Event, phases: Sequence[Event]) -> Any:
    """The code of the model's weights in the phase after this one, or at the end of the run."""
    later = phases[phases.index(last) + 1 :]
    return later[0].get("weights") if later else last.get("weights_until")


def _codes(phase: Event) -> Iterator[Any]:
    return (phase[name] for name in ("weights", "weights_until") if name in phase)


def _fail(site: Event, is_sure: bool, message: str, next: str, **measured: Any) -> Finding:
    path, line = place(site.get("site"))
    return Finding(
        by="probe:modes", outcome="fail", severity="warning" if is_sure else "note", confidence="high" if is_sure else "low",
        family="eval", path=path, line=line, message=message, next=next, suspects=("another-loop-fault",),
        claims=("averaged-model-needs-updates",), measured=measured,
    )  # fmt: skip
