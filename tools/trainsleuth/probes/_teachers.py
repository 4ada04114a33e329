"""Rule of modes about what gives to the training and learns nothing: a teacher, an extractor, a reward or reference model."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

NEEDED_STEPS = 10
NEARLY_EACH = 0.9  # of the steps between its first call and the last of the run
NEEDED_LOOKS = 2
SEVERAL = 3  # calls for one backward: may be meant to draw several times


def frozen_in_training_mode(trace: Trace) -> Iterator[Finding]:
    """Called for each step in training mode, never changed, and its dropout or its batch norms act."""
    for event in trace.events("teacher"):
        acts = _acting(event)
        if not acts or not event["unchanged"] or not _is_for_each_step(event, trace.steps):
            continue
        if event["graded"] and not event["statistics_moved"]:
            continue
        reached = "gradients that reach them are used by none" if event["graded"] else "no gradient reaches them"
        doubt = _doubt(event)
        path, line = place(event.get("site"))
        yield Finding(
            by="probe:modes", outcome="fail", severity="note" if doubt else "warning", confidence="low" if doubt else "high",
            family="eval", path=path, line=line,
            message=f"{event['cls']} called at {shown(event)} is in training mode at {event['steps']} steps, though nothing trains it: no "
            f"optimizer holds its {event['elements']} parameters, {reached}, and they are the same at the end; {acts}, "
            f"and {doubt or _used(event)}; expected evaluation mode{_or_an_update(event)}",
            suspects=("eval-mode",), claims=("train-eval-mode", "no-grad-is-not-eval"),
            measured={name: event[name] for name in ("steps", "calls", "dropouts", "norms", "against", "into")},
            next="call eval() on it after whatever calls train() on a module that holds it; no_grad alone changes no mode",
        )  # fmt: skip


def never_follows(trace: Trace) -> Iterator[Finding]:
    """It began as a copy of what trains, is called for each step, and stays what it was: random weights, if the model is new.

    A target network of reinforcement learning may be copied once in thousands of steps, so it is a note.
    """
    for event in trace.events("teacher"):
        if (
            event["twin"]
            and event["unchanged"]
            and not event["graded"]
            and not _acting(event)
            and _is_for_each_step(event, trace.steps)
        ):
            path, line = place(event.get("site"))
            yield Finding(
                by="probe:modes", outcome="fail", severity="note", confidence="low", family="training-procedure", path=path, line=line,
                message=f"{event['cls']} called at {shown(event)} began as a copy of the {event['twin']} that trains, is called at "
                f"{event['steps']} steps, and its {event['elements']} parameters are the same at the end: is it an average, or a momentum "
                "encoder, that is to follow? Then nothing updates it; a target that is copied more seldom would look like this too",
                suspects=("another-loop-fault",), claims=("averaged-model-needs-updates",),
                measured={name: event[name] for name in ("steps", "calls", "elements")},
                next="look for the call that moves it after each step, and whether it runs",
            )  # fmt: skip


def _acting(event: Event) -> str:
    """What the mode switches on in it, in words; "" when nothing that was called depends on it."""
    acts = [f"{event['dropouts']} of its dropout layers drop values"] if event["dropouts"] else []
    if event["norms"]:
        moved = ", and their running statistics moved" if event["statistics_moved"] else ""
        acts.append(f"{event['norms']} of its batch norms use the statistics of the batch{moved}")
    return " and ".join(acts)


def _is_for_each_step(event: Event, steps: int) -> bool:
    """An evaluation, a rollout or a network that takes turns with another is called more seldom."""
    seen = max(1, min(steps, event["until"] + 1) - event["n"])
    is_to_the_end = event["until"] + 1 >= NEARLY_EACH * steps
    return event["steps"] >= max(NEEDED_STEPS, NEARLY_EACH * seen) and is_to_the_end and not event["evaluations"]


def _used(event: Event) -> str:
    return f"the loss is computed against what it gives (followed at {event['against']} steps)"


def _or_an_update(event: Event) -> str:
    kin = event.get("kin")
    return (
        f" or, where it is to follow the {kin} that trains and is built alike, the call that updates it" if kin else ""
    )


def _doubt(event: Event) -> str:
    """Why it may be meant so, or may not matter; "" when nothing healthy looks like it."""
    if event["graded"]:
        return "what learns is reached through it, as a generator is through a judge: its statistics may be meant to follow what it is given"
    if event["twin"]:
        return (
            f"it began as a copy of the {event['twin']} that trains: a target or average of it may be meant to stay noisy, and would "
            "have moved unless it is updated more seldom, a fixed teacher would not"
        )
    if event["calls"] >= SEVERAL * event["backwards"]:
        return "it is called several times for each backward, which may be meant to draw several times"
    if event["against"] >= NEEDED_LOOKS:
        return ""
    if event["into"]:
        return "what it gives enters what learns, where noise may be meant"
    return "whether the loss is computed from what it gives was not seen"
