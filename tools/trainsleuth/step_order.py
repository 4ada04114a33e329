"""One typical step of a run, operation by operation: what the order of a step is judged and shown by.

step_order.told(trace)    # "batch > zero_grad > forward > cross_entropy > backward > step > schedule"
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.trace import Event, Trace

_OPS = (
    *("batch", "forward", "loss", "backward", "clip", "step", "zero_grad", "schedule"),
    *("scaler_scale", "scaler_unscale", "scaler_step", "scaler_update"),
)
_BEGINS = ("batch", "forward", "backward", "step")
_ENDS = ("schedule", "scaler_update")
MAX_OPS = 200


def typical(trace: Trace) -> tuple[Event, ...]:
    """From one step of the optimizer that steps last to its next; the third such cycle where there are as many."""
    cycles = list(trace.cycles(trace.stepping[-1]))
    return cycles[min(2, len(cycles) - 1)]


def shown(trace: Trace) -> list[Event]:
    """The operations of the typical step that a reader looks for, each once: what stands between two steps of an optimizer
    is told where it stands in the loop, behind the one or before the other.
    """
    cycle = typical(trace)
    start = next((i for i, op in enumerate(cycle) if op["op"] in _BEGINS), 0)
    before, after = list(cycle[:start]), _until_next_batch(trace, cycle[-1])
    if after and any(op["op"] == "batch" for op in cycle):
        before = []  # of the iteration before
    elif after:
        before, after = before[_ending(before) :], after[: _ending(after)]
    return [op for op in (*before, *cycle[start:], *after) if op["op"] in _OPS][:MAX_OPS]


def _ending(ops: list[Event]) -> int:
    """How many of them end an iteration: clearing gradients may as well begin the next."""
    return max((place for place, op in enumerate(ops, 1) if op["op"] in _ENDS), default=0)


def name(op: Event) -> str:
    """The function of a loss or of clipping; the operation of everything else."""
    return str(op.get("fn") if op["op"] in ("loss", "clip") else op["op"])


def told(trace: Trace) -> str:
    """The names of `shown`, in order; () around repeats. A trace without a step has none: ask `trace.stepping`."""
    return " > ".join(_folded([name(op) for op in shown(trace)]))


def _until_next_batch(trace: Trace, step: Event) -> list[Event]:
    """What follows the step before the next iteration begins (clearing, schedules)."""
    ops = trace.ops()
    rest = ops[next(i for i, op in enumerate(ops) if op is step) + 1 :]
    found = []
    for op in rest:
        if op["op"] in _BEGINS:
            break
        found.append(op)
    return found


def _folded(words: list[str]) -> Iterator[str]:
    """Repeats told once with their number, the longest repeated stretch first: micro-batches, closures."""
    at = 0
    while at < len(words):
        width, count = _repeat(words[at:])
        stretch = " > ".join(words[at : at + width])
        yield stretch if count == 1 else f"{stretch} x{count}" if width == 1 else f"({stretch}) x{count}"
        at += width * count


def _repeat(words: list[str]) -> tuple[int, int]:
    """(width, count) of the repetition at the start that covers most words."""
    best = (1, 1)
    for width in range(1, len(words) // 2 + 1):
        count = 1
        while words[count * width : (count + 1) * width] == words[:width]:
            count += 1
        if count > 1 and width * count > best[0] * best[1]:
            best = (width, count)
    return best
