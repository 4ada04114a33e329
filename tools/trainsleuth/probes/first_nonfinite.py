"""Which operation makes the first NaN or infinity, from which values, at which line?

The program runs its own loop at full speed until a loss or a gradient is not finite. Before the optimizer
moves anything, that step is run again with every operation watched: first the recorded calls of modules
and loss functions, then, for values that are born between them, the program's own loop with the same data
and random state and with the parameters held still. An infinity that the program writes itself (a mask)
is blamed only when it reaches the loss or turns into NaN.

Fails on: a loss or gradient that is not finite, with the operations from its origin on, what entered them,
and the row of the batch; bad parameters, buffers or data by name; a gradient scaler whose scale falls below 1.
A pass means that every loss and every gradient was finite for the steps seen. It does not rule out that
this would change later: many such faults wait for one rare batch or for weights that have grown.
Cost: reads each loss, one norm over the gradients per step; the search costs a few steps, once.
Cannot see: a fault that depends on values outside of torch's random state and the data loader may not happen
again; then the line is a guess of low confidence, from what the autograd graph still showed. Not searched: FSDP.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Confidence, Family, Finding, Number
from trainsleuth.probes import _arithmetic as arithmetic
from trainsleuth.probes import _nonfinite_words as words
from trainsleuth.trace import Event, Trace, place, shown

from ._step_scaling import causes_of_large_steps

EXPERIMENT = "observe"
READS = ("nonfinite",)
BY = "probe:first_nonfinite"
NUMERICAL: Family = "numerical"
UNREAD = {"loss": "no optimizer stepped, so no gradient was read", "gradients": "no loss was seen"}


def probe(trace: Trace) -> Iterator[Finding]:
    found = trace.events("nonfinite")
    if found:
        event = found[0]
        if str(event["why"]).startswith("another rank"):
            yield Finding(by=BY, outcome="skip", family=NUMERICAL, message=f"rank {trace.rank}: {event['why']}")
            return
        yield _named(trace, event) if event["reproduced"] else _unnamed(event)
        return
    watched = trace.events("watched")
    if not watched or not (watched[-1]["losses"] or watched[-1]["gradients"]):
        yield Finding(by=BY, outcome="open", family=NUMERICAL,
                      message="no backward and no optimizer step was seen, so no loss and no gradient could be read",
                      next="give a command that trains for a few steps")  # fmt: skip
        return
    yield from _unused(watched[-1])
    yield _finite(watched[-1])


def _finite(watched: Event) -> Finding:
    skipped = watched["skipped_by_scaler"]
    scaler = (
        f"; the gradient scaler skipped {skipped} steps, its scale is {float(watched['scale']):g}" if skipped else ""
    )
    read = [what for what, times in (("loss", watched["losses"]), ("gradients", watched["gradients"])) if times]
    unread = "" if len(read) > 1 else f"; {UNREAD[read[0]]}"
    return Finding(
        by=BY, outcome="pass", confidence="low" if unread else "high", family=NUMERICAL,
        message=f"{' and '.join(read)} {'was' if read == ['loss'] else 'were'} finite over {watched['steps']} steps "
        f"({watched['losses']} backwards){scaler}{unread}",
        measured={"steps": watched["steps"], "losses": watched["losses"], "skipped_by_scaler": skipped},
    )  # fmt: skip


def _unused(watched: Event) -> Iterator[Finding]:
    """Loss values that are not finite and went into no backward: worth a word, no alarm."""
    for told in watched["unused"]:
        path, line = place(told["site"])
        yield Finding(
            by=BY, outcome="fail", severity="note", confidence="high", family=NUMERICAL, path=path, line=line,
            message=f"{told['fn']} at {shown(told)} was not finite {told['times']} times, but no backward used it",
            measured={"times": told["times"]}, next="look whether an average of the log or an early stop uses this value",
        )  # fmt: skip


# -- with an origin ------------------------------------------------------------------------


def _named(trace: Trace, event: Event) -> Finding:
    links = event["chain"]
    first = links[0]
    site = next((link["site"] for link in links if link.get("site")), None) or event["site"]
    path, line = place(site)
    return Finding(
        by=BY,
        outcome="fail",
        severity="error",
        confidence="high",
        family="data" if first.get("source") in ("input", "batch") else NUMERICAL,
        path=path,
        line=line,
        message=words.sentence(event),
        chain=tuple(words.chain(event)),
        measured=_measured(event, first),
        next=_next(first, shown(event) if site is None else site),
        claims=("nan-loss-or-grad-first",),
        suspects=_suspects(trace, event),
    )


def _measured(event: Event, first: Event) -> dict[str, Number]:
    measured: dict[str, Number] = {"step": event["n"]}
    measured.update({name: n for name, n in first.get("output", first["inputs"][0]).items() if name in _BAD})
    if first["kind"] != "source" and first["inputs"]:
        given = first["inputs"][0]
        measured.update({f"input_{name}": given[name] for name in ("min", "max", "zeros") if name in given})
    elif first.get("at") and first.get("source") in ("input", "batch"):
        measured["row"] = first["at"][0]
    return measured


_BAD = ("nan", "inf", "-inf")


def _next(first: Event, site: str) -> str:
    if first["kind"] != "source" and first["direction"] == "backward" and arithmetic.edge(first):
        return (
            f"print the values that enter the operation at {site} whose derivative is {first['node']}; keep them from "
            "its edge before the operation, a where behind it does not help"
        )
    if first["kind"] != "source" and arithmetic.diverged(first):
        return "run with a tenth of the learning rate: when this comes later or not at all, training diverges"
    if first.get("constant"):
        return f"count the rows in which {first['op']} at {site} leaves no finite value"
    if first["kind"] != "source":
        return f"print the smallest and largest value that enter {first['op']} at {site} in this step, then bound them"
    if first.get("source") in ("input", "batch"):
        return "look up this row in the data set and how it is loaded and normalised"
    return "find who writes it: the step before, loading of weights, or code of your own"


def _suspects(trace: Trace, event: Event) -> tuple[str, ...]:
    first = event["chain"][0]
    if first["kind"] == "source":
        by_source = {
            "input": ("bad-data-values",),
            "batch": ("bad-data-values",),
            "buffer": ("another-model-fault",),
            "parameter": (*causes_of_large_steps(trace), "another-loop-fault")
            if event["n"]
            else ("another-model-fault",),
        }
        return by_source.get(str(first.get("source")), ("bad-data-values",))
    if any(link.get("direction") == "backward" for link in event["chain"]):
        return ("nonfinite-in-backward",)
    if arithmetic.diverged(first):
        return (*causes_of_large_steps(trace), "bad-initialisation-scale", "nonfinite-in-forward")
    if arithmetic.overflows(first):
        return ("nonfinite-in-forward", *causes_of_large_steps(trace))
    return ("nonfinite-in-forward",)


# -- without an origin ---------------------------------------------------------------------


def _unnamed(event: Event) -> Finding:
    """Something was not finite, and it could not be made to happen again."""
    evidence = event["evidence"]
    site = next((e["site"] for e in evidence if e.get("site")), None) or event.get("loss_site") or event["site"]
    path, line = place(site)
    confidence: Confidence = "medium" if len(evidence) == 1 else "low"
    return Finding(
        by=BY, outcome="fail", severity="warning", confidence=confidence, family=NUMERICAL, path=path, line=line,
        suspects=("nonfinite-in-forward", "nonfinite-in-backward"),
        message=f"in step {event['n']} (counted from 0) the {words.noticed(event)} at {shown(event)}; expected finite values; "
        f"its origin was not seen: {event['why']}{words.evidence(evidence)}{words.failures(event)}",
        measured={"step": event["n"], "attempts": event["attempts"]},
        next="make the data of this step repeatable (a seeded loader, no values from outside) and run the probe again",
    )  # fmt: skip
