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
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import External, Function, Index, Site, is_test
from trainsleuth.finding import Finding, Link

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
    for site in index.calls("DistributedSampler"):
        symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
        if isinstance(symbol, External) and symbol.name.startswith("torch") and not is_test(site.function.path):
            yield _examined(index, site)


def _examined(index: Index, site: Site) -> Finding:
    path, line, part = site.function.path, site.call.line, index.part(site.function.path)
    shuffle = site.call.argument(3, "shuffle")
    if shuffle is not None and shuffle.text == "False":
        return SAY.passed(path, line, "the sampler does not shuffle")
    written_about = " ".join(target.text for target in site.event.targets) + " ".join(
        part.text for part in site.call.walk() if part.kind == "path"
    )
    if _HELD_OUT.search(written_about) or _HELD_OUT.search(site.function.name):
        return SAY.passed(path, line, "the sampler is one for evaluation")
    if any(index.part(other.function.path) == part for other in index.calls("set_epoch")):
        return SAY.passed(path, line, "set_epoch() is called in this part of the project")
    if _has_framework(index, part):
        return SAY.open(path, line, "a framework may call set_epoch()")
    if _is_made_anew(index, site.function, site.position, 3):
        return SAY.open(path, line, "the sampler is made anew inside a loop")
    epochs = _epoch_loop(index, site)
    if epochs is None:
        return SAY.open(path, line, "no loop over epochs with a backward() was found")
    chain = (
        Link(path, line, "the sampler shuffles by its seed and epoch"),
        Link(*epochs, "each round is an epoch, with the epoch of the sampler still 0"),
    )
    message = (
        f"The DistributedSampler made at {path}:{line} is never told the epoch: the loop at {epochs[0]}:{epochs[1]} gets "
        "the same order in each round; expected sampler.set_epoch(epoch) in it."
    )
    return SAY.fail(path, line, message, chain)


def _has_framework(index: Index, part: str) -> bool:
    return any(
        entry.module.split(".")[0] in _FRAMEWORKS
        for path, file in index.files.items()
        if index.part(path) == part
        for entry in file.imports
    )


def _epoch_loop(index: Index, site: Site) -> tuple[str, int] | None:
    """A loop that holds a further loop with a backward(), in the files that make and use the sampler."""
    near = _files_around(index, site.function)
    for function in index.functions():
        for effect in index.effects.of(function) if function.path in near else ():
            loops = function.events[effect.position].block.loops
            inner = (spot.function.events[spot.position].block.loops for spot in (*effect.trail[1:], effect.spot))
            is_nested = len(loops) > 1 or (effect.trail and any(inner))
            if effect.kind == "backward" and loops and is_nested:
                return function.path, function.loops[loops[0]].line
    return None


def _is_made_anew(index: Index, function: Function, position: int, depth: int) -> bool:
    """Some loop, here or around a call of it, makes the sampler in each of its rounds."""
    if function.events[position].block.loops:
        return True
    return depth > 0 and any(
        _is_made_anew(index, caller.spot.function, caller.spot.position, depth - 1)
        for caller in index.callers(function)
    )


def _files_around(index: Index, function: Function) -> set[str]:
    """The file of a function and those of its callers, three calls up."""
    found, waiting = {function.path}, [(function, 3)]
    while waiting:
        inner, depth = waiting.pop()
        for caller in index.callers(inner) if depth else ():
            found.add(caller.spot.function.path)
            waiting.append((caller.spot.function, depth - 1))
    return found
