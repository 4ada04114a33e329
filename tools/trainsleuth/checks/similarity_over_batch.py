"""A cosine similarity compares columns of the batch, and not the vectors of its examples.

cosine_similarity(dim=0) of a batch takes the vector of one feature over all examples. It is a number between -1 and 1 as
the other is, and as a loss it falls; but how well one example fits depends on its neighbours in the batch, and a feature
that is small everywhere counts as much as a large one.

Fix: dim=-1 where each example has a vector.

Cannot see: tensors whose first axis the code does not tell.

Bad:
    import torch
    import torch.nn.functional as F
    from torch.utils.data import DataLoader

    def cosine_loss(output, target):
        return 1 - F.cosine_similarity(output, target, dim=0).mean()

    def train(model, dataset, optimizer):
        for features in DataLoader(dataset, batch_size=64, shuffle=True):
            features = features.to("cuda")
            loss = cosine_loss(model(features), features)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Good:
    import torch
    import torch.nn.functional as F
    from torch.utils.data import DataLoader

    def cosine_loss(output, target):
        return 1 - F.cosine_similarity(output, target, dim=-1).mean()

    def train(model, dataset, optimizer):
        for features in DataLoader(dataset, batch_size=64, shuffle=True):
            features = features.to("cuda")
            loss = cosine_loss(model(features), features)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Good (two vectors):
    import torch
    import torch.nn.functional as F

    def alignment(one, other):
        return F.cosine_similarity(one.grad.flatten(), other.grad.flatten(), dim=0)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Expr,
    Index,
    Instance,
    Site,
    Spot,
    axis_of,
    external_name,
    is_test,
    makers,
    rank_of,
    written,
)
from trainsleuth.facts.data.loaders import loaders_gone_over
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "similarity-over-batch",
    "loss",
    "note",
    "independence",
    suspects=("wrong-axis-or-mask",),
    claims=("backprop-dependency-check",),
)
_LAYER = "torch.nn.CosineSimilarity"
_MOVES = ("to", "cuda", "cpu", "float", "double", "half", "detach", "clone", "contiguous", "bfloat16", "requires_grad_")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("cosine_similarity"):
        if not is_test(site.function.path) and len(site.call.arguments) > 1:
            spot = Spot(site.function, site.position)
            if any(external_name(one).startswith("torch.") for one in index.objects.of(site.call.parts[0], spot)):
                yield _examined(index, site, site.call.argument(2, "dim"))
    for site in (
        index.calls_holding(frozenset(["CosineSimilarity"])) if index.sites.may_call("CosineSimilarity") else ()
    ):
        spot = Spot(site.function, site.position)
        for one in index.objects.of(site.call.parts[0], spot):
            if isinstance(one, Instance) and one.call is not None and external_name(one) == _LAYER:
                if len(site.call.arguments) == 2 and not is_test(site.function.path):
                    yield _examined(index, site, one.call.argument(0, "dim"))
                break


def _examined(index: Index, site: Site, dim: Expr | None) -> Finding:
    path, line = site.function.path, site.call.line
    if dim is None or axis_of(dim) != 0:
        return SAY.passed(path, line, f"{written(site.call)} does not run over axis 0")
    spot = Spot(site.function, site.position)
    for given in site.call.arguments[:2]:
        for link in _of_batch(index, given, spot):
            return _question(site, link)
    return SAY.open(path, line, f"whether {written(site.call)} has batches is not resolved")


def _of_batch(index: Index, given: Expr, spot: Spot) -> Iterator[Link]:
    """What says that the first axis of a tensor of several counts examples."""
    rank = rank_of(index, given, spot)
    if rank is not None:
        if rank.axes > 1 and rank.is_batch_first:
            yield Link(rank.path, rank.line, rank.why)
        return
    for made, at in ((given, spot), *makers(index, given, spot)):  # of what a loop gives makers say nothing
        while made.kind == "call" and made.last in _MOVES and made.receiver is not None:
            made = made.receiver
        if made.kind != "path":
            continue
        for loop in at.function.loops:
            names = {part.text for part in loop.target.walk()} if loop.target is not None else ()
            if made.text in names and loop.source is not None and loop.line <= at.line <= loop.end_line:
                if any(_gathers(loader.call) for loader in loaders_gone_over(index, loop.source, at)):
                    yield Link(at.function.path, loop.line, f"{made.text} is a batch of {written(loop.source)}")


def _gathers(loader: Expr) -> bool:
    size = loader.argument(1, "batch_size")
    return size is None or size.text != "None"


def _question(site: Site, link: Link) -> Finding:
    path, line, said = site.function.path, site.call.line, written(site.call)
    message = (
        f"{said} at {path}:{line} runs over the batch ({link.why}, {link.path}:{link.line}): it compares each feature over the examples. "
        "Is that meant, or the vectors of the examples (dim=-1)?"
    )
    return SAY.fail(path, line, message, (link, Link(path, line, f"{said} runs over axis 0")), "medium", "note")
