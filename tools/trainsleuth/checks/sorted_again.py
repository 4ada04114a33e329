"""What a recurrent layer gives for sequences sorted by length is brought back with the order that sorted them, not with its inverse.

out[order] undoes x[order] only where the order is its own inverse. For any other the outputs are sorted once more: each sequence gets what was read
of another, and the loss sees labels that do not belong to it. Shapes agree.

Fix: out[order.argsort()], or enforce_sorted=False and no order at all.

Cannot see: an order that is handed to another function, one that is inverted there.

Bad:
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.LSTM(8, 8, batch_first=True)

        def forward(self, words, lengths):
            lengths, order = lengths.sort(descending=True)
            packed = pack_padded_sequence(words[order], lengths, batch_first=True)
            out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
            return out[order]

Good:
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.LSTM(8, 8, batch_first=True)

        def forward(self, words, lengths):
            lengths, order = lengths.sort(descending=True)
            packed = pack_padded_sequence(words[order], lengths, batch_first=True)
            out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
            return out[order.argsort()]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, bindings, bound_names, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "sorted-again",
    "data",
    "error",
    "independence",
    suspects=("targets-misaligned-with-inputs",),
    claims=("labels-shuffled-together",),
)
_PACKS = re.compile(rb"pack_padded_sequence\(")
_SORTS = ("sort", "argsort")
_PICKS = ("index_select",)
_SIZES = frozenset(["size", "shape", "dim", "ndim", "device", "dtype", "new_zeros", "new_tensor", "new"])


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_PACKS):
        if is_test(function.path) or "pack_padded_sequence" not in function.called:
            continue
        packs = (
            n
            for n, event in enumerate(function.events)
            if any(call.last == "pack_padded_sequence" for call in event.calls)
        )
        packed = next(packs, -1)  # `called` may hold what stands in no statement
        for order, sorts in _orders(function):
            if sorts <= packed and _picks(function, order, sorts, packed + 1, None):
                yield _examined(function, order, sorts, packed)


def _orders(function: Function) -> Iterator[tuple[str, int]]:
    """(name, position) of each order that sorts: lengths, order = lengths.sort(); order = np.argsort(-lengths)."""
    for name, found in bindings(function).items():
        made = function.events[found[0].position].value if len(found) == 1 else None
        if made is None or "." in name:
            continue
        call = made.parts[0] if made.kind == "index" and made.parts[1].text == "1" else made
        is_second = found[0].items == (1,) or call is not made
        if call.kind == "call" and call.last in _SORTS and (call.last == "argsort" or is_second):
            yield name, found[0].position


def _picks(
    function: Function, order: str, start: int, end: int | None, names: frozenset[str] | None
) -> list[tuple[int, Expr]]:
    """(position, what) of each x[order] and x.index_select(0, order) between two places, of these names if any are given."""
    found = []
    for position, event in enumerate(function.events[start:end], start):
        for part in event.value.walk() if event.value is not None else ():
            base = _ordered(part, order)
            if base is not None and (names is None or base in names):
                found.append((position, part))
    return found


def _ordered(part: Expr, order: str) -> str | None:
    """x of x[order], x[order, :], x.index_select(0, order)."""
    if part.kind == "index" and part.parts[0].kind in ("path", "index"):
        picks, base = part.parts[1:], part.parts[0]
        while base.kind == "index":
            base = base.parts[0]
    elif part.kind == "call" and part.last in _PICKS and part.receiver is not None:
        picks, base = part.arguments, part.receiver
    else:
        return None
    given = [one for pick in picks for one in (pick.parts if pick.kind == "tuple" else (pick,))]
    return base.text if base.kind == "path" and any(one.kind == "path" and one.text == order for one in given) else None


def _made_of(function: Function, packed: int) -> tuple[frozenset[str], set[str]]:
    """(names that are computed from what is packed, not from its sizes alone; names that were there before)."""
    events = function.events
    made, begun = set(bound_names(events[packed])), {one.name for one in function.parameters}
    begun.update(name for event in events[:packed] for name in bound_names(event))
    for event in events[packed + 1 :]:
        held = (
            [part.text.split(".") for part in event.value.walk() if part.kind == "path"]
            if event.value is not None
            else []
        )
        if any(names[0] in made and not _SIZES & set(names[1:]) for names in held):
            made.update(bound_names(event))
    return frozenset(made), begun - set(bound_names(events[packed]))


def _examined(function: Function, order: str, sorts: int, packed: int) -> Finding:
    """Names that are made of what the layer gives for the packed sequences, and their picks by the same order."""
    path, events = function.path, function.events
    made, begun = _made_of(function, packed)
    again = [
        (n, part) for n, part in _picks(function, order, packed + 1, None, made) if _ordered(part, order) not in begun
    ]
    if again and any(call.last == "pack_padded_sequence" for event in events[again[0][0] :] for call in event.calls):
        again = []  # for a second layer
    line = events[sorts].line
    if not again:
        return SAY.passed(path, line, f"{order} sorts, and does not come back")
    at, part = again[0]
    first = _picks(function, order, sorts, packed + 1, None)[0]
    chain = (
        Link(path, line, f"{order} sorts by length"),
        Link(path, events[first[0]].line, f"{written(first[1])} is what is read"),
        Link(path, events[at].line, f"{written(part)} sorts once more"),
    )
    message = (
        f"{written(part)} at {path}:{events[at].line} brings back what was sorted by {order} ({path}:{line}) with {order} itself, which sorts it once more: each sequence "
        f"gets the outputs of another; expected its inverse, {order}.argsort()."
    )
    return SAY.fail(path, events[at].line, message, chain)
