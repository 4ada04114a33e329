"""A layer is made anew in each forward pass, so its weights are drawn anew each time and nothing trains them.

nn.Linear(8, 8)(x) inside of forward() makes a layer with random weights, uses it once and forgets it. No optimizer knows them, no checkpoint holds them, and two calls
with one input differ. A batch norm made so is in training mode in evaluation as well.

Fix: make the layer in __init__, and call it in forward().

Cannot see: layers that a helper makes for forward(), weights that are set in another function.

Bad:
    from torch import nn

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.head = nn.Linear(width, 2)

        def forward(self, x):
            x = nn.Linear(x.shape[1], x.shape[1])(x).relu()
            return self.head(x)

Bad (by a name):
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 3, 3)

        def forward(self, x):
            norm = nn.BatchNorm2d(8)
            return self.last(norm(self.first(x)).relu())

Good:
    from torch import nn

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.body, self.head = nn.Linear(width, width), nn.Linear(width, 2)

        def forward(self, x):
            return self.head(self.body(x).relu())

Good (made once, when the width is known):
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = None

        def forward(self, x):
            if self.head is None:
                self.head = nn.Linear(x.shape[1], 2)
            return self.head(x)

Good (a filter that is fixed):
    import torch
    from torch import nn

    class Edges(nn.Module):
        def forward(self, x, kernel):
            conv = nn.Conv2d(1, 1, 3, bias=False)
            conv.weight = nn.Parameter(kernel, requires_grad=False)
            return conv(x)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, External, Function, Index, Site, is_module_class, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "layer-made-in-forward",
    "architecture",
    "error",
    "parameter_table",
    suspects=("unregistered-submodules",),
    claims=("updates-not-applied",),
    sure=("",),
)
_LAYERS = (
    "Linear", "LazyLinear", "Bilinear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "BatchNorm1d", "BatchNorm2d",
    "BatchNorm3d", "Embedding", "LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer",
)  # fmt: skip
_RUNS = re.compile(r"_?forward(?:_.*)?|training_step")
_SETS = ("weight", "bias", "load_state_dict", "parameters", "state_dict", "from_pretrained")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls(*_LAYERS):
        function = site.function
        if is_test(function.path) or not _RUNS.fullmatch(function.name):
            continue
        cls = index.class_of(function)
        symbol = index.resolve(function, site.call.callee)
        is_of_torch = isinstance(symbol, External) and symbol.name.startswith("torch.nn.")
        affine = site.call.keyword("affine")  # without it there is nothing to train
        if (
            is_of_torch
            and (affine is None or affine.text != "False")
            and cls is not None
            and is_module_class(index, cls)
        ):
            yield _examined(site)


def _examined(site: Site) -> Finding:
    function, path, line, made = site.function, site.function.path, site.call.line, site.call
    if not _is_used_here(site):
        return SAY.open(path, line, f"what becomes of {written(made)} is not known")
    message = (
        f"{written(made)} at {path}:{line} is made anew in each call of {function.name}(): its weights are drawn again each time, and nothing trains "
        "them; expected the layer in __init__."
    )
    return SAY.fail(path, line, message, (Link(path, line, f"made in {function.name}()"),))


def _is_used_here(site: Site) -> bool:
    """It is called as it is made, or by a local name that does nothing else."""
    event = site.event
    if any(call.parts[0] is site.call or _moved(call.parts[0], site.call) for call in event.calls):
        return True
    target = event.targets[0] if event.kind == "assign" and len(event.targets) == 1 else None
    if target is None or target.kind != "path" or "." in target.text or not _is_whole(event, site.call):
        return False
    return _is_only_called(site.function, target.text, site.position)


def _moved(expr: Expr, made: Expr) -> bool:
    """nn.Linear(8, 8).to(x.device)"""
    return expr.kind == "call" and expr.last in ("to", "cuda") and expr.receiver is made


def _is_whole(event: Event, made: Expr) -> bool:
    return event.value is made or (event.value is not None and _moved(event.value, made))


def _is_only_called(function: Function, name: str, position: int) -> bool:
    is_called = False
    for event in function.events[position + 1 :]:
        for root in (*event.targets, event.value):
            for part in root.walk() if root is not None else ():
                if part.kind == "path" and part.text.startswith(f"{name}.") and part.text.split(".")[1] in _SETS:
                    return False
        called = sum(call.callee == name for call in event.calls)
        named = (
            sum(part.kind == "path" and part.text == name for part in event.value.walk())
            if event.value is not None
            else 0
        )
        if named > called:
            return False  # kept, or handed to one that may set its weights
        is_called = is_called or called > 0
    return is_called
