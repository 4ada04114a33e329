"""The training data are read in the same order in every epoch.

DataLoader does not shuffle unless told to. If the files are sorted by class or by time, each batch holds one
kind of example, gradients point the same way for long, and the last ones seen win.

Question to answer: are the examples in a random order already, and is a fixed order meant?

Fix: shuffle=True, or a sampler that shuffles.

Cannot see: datasets that shuffle by themselves, order that matters on purpose, loaders built by a helper with
computed arguments.

Bad:
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Images(Dataset):
        def __init__(self, paths):
            self.paths = paths

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, i):
            return torch.load(self.paths[i])

    def train(model, paths):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(Images(paths), batch_size=32)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()

Bad (a torchvision set, sorted by class, and the loop in a function):
    import torch
    import torchvision
    from torch.utils.data import DataLoader

    def epoch(model, batches, optimizer):
        for x, y in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

    def main(model):
        data = torchvision.datasets.ImageFolder("train")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        epoch(model, DataLoader(data, batch_size=64, shuffle=False), optimizer)

Bad (the hook of a Lightning module):
    import lightning
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    class Tables(lightning.LightningDataModule):
        def setup(self, stage=None):
            self.train = TensorDataset(torch.load("x.pt"), torch.load("y.pt"))

        def train_dataloader(self):
            return DataLoader(self.train, batch_size=64)

        def val_dataloader(self):
            return DataLoader(self.train, batch_size=64)

Good:
    import torch
    import torchvision
    from torch.utils.data import DataLoader

    def main(model):
        data = torchvision.datasets.ImageFolder("train")
        held_out = DataLoader(torchvision.datasets.ImageFolder("val"), batch_size=64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in DataLoader(data, batch_size=64, shuffle=True):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        return [model(x) for x, y in held_out]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Expr,
    Index,
    Site,
    Spot,
    header_of,
    is_test,
    loops_around,
    surroundings,
    written,
)
from trainsleuth.facts.data.datasets import is_in_order
from trainsleuth.facts.data.loaders import is_spread, loader_sites, loaders_gone_over
from trainsleuth.finding import Finding, Link

from ._flags import is_ruled_out
from ._verdicts import Verdicts

SAY = Verdicts(
    "unshuffled-training-data",
    "data",
    "note",
    "",
    suspects=("repeated-order-or-randomness",),
    claims=("sorted-dataset-hurts",),
    look="print the labels of the first batch in two epochs",
)
_TRYING = re.compile(r"(^|_)(test|debug|demo|try)(_|$)", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    trained = dict(_trained_loaders(index))
    for site in loader_sites(index):
        if not is_test(site.function.path) and site.call in trained:
            yield _examined(index, site, trained[site.call])


def _trained_loaders(index: Index) -> Iterator[tuple[Expr, Link]]:
    """Every call that makes a loader whose loop steps an optimizer, and where that loop is."""
    for site in index.calls("backward"):
        if is_test(site.function.path):
            continue
        if not any(True for _ in surroundings(index, Spot(site.function, site.position), site.call, "step")):
            continue
        for function, loop in loops_around(index, site.function, site.position):
            if loop.source is None:
                continue
            place = header_of(function, loop)
            for spot in _training_ways(index, site, Spot(function, place)):
                for loader in loaders_gone_over(index, loop.source, spot):
                    made = loader.spot
                    if is_ruled_out(index, made.function.events[made.position].block, made):
                        continue  # get_loader(data, "test"), where the loop asks for "train"
                    yield loader.call, Link(function.path, loop.line, "trains on it, in the order that it gives")
    for site in loader_sites(index):
        cls = index.class_of(site.function) if site.function.name == "train_dataloader" else None
        if cls is not None and any("Lightning" in base for base in index.external_bases(cls)):
            yield (
                site.call,
                Link(site.function.path, site.function.line, "Lightning trains on it, in the order that it gives"),
            )


def _training_ways(index: Index, backward: Site, loop: Spot) -> Iterator[Spot]:
    """The loop as each call of its function runs it, without the calls whose flags keep backward() from running."""
    if backward.function is not loop.function or not backward.event.block.branches:
        yield loop
        return
    for frame in index.calling.contexts(loop.function):
        spot = loop._replace(frame=frame)
        if not is_ruled_out(index, backward.event.block, spot):
            yield spot


def _examined(index: Index, site: Site, use: Link) -> Finding:
    path, line, call = site.function.path, site.call.line, site.call
    chosen = [call.argument(2, "shuffle"), call.argument(3, "sampler"), call.argument(4, "batch_sampler")]
    if is_spread(call) or any(given is not None and given.text not in ("False", "None") for given in chosen):
        return SAY.passed(path, line, "a shuffle or a sampler is given")
    if _TRYING.search(site.function.name):
        return SAY.open(
            path, line, f"{site.function.name} tries something out; whether its training counts is not known"
        )
    if not is_in_order(index, call, Spot(site.function, site.position)):
        return SAY.open(path, line, "whether the dataset has an order of its own is not resolved")
    said = "shuffle=False" if chosen[0] is not None else "no shuffle"
    chain = (Link(path, line, f"{written(call)}: {said}"), use)
    message = (
        f"The training loader at {path}:{line} has {said}, so every epoch at {use.path}:{use.line} sees the examples in "
        "the order of the dataset: is that order random? Expected shuffle=True."
    )
    return SAY.fail(path, line, message, chain, "medium")
