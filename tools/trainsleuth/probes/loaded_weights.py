"""Did weights that the program loaded really reach the model?

load_state_dict(strict=False) takes what it knows by name and says of the rest only what nobody reads; a state dict into which
the checkpoint was merged by name may hold no value but the model's own. Each call is followed: how many of the values that it was
given the module took, which of its parameters were left, and whether the values lay in the module's own memory before.

Fails on: a state dict of which the module took nothing (error); one whose values were all its own, so that loading changed nothing
(a warning): a checkpoint that shares no name with the model was merged into model.state_dict() (a note where no file was read, or
one that shares names: the best weights may have been kept as a reference, or changed in place); one of which a twentieth of the module's parameters or less was taken though the rest of both sides goes by other
names (a warning; a note up to a half: parts of a model are often loaded so); a file that was read and has a value for each parameter of a
model, by name and shape, of which none is in it when it begins to train (a note: it may be read for its score, for masks, or to compare with).
A pass says that what was given was taken; whether it was the right file is another question.
Cost: none to speak of.
Cannot see: values that are copied by hand, libraries that load in a way of their own (from_pretrained, safetensors), loads that are
undone later.

Bad:
    state = torch.load("pretrained.pt")  # names begin with "module."
    model.load_state_dict(state, strict=False)

Good:
    state = {name.removeprefix("module."): value for name, value in torch.load("pretrained.pt").items()}
    model.load_state_dict(state)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Confidence, Finding, Severity
from trainsleuth.trace import Event, Trace, place, shown

EXPERIMENT = "observe"
READS = ("trace", "left_in_file")
BY = "probe:loaded_weights"
HARDLY = 0.05  # of the parameters' elements
MOST = 0.5


def probe(trace: Trace) -> Iterator[Finding]:
    calls = [op for op in trace.ops("weights_loaded") if "module" in op]
    last = {op["module"]: op for op in calls}  # a later call outdoes an earlier one
    loads = [load for load in last.values() if load.get("keys")]
    if not loads and not trace.events("left_in_file"):
        yield Finding(
            by=BY, outcome="skip", family="architecture", message="no call of load_state_dict() was looked into"
        )
    found = [one for load in loads for one in _judged(load)] + [
        _left_in_file(event) for event in trace.events("left_in_file")
    ]
    yield from found
    if loads and not found:
        taken = "; ".join(
            f"{load['cls']} took {load['taken']} of {load['keys']} at {shown(load)}{_left(load)}" for load in loads[:3]
        )
        path, line = place(loads[0].get("site"))
        yield Finding(by=BY, outcome="pass", family="architecture", path=path, line=line, message=f"values of state dicts: {taken}",
                      measured={"loads": len(loads)})  # fmt: skip


def _left(load: Event) -> str:
    count, names = load["missing"]
    return f", {count} of its own were left as they were ({names[0]} first)" if count else ""


def _judged(load: Event) -> Iterator[Finding]:
    missing, unexpected = load["missing"], load["unexpected"]
    where = f"load_state_dict() at {shown(load)}"
    if not load["parameters"]:
        return
    if not load["taken"] and missing[0]:
        yield _failure(
            load,
            f"{where} took none of the {load['keys']} values that it was given: they are called {_named(unexpected)}, those of "
            f"{load['cls']} {_named(missing)}; it stays as it was",
            "error", "high",
        )  # fmt: skip
    elif load["own"] == load["keys"] and not missing[0] and load.get("holds") is not True:
        strange = load.get("holds") is False
        why = ", and no name or matrix of a file that was read before is among them" if strange else ""
        yield _failure(
            load,
            f"{where} changed nothing: all {load['keys']} values that it was given are {load['cls']}'s own, in its own memory{why}; a state dict "
            "refers to the weights, it is no copy",
            "warning" if strange else "note", "high" if strange else "low",
        )  # fmt: skip
    elif missing[0] and unexpected[0] and load["left"] >= MOST:
        hardly = load["left"] >= 1 - HARDLY
        yield _failure(
            load,
            f"{where} left {load['left']:.1%} of the parameters' elements of {load['cls']} as they were, {missing[0]} values ({_named(missing)}), "
            f"and did not take {unexpected[0]} of {load['keys']} ({_named(unexpected)})" + ("" if hardly else ": is it meant to load a part?"),
            "warning" if hardly else "note", "medium",
        )  # fmt: skip


def _left_in_file(event: Event) -> Finding:
    path, line = place(event["read"])
    return Finding(
        by=BY, outcome="fail", severity="note", confidence="low", family="architecture", path=path, line=line,
        message=f"the file that torch.load() reads at {event['read']} has a value for each of the {event['parameters']} parameters of {event['cls']}, by name and "
        f"shape, and none of them is in it when it begins to train at {shown(event)}: no load_state_dict() was given them. Is it read for "
        "something else?",
        measured={"parameters": event["parameters"]}, suspects=("another-model-fault",), claims=("weights-not-initialised-warning",),
        next="call load_state_dict() with what was read, or read only what is used",
    )  # fmt: skip


def _named(found: list[object]) -> str:
    count, names = found
    assert isinstance(names, list) and isinstance(count, int)
    return ", ".join(map(str, names)) + (", ..." if count > len(names) else "")


def _failure(load: Event, message: str, severity: Severity, confidence: Confidence) -> Finding:
    path, line = place(load.get("site"))
    return Finding(
        by=BY,
        outcome="fail",
        message=message,
        severity=severity,
        confidence=confidence,
        family="architecture",
        path=path,
        line=line,
        measured={
            "given": load["keys"],
            "taken": load["taken"],
            "own": load["own"],
            "share_left": round(load["left"], 4),
        },
        next="compare the names of both sides (a prefix like module. or model. is the usual cause), or load with strict=True",
        claims=("weights-not-initialised-warning",),
        suspects=("another-model-fault",),
    )
