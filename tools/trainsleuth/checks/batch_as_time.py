"""A recurrent or attention layer takes the batch for time.

nn.LSTM, nn.GRU, nn.RNN, nn.MultiheadAttention and nn.TransformerEncoder read (time, batch, features) unless they are made
with batch_first=True. Where their output is then taken at [:, -1] or averaged over axis 1, the code means (batch, time,
features): all shapes fit, and each example depends on the others of its batch.

Fix: batch_first=True.

Cannot see: outputs that are handed to other functions before a step of them is taken.

Bad:
    import torch
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(1000, 32)
            self.lstm = nn.LSTM(32, 64)
            self.head = nn.Linear(64, 5)

        def forward(self, tokens):
            out, _ = self.lstm(self.embed(tokens))
            return self.head(out[:, -1])

Bad (a class token):
    import torch
    from torch import nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.token = nn.Parameter(torch.zeros(1, 1, 64))
            layer = nn.TransformerEncoderLayer(64, 4)
            self.encoder = nn.TransformerEncoder(layer, 2)

        def forward(self, patches):
            token = self.token.expand(len(patches), -1, -1)
            out = self.encoder(torch.cat([token, patches], dim=1))
            return out[:, 0]

Good:
    import torch
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(32, 64, batch_first=True)
            self.other = nn.GRU(64, 64)
            self.head = nn.Linear(64, 5)

        def forward(self, x):
            out, _ = self.lstm(x)
            later, _ = self.other(out.transpose(0, 1))
            return self.head(out[:, -1] + later[-1])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainsleuth.facts import (
    Expr,
    Index,
    Instance,
    Site,
    Spot,
    axis_of,
    bound_names,
    external_name,
    is_test,
    makers,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "batch-as-time",
    "architecture",
    "error",
    "independence",
    suspects=("wrong-axis-or-mask",),
    claims=("backprop-dependency-check",),
    sure=("",),
)
_PLACES = {  # of batch_first among the positional arguments
    "LSTM": 4, "GRU": 4, "RNN": 5, "MultiheadAttention": 8, "TransformerEncoderLayer": 6, "TransformerEncoder": -1,
}  # fmt: skip
_OVER = ("mean", "max", "sum", "amax", "logsumexp")
_TURNING = (
    "permute", "transpose", "swapaxes", "swapdims", "movedim", "moveaxis", "rearrange", "t", "view", "reshape", "stack",
    "pack_padded_sequence", "pack_sequence", "pad_sequence", "unsqueeze", "einsum", "unbind",
)  # fmt: skip


def check(index: Index) -> Iterator[Finding]:
    if all(
        map(_is_batch_first, (site.call for site in index.calls(*_PLACES) if site.call.last != "TransformerEncoder"))
    ):
        return  # to ask what every call may call is dear
    for site in index.calls_holding(frozenset(_PLACES)):
        if is_test(site.function.path) or not site.call.arguments:
            continue
        things = index.called_at.of(site)[0]
        layers = [one for one in things if isinstance(one, Instance) and one.call is not None and _name(one)]
        if layers and len(layers) == len(things):
            yield _examined(index, site, layers)


def _name(layer: Instance) -> str:
    name = external_name(layer)
    last = name.rpartition(".")[2]
    return last if name.startswith("torch.nn.") and last in _PLACES else ""


def _examined(index: Index, site: Site, layers: list[Instance]) -> Finding:
    path, line = site.function.path, site.call.line
    made = [_made(index, layer) for layer in layers]
    if any(call is None for call in made):
        return SAY.open(path, line, f"how {written(site.call.parts[0])} is made is not resolved")
    if any(_is_batch_first(call) for call in made if call is not None):
        return SAY.passed(path, line, f"{written(site.call.parts[0])} is made with batch_first")
    taken = next(_taken(site), None)
    if taken is None:
        return SAY.passed(path, line, "no step is taken along axis 1 of what it gives")
    if (turned := _turned(index, site)) is not None:
        return SAY.open(path, line, f"{written(turned)} may put time first")
    return _failure(site, layers[0], *taken)


def _made(index: Index, layer: Instance) -> Expr | None:
    """The call that says which axis comes first: of the layer that a TransformerEncoder repeats."""
    if _name(layer) != "TransformerEncoder" or layer.call is None:
        return layer.call
    given = layer.call.argument(0, "encoder_layer")
    found = index.objects.of(given, layer.spot) if given is not None and layer.spot is not None else ()
    inner = [one.call for one in found if isinstance(one, Instance) and _name(one) == "TransformerEncoderLayer"]
    return inner[0] if len(inner) == len(tuple(found)) == 1 else None


def _is_batch_first(call: Expr) -> bool:
    """Anything but False, and what is not written out."""
    if any(part.kind in ("star", "doublestar") for part in call.parts[1:]):
        return True
    told = call.argument(_PLACES.get(call.last, -1), "batch_first") if _PLACES.get(call.last, -1) > 0 else None
    return told is not None and told.text != "False"


def _taken(site: Site) -> Iterator[tuple[Expr, int]]:
    """(part, line) of each step or average along axis 1 of what the call gives, as long as it has its name."""
    events, event = site.function.events, site.event
    if event.value is not None:
        yield from (
            (part, event.line) for part in event.value.walk() if _takes(part, lambda one: _is_output(one, site.call))
        )
    name = _output_name(site)
    for later in events[site.position + 1 :] if name else ():
        for part in later.value.walk() if later.value is not None else ():
            if _takes(part, lambda one: one.kind == "path" and one.text == name):
                yield part, later.line
        if name in bound_names(later):
            return


def _is_output(expr: Expr, call: Expr) -> bool:
    """The call itself, or the first of what it gives: self.lstm(x)[0]."""
    first = expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].text == "0" and expr.parts[0] is call
    return expr is call or first


def _output_name(site: Site) -> str:
    event = site.event
    if event.kind != "assign" or len(event.targets) != 1 or event.value is None:
        return ""
    target = event.targets[0]
    if target.kind == "tuple" and event.value is site.call:
        target = target.parts[0]
    elif not _is_output(event.value, site.call):
        return ""
    return target.text if target.kind == "path" else ""


def _takes(part: Expr, is_output: Callable[[Expr], bool]) -> bool:
    """out[:, -1], out[:, 0, :], out.mean(dim=1) and torch.mean(out, 1)."""
    if part.kind == "index" and len(part.parts) > 2 and is_output(part.parts[0]):
        return _is_all(part.parts[1]) and axis_of(part.parts[2]) in (0, -1)
    if part.kind != "call" or part.last not in _OVER:
        return False
    receiver = part.receiver
    if receiver is not None and is_output(receiver):
        dim = part.argument(0, "dim", "axis")
    elif part.arguments and is_output(part.arguments[0]):
        dim = part.argument(1, "dim", "axis")
    else:
        return False
    return dim is not None and axis_of(dim) == 1


def _is_all(item: Expr) -> bool:
    return item.kind == "slice" and not item.parts


def _turned(index: Index, site: Site) -> Expr | None:
    """What may have put time first in what the layer is given."""
    given, spot = site.call.arguments[0], Spot(site.function, site.position)
    for made in (given, *(one for one, _ in makers(index, given, spot))):
        for part in made.walk():
            if part.kind == "call" and part.last in _TURNING:
                return part
    return None


def _failure(site: Site, layer: Instance, taken: Expr, line: int) -> Finding:
    path, shown, name = site.function.path, written(site.call.parts[0]), _name(layer)
    assert layer.call is not None and layer.spot is not None
    chain = (
        Link(layer.spot.function.path, layer.call.line, f"nn.{name} is made without batch_first"),
        Link(path, site.call.line, f"{shown} reads its first axis as time"),
        Link(path, line, f"{written(taken)} takes the second for time"),
    )
    message = (
        f"{shown} (nn.{name} without batch_first) at {path}:{site.call.line} reads axis 0 as time, and {written(taken)} at "
        f"{path}:{line} takes axis 1 for it: the examples of a batch are read as one sequence; expected batch_first=True."
    )
    return SAY.fail(path, site.call.line, message, chain)
