"""A distributed sampler is never told the epoch.

DistributedSampler shuffles with a generator seeded by its seed plus the epoch. Without set_epoch() every epoch
has the same order and every rank sees the same batches again and again.

Fix: sampler.set_epoch(epoch) at the start of each epoch.

Cannot see: frameworks and helpers that set the epoch by themselves, samplers chosen by a computed name.

Bad:
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    def main(model, dataset):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        sampler = DistributedSampler(dataset)
        loader = DataLoader(dataset, batch_size=8, sampler=sampler)
        for epoch in range(10):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

Bad (the loader comes from another file):
    # file: data.py
    import torch.utils.data as data

    def build(dataset, is_distributed):
        sampler = data.distributed.DistributedSampler(dataset, shuffle=True) if is_distributed else None
        return data.DataLoader(dataset, batch_size=8, sampler=sampler)

    # file: train.py
    import torch
    from data import build

    def epoch(model, loader, optimizer):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()

    def main(model, dataset):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = build(dataset, True)
        for _ in range(10):
            epoch(model, loader, optimizer)

Bad (a sampler of batches of the project's own):
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    class Buckets(DistributedSampler):
        def __init__(self, dataset, size, shuffle=True):
            super().__init__(dataset, shuffle=shuffle)
            self.size = size

        def __iter__(self):
            generator = torch.Generator()
            generator.manual_seed(self.epoch)
            yield from torch.randperm(len(self.dataset), generator=generator).split(self.size)

    def main(model, dataset):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        buckets = Buckets(dataset, 8)
        loader = DataLoader(dataset, batch_sampler=buckets)
        for epoch in range(10):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

Good:
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    def main(model, dataset, val_dataset):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset))
        val_loader = DataLoader(val_dataset, sampler=DistributedSampler(val_dataset, shuffle=False))
        for epoch in range(10):
            loader.sampler.set_epoch(epoch)
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

Good (a loader that the network labels once, before it is trained):
    import torch
    import tqdm

    def train(model, teacher, dataset, labelled, rank, epochs):
        once = torch.utils.data.distributed.DistributedSampler(dataset, 2, rank)
        pseudo = torch.utils.data.DataLoader(dataset, 8, sampler=once)
        bar = tqdm.tqdm(total=len(pseudo))
        for x in pseudo:
            labelled.add(teacher(x).argmax(1))
            bar.update(1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(epochs):
            for x, y in torch.utils.data.DataLoader(labelled, 8):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Index, Site, Spot
from trainsleuth.facts.data.consumers import is_only_read, loader_names
from trainsleuth.facts.data.datasets import ignores_index
from trainsleuth.facts.data.epoch_told import who_tells_epoch
from trainsleuth.facts.data.made_anew import is_alike_each_epoch, is_made_anew
from trainsleuth.facts.data.samplers import drawn_by, is_given_to_nobody, samplers_by_epoch, shuffles, stays_here
from trainsleuth.facts.running.nearby import files_around
from trainsleuth.facts.training.epoch_loops import training_epochs
from trainsleuth.finding import Finding, Link

from ._given import is_started_alone
from ._left_off import arms_left_off
from ._no_training import goes_once
from ._verdicts import Verdicts

SAY = Verdicts(
    "missing-set-epoch",
    "distributed",
    "warning",
    "",
    suspects=("repeated-order-or-randomness",),
    claims=("sampler-set-epoch",),
    look="print the first indices of the sampler in two epochs",
)
_HELD_OUT = re.compile(r"val|test|eval|infer|dev", re.IGNORECASE)
_FRAMEWORKS = (
    "lightning",
    "pytorch_lightning",
    "accelerate",
    "transformers",
    "ignite",
    "mmengine",
    "mmcv",
    "catalyst",
    "composer",
    "fastai",
    "ray",
)


def check(index: Index) -> Iterator[Finding]:
    for site in samplers_by_epoch(index):
        yield _examined(index, site)


def _examined(index: Index, site: Site) -> Finding:
    path, line = site.function.path, site.call.line
    shuffled = shuffles(index, site)
    if shuffled is False:
        return SAY.passed(path, line, "the sampler does not shuffle")
    if is_given_to_nobody(site):
        return SAY.open(path, line, "nothing is given the sampler, so who draws from it is not known")
    if _is_for_evaluation(site):
        return SAY.passed(path, line, "the sampler is one for evaluation")
    if teller := who_tells_epoch(index, site):
        return SAY.passed(path, line, f"{teller} in this part of the project")
    if shuffled is None:
        return SAY.open(path, line, "whether the sampler shuffles is not resolved")
    if why := _not_known(index, site):
        return SAY.open(path, line, why)
    if stays_here(index, site):
        return SAY.passed(path, line, "the sampler stays in this function, and nothing is trained here")
    if is_only_read(index, site):
        return SAY.passed(path, line, "what the sampler gives is read, and nothing goes backward in those loops")
    if is_made_anew(index, site.function, site.position) and not is_alike_each_epoch(index, site):
        return SAY.open(path, line, "the sampler is made anew inside a loop")
    epochs = _epoch_loop(index, site)
    if epochs is None:
        return SAY.open(path, line, "no loop over epochs with a backward() was found")
    return _failure(index, site, epochs)


def _is_for_evaluation(site: Site) -> bool:
    """By names; or it stands in the else of `if is_train:`, or the loaders that are made with it are for held-out data."""
    told = " ".join(target.text for target in site.event.targets) + " ".join(
        part.text for part in site.call.walk() if part.kind == "path"
    )
    if any(map(_HELD_OUT.search, (told, site.function.name))):
        return True
    for branch in site.event.block.branches:
        words = " ".join(part.text for part in branch.tests[-1].walk()) if branch.tests else ""
        if branch.test is None and re.search(r"train", words, re.IGNORECASE) and not _HELD_OUT.search(words):
            return True
    loaders = loader_names(site)
    return bool(loaders) and all(map(_HELD_OUT.search, loaders))


def _not_known(index: Index, site: Site) -> str:
    """Why somebody may draw from it in another way, or anew each time."""
    if _has_framework(index, index.part(site.function.path)):
        return "a framework may call set_epoch()"
    if drawer := drawn_by(index, site):
        return f"{drawer.name} of this project draws from it in a way of its own"
    if ignores_index(index, site.call, Spot(site.function, site.position)):
        return "the dataset does not look at the index that the sampler gives"
    return ""


def _has_framework(index: Index, part: str) -> bool:
    return any(
        entry.module.split(".")[0] in _FRAMEWORKS
        for path, file in index.files.items()
        if index.part(path) == part
        for entry in file.imports
    )


def _epoch_loop(index: Index, site: Site) -> tuple[str, int] | None:
    """In the files that make and use the sampler; one that says that it goes over epochs before others."""
    found = [
        (one.spot.function.path, one.loop.line, one.is_named)
        for one in training_epochs(index, files_around(index, site.function))
        if one.loop.source is None or not goes_once(index, one.loop.source, one.spot)
    ]
    best = next((one for one in found if one[2]), found[0] if found else None)
    return best[:2] if best is not None else None


def _failure(index: Index, site: Site, epochs: tuple[str, int]) -> Finding:
    path, line = site.function.path, site.call.line
    chain = (
        Link(path, line, "the sampler shuffles by its seed and epoch"),
        Link(*epochs, "each round is an epoch, with the epoch of the sampler still 0"),
    )
    message = (
        f"The {site.call.last} made at {path}:{line} is never told the epoch: the loop at {epochs[0]}:{epochs[1]} gets "
        "the same order in each round; expected sampler.set_epoch(epoch) in it."
    )
    if left := arms_left_off(index, site.call, Spot(site.function, site.position)):
        message += f" It runs only where {' and '.join(left)}, which is not so by default."
    elif is_started_alone(index, epochs[0]):
        message += " Of the commands that are written down none starts it on several devices; is it meant for that?"
    else:
        return SAY.fail(path, line, message, chain)
    return SAY.fail(path, line, message, chain, "low", "note")
