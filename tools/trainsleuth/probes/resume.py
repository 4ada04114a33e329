"""Does a checkpoint bring everything back: are the losses after loading those of going on?

After a few steps the state dicts of all modules, optimizers, schedulers and scalers are saved as a checkpoint
would hold them; the run goes on for five steps; then the state dicts are loaded, random state and data are
put back, and the same five steps are done again.

Fails on: losses that differ although the data were the same: some state lives outside of the state dicts, in
plain attributes, non-persistent buffers, or counters; changed tensors of that kind are named.
A pass means that the state dicts are enough for the steps seen. Whether the program saves and loads all of
them is another question.
Cost: a run of its own of 16 steps; only when asked for.
Cannot see: the program's own saving and loading, state that moves slowly or only at the end of an epoch;
prefetched data that cannot be put back (open).

Bad:
    self.mean = 0.9 * self.mean + 0.1 * x.mean(0).detach()

Good:
    self.register_buffer("mean", torch.zeros(width))
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Outcome
from trainsleuth.trace import Trace, place

EXPERIMENT = "resume"
BY = "probe:resume"
SAME = 1e-5  # relative; on the CPU the same steps give the same bits


def probe(trace: Trace) -> Iterator[Finding]:
    told = trace.events("resumed")
    if not told:
        yield _finding(trace, "open", f"{trace.steps} steps were seen, 16 are needed, or a state dict could not be saved and loaded",
                       next="allow more --steps or --time")  # fmt: skip
        return
    event = told[0]
    if not event["any_inputs"] or not event["same_inputs"]:
        yield _finding(
            trace,
            "open",
            "the data of the repeated steps could not be put back",
            next="compare the losses around a real restart",
        )
        return
    pairs = list(zip(event["first"], event["second"], strict=False))
    if not pairs or not all(isinstance(loss, float) for pair in pairs for loss in pair):
        yield _finding(trace, "open", "no loss was seen" if not pairs else "the loss is not finite")
        return
    apart = next((number for number, (one, other) in enumerate(pairs) if not _same(one, other)), None)
    measured = {"steps": event["steps"], "first_loss": pairs[0][0], "after_loading": pairs[0][1]} if pairs else {}
    if apart is None:
        held = ", ".join(dict.fromkeys(event["owners"]))
        yield _finding(trace, "pass", f"{event['steps']} steps after loading the state dicts ({held}) gave the same losses as before",
                       confidence="high", measured=measured)  # fmt: skip
        return
    outside = f": {', '.join(event['outside'])} changed meanwhile and {'is' if len(event['outside']) == 1 else 'are'} in no state dict"
    yield _finding(
        trace, "fail",
        f"after loading the state dicts of step {event['n']} the same data give loss {pairs[apart][1]:.6g} where going on gave "
        f"{pairs[apart][0]:.6g} (backward {apart + 1} of {len(pairs)}){outside if event['outside'] else ''}; expected the same",
        severity="warning", confidence="high" if event["outside"] else "medium", suspects=("another-loop-fault",), measured=measured,
        next="register what changes as a buffer, or add it to what is saved and loaded", claims=("test-resume-early",),
    )  # fmt: skip


def _same(one: object, other: object) -> bool:
    if not isinstance(one, float) or not isinstance(other, float):
        return one == other
    return abs(one - other) <= SAME * max(abs(one), abs(other), 1e-12)


def _finding(trace: Trace, outcome: Outcome, message: str, **more: object) -> Finding:
    ops = trace.ops("step")
    path, line = place(ops[0].get("site")) if ops else (None, None)
    text = message if outcome != "open" else f"whether a restart goes on as before stays open: {message}"
    return Finding(by=BY, outcome=outcome, path=path, line=line, message=text, **more)  # type: ignore[arg-type]
