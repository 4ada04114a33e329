"""A list of layers is multiplied, so it holds one layer many times.

nn.ModuleList([Block(size)] * depth) makes one block and names it depth times: all places share one set of weights. The network has
the parameters of one block, trains, and reports the depth that was asked for.

Question to answer: are the weights shared on purpose?

Fix: nn.ModuleList([Block(size) for _ in range(depth)]).

Cannot see: lists that are multiplied elsewhere.

Bad:
    from torch import nn

    class Net(nn.Module):
        def __init__(self, size, depth):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(size, size)] * depth)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).relu()
            return x

Bad (a tuple, unpacked):
    from torch import nn

    def network(size, depth, classes):
        return nn.Sequential(*((nn.Linear(size, size), nn.ReLU()) * depth), nn.Linear(size, classes))

Good:
    from torch import nn

    class Net(nn.Module):
        def __init__(self, size, depth):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(size, size) for _ in range(depth)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).relu()
            return x

Good (there is nothing to share):
    from torch import nn

    def flags(depth):
        return nn.ModuleList([nn.ReLU()] * depth)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Instance, Site, Spot, Thing, is_test, owns_parameters, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "one-layer-repeated",
    "architecture",
    "warning",
    "",
    suspects=("another-model-fault",),
    claims=("fails-silently",),
    look="count the parameters: they do not grow with the depth",
)
_MULTIPLIES = re.compile(rb"[\])]\s*\*\s*[\w(]|\*\s*[\[(]")
_SHARES = re.compile(r"share|tie|tied|recur|recycl", re.I)
_SAYS_SO = re.compile(rb"(?i:shar(?:e|ing)|\btied?\b|recurren|recycl)")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("ModuleList", "Sequential"):
        if not is_test(site.function.path) and site.function.source.holds(_MULTIPLIES):
            for product in _products(site.call):
                if (finding := _examined(index, site, product)) is not None:
                    yield finding


def _products(call: Expr) -> Iterator[Expr]:
    """[layer] * n and (layer, layer) * n among what is given, also behind a star and in a sum of lists."""
    waiting = list(call.arguments)
    while waiting:
        part = waiting.pop()
        if part.kind == "binary" and part.text == "*":
            yield part
        elif part.kind in ("star", "list", "tuple") or (part.kind == "binary" and part.text == "+"):
            waiting += part.parts


def _examined(index: Index, site: Site, product: Expr) -> Finding | None:
    path, line = site.function.path, product.line
    items, times = product.parts if product.parts[0].kind in ("list", "tuple") else product.parts[::-1]
    if items.kind not in ("list", "tuple") or (times.kind == "number" and times.text in ("0", "1")):
        return None
    made = [one for one in items.parts if one.kind == "call"]
    spot = Spot(site.function, site.position)
    owning = [one for one in made if any(_owns(index, thing) for thing in index.objects.of(one, spot))]
    if not owning:
        return SAY.passed(path, line, "nothing in the list has weights") if made else None
    names = " ".join([site.function.qualname, written(times), *(written(one) for one in site.event.targets)])
    cls = index.class_of(site.function)
    texts = (site.function.source, cls.body.source) if cls is not None else (site.function.source,)
    if _SHARES.search(names) or any(text.holds(_SAYS_SO) for text in texts):
        return SAY.passed(path, line, "a name or the text around says that weights are shared")
    return _failure(path, product, owning[0], times)


def _owns(index: Index, thing: Thing) -> bool:
    return isinstance(thing, Instance) and owns_parameters(index, thing)


def _failure(path: str, product: Expr, layer: Expr, times: Expr) -> Finding:
    shown, n = written(layer), written(times)
    chain = (Link(path, product.line, f"{shown} is made once, and stands in the list {n} times"),)
    message = (
        f"{written(product)} at {path}:{product.line} makes one {layer.last} and repeats it: its {n} places share one set of weights. "
        f"Is a layer for each place meant, [{shown} for _ in range({n})]?"
    )
    return SAY.fail(path, product.line, message, chain, "medium")
