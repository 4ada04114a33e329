"""The last step of padded sequences is taken, and for most of them that is padding.

pad_packed_sequence brings the outputs of a recurrent layer back to the length of the longest sequence and writes zeros behind
the end of every shorter one. out[:, -1] is then a row of zeros for all but the longest: the layers above see nothing of
them, and the loss falls only as far as the class frequencies allow.

Fix: the last state that the layer itself gives (h_n[-1]), or the step at lengths - 1: out[torch.arange(len(out)), lengths - 1].

Cannot see: outputs that another function is given, batches in which all sequences are equally long.

Bad:
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(32, 64, batch_first=True)
            self.head = nn.Linear(64, 5)

        def forward(self, x, lengths):
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            out, (h, _) = self.lstm(packed)
            out, _ = pad_packed_sequence(out, batch_first=True)
            return self.head(out[:, -1])

Good:
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(32, 64, batch_first=True)
            self.head = nn.Linear(64, 5)

        def forward(self, x, lengths):
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            out, (h, _) = self.lstm(packed)
            return self.head(h[-1])
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Index, Site, axis_of, bound_names, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "last-step-of-padded",
    "architecture",
    "error",
    "",
    suspects=("wrong-axis-or-mask",),
    claims=("adaptive-parts-mask-bugs",),
    look="print the last step of a batch whose sequences differ in length",
    sure=("",),
)
_TURNING = (
    "permute", "transpose", "swapaxes", "swapdims", "movedim", "view", "reshape", "flip", "t", "unbind", "chunk", "split", "sum", "mean",
    "max", "amax", "gather", "squeeze",
)  # fmt: skip
_POOLS = re.compile(r"pool|attn|attention|last|head|read", re.IGNORECASE)  # what comes out may have no places any more


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("pad_packed_sequence"):
        if not is_test(site.function.path):
            yield _examined(site)


def _examined(site: Site) -> Finding:
    path, line = site.function.path, site.call.line
    first = site.call.argument(1, "batch_first")
    if first is not None and first.text not in ("True", "False"):
        return SAY.open(path, line, f"whether {written(first)} puts the examples first is not known")
    batch_first = first is not None and first.text == "True"
    taken = next(_taken(site, batch_first), None)
    if taken is None:
        return SAY.passed(path, line, "the last step is not taken")
    chain = (
        Link(path, line, "writes zeros behind the end of every shorter sequence"),
        Link(path, taken.line, f"{written(taken)} takes the last step of the longest"),
    )
    message = (
        f"{written(taken)} at {path}:{taken.line} is the last step of sequences that {written(site.call)} at {path}:{line} has padded: zeros for "
        "all but the longest of the batch; expected the last state of the layer, or the step at lengths - 1."
    )
    return SAY.fail(path, taken.line, message, chain)


def _taken(site: Site, batch_first: bool) -> Iterator[Expr]:
    """Each last step of the padded outputs, under the names that they go by in the function."""
    names, event = set(_names(site)), site.event
    for part in event.value.walk() if event.value is not None else ():
        if _is_last(part, batch_first) and _is_padded(part.parts[0], site.call):
            yield part
    for later in site.function.events[site.position + 1 :] if names else ():
        for part in later.value.walk() if later.value is not None else ():
            if _is_last(part, batch_first) and part.parts[0].kind == "path" and part.parts[0].text in names:
                yield part
        kept = set(_kept(later, names))
        names = (names - set(bound_names(later))) | kept


def _names(site: Site) -> Iterator[str]:
    """out of `out, _ = pad_packed_sequence(x)` and of `out = pad_packed_sequence(x)[0]`."""
    event = site.event
    if event.kind != "assign" or event.value is None:
        return
    for target in event.targets:
        if target.kind == "tuple" and event.value is site.call:
            target = target.parts[0] if target.parts else target
        elif not _is_padded(event.value, site.call):
            continue
        if target.kind == "path":
            yield target.text


def _is_padded(expr: Expr, call: Expr) -> bool:
    """The first of what the call gives."""
    return expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].text == "0" and expr.parts[0] is call


def _is_last(part: Expr, batch_first: bool) -> bool:
    """out[:, -1], out[:, -1, :] with the examples first; out[-1] with time first."""
    if part.kind != "index":
        return False
    items = part.parts[1:]
    if batch_first:
        return len(items) > 1 and items[0].kind == "slice" and not items[0].parts and axis_of(items[1]) == -1
    return axis_of(items[0]) == -1


def _kept(event: Event, names: set[str]) -> Iterator[str]:
    """x of `x = self.dropout(out)`: places stay where they are."""
    value = event.value
    if event.kind != "assign" or value is None or value.kind != "call" or value.last in _TURNING:
        return
    if _POOLS.search(value.last):
        return
    given = [value.receiver, *value.arguments[:1]]
    if len(value.parts) <= 2 and any(one is not None and one.kind == "path" and one.text in names for one in given):
        yield from (target.text for target in event.targets if target.kind == "path")
