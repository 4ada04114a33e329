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

from trainsleuth.facts import (
    MODULE_BODY,
    Class,
    Effect,
    Event,
    Expr,
    External,
    Function,
    Index,
    Instance,
    Literal,
    Loop,
    Site,
    Spot,
    bindings,
    bound_names,
    derived,
    is_test,
    mentions,
    written,
)
from trainsleuth.finding import Finding, Link

from ._consumers import is_only_read, loader_names
from ._left_off import arms_left_off
from ._loading import is_spread
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
_EPOCH = re.compile(rb"\bset_epoch\b|\.epoch\b|\.seed\b|['\"]epoch['\"]|shuffle\s*\(")
_DATA = re.compile(r"iter|load|data|batch", re.IGNORECASE)
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
    own = {cls.name: cls for cls in index.classes() if _is_by_epoch(index, cls)}
    for site in index.calls("DistributedSampler", *own):
        symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
        is_torch = isinstance(symbol, External) and symbol.name.startswith("torch")
        if (is_torch or symbol in own.values()) and not is_test(site.function.path):
            yield _examined(index, site)


def _is_by_epoch(index: Index, cls: Class) -> bool:
    """A sampler of the project below that of torch, whose order is that of its epoch."""
    if not any(base.last.endswith("Sampler") for base in cls.bases):
        return False
    if not any(one.startswith("torch.") and one.endswith(".DistributedSampler") for one in index.external_bases(cls)):
        return False
    draws = index.method(cls, "__iter__")
    return draws is None or any(
        part.text == f"{draws.self_name}.epoch"
        for event in draws.events
        for root in _roots(event)
        for part in root.walk()
    )


def _roots(event: Event) -> Iterator[Expr]:
    yield from (root for root in (event.value, *event.targets) if root is not None)


def _is_given_to_nobody(site: Site) -> bool:
    """A local name that nothing later in its function speaks of: the loader is made without it."""
    names = [target.text for target in site.event.targets]
    if not names or site.event.value is not site.call or any("." in name for name in names):
        return False
    later = site.function.events[site.position + 1 :]
    return site.function.name != MODULE_BODY and not any(mentions(event.value, names) for event in later)


def _examined(index: Index, site: Site) -> Finding:
    path, line, part = site.function.path, site.call.line, index.part(site.function.path)
    shuffles = _shuffles(index, site)
    if shuffles is False:
        return SAY.passed(path, line, "the sampler does not shuffle")
    if _is_given_to_nobody(site):
        return SAY.open(path, line, "nothing is given the sampler, so who draws from it is not known")
    written_about = " ".join(target.text for target in site.event.targets) + " ".join(
        part.text for part in site.call.walk() if part.kind == "path"
    )
    if any(map(_HELD_OUT.search, (written_about, site.function.name))) or _is_in_evaluation(site):
        return SAY.passed(path, line, "the sampler is one for evaluation")
    beside = _other_programs(index, site)
    if any(index.part(p := other.function.path) == part and p not in beside for other in index.calls("set_epoch")):
        return SAY.passed(path, line, "set_epoch() is called in this part of the project")
    if _is_set_otherwise(index, part, site, beside):
        return SAY.passed(path, line, "the epoch is set by name or by attribute in this part of the project")
    if shuffles is None:
        return SAY.open(path, line, "whether the sampler shuffles is not resolved")
    if _has_framework(index, part):
        return SAY.open(path, line, "a framework may call set_epoch()")
    if drawer := _drawn_by(index, site):
        return SAY.open(path, line, f"{drawer.name} of this project draws from it in a way of its own")
    if _draws_its_own(index, site):
        return SAY.open(path, line, "the dataset does not look at the index that the sampler gives")
    if _stays_here(index, site):
        return SAY.passed(path, line, "the sampler stays in this function, and nothing is trained here")
    if is_only_read(index, site):
        return SAY.passed(path, line, "what the sampler gives is read, and nothing goes backward in those loops")
    if _is_made_anew(index, site.function, site.position, 3) and not _is_alike_each_time(index, site):
        return SAY.open(path, line, "the sampler is made anew inside a loop")
    epochs = _epoch_loop(index, site)
    if epochs is None:
        return SAY.open(path, line, "no loop over epochs with a backward() was found")
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
        return SAY.fail(path, line, message, chain, "low", "note")
    return SAY.fail(path, line, message, chain)


def _drawn_by(index: Index, site: Site) -> Class | None:
    """A class of the project, no loader of torch, that is given the sampler or what is made of it."""
    events = site.function.events
    for position in range(site.position + 1, len(events)):
        known = derived(site.function, bound_names(site.event), site.position + 1, position)
        for call in events[position].calls:
            symbol = index.resolve(site.function, call.callee) if call.callee else None
            if isinstance(symbol, Class) and any(mentions(part, known) for part in call.parts[1:]):
                bases = {base.rpartition(".")[2] for base in index.external_bases(symbol)}
                if not bases & {"DataLoader", "BatchSampler", "Sampler", "?"}:
                    return symbol
    return None


def _is_in_evaluation(site: Site) -> bool:
    """It stands in the else of `if is_train:`, or the loaders that are made with it are for held-out data."""
    for branch in site.event.block.branches:
        words = " ".join(part.text for part in branch.tests[-1].walk()) if branch.tests else ""
        if branch.test is None and re.search(r"train", words, re.IGNORECASE) and not _HELD_OUT.search(words):
            return True
    loaders = loader_names(site)
    return bool(loaders) and all(map(_HELD_OUT.search, loaders))


def _shuffles(index: Index, site: Site) -> bool | None:
    """None when it is not resolved; a sampler that shuffles in one of its uses shuffles."""
    cls = index.resolve(site.function, site.call.callee)
    init = index.method(cls, "__init__") if isinstance(cls, Class) else None
    names = [one.name for one in init.parameters[1:]] if init is not None else []
    place = names.index("shuffle") if "shuffle" in names else 99 if names else 3
    given = site.call.argument(place, "shuffle")
    if given is None:
        taken = init.parameter("shuffle") if init is not None else None
        is_off = taken is not None and taken.default is not None and taken.default.text == "False"
        return None if is_spread(site.call) else not is_off
    things = index.objects.of(given, Spot(site.function, site.position))
    texts = {thing.expr.text if isinstance(thing, Literal) else "?" for thing in things}
    return True if "True" in texts else False if texts == {"False"} else None


def _other_programs(index: Index, site: Site) -> set[str]:
    """Files that are started by themselves, and that nothing imports that leads to the sampler: train_one.py beside
    train_many.py.
    """
    near = _files_around(index, site.function)
    started = {path for path, file in index.files.items() if file.body.source.holds(_GUARD)} - near
    used = {one for path in near for one in index.names.imported(index.files[path])} if started else set()
    return started - used


_GUARD = re.compile(rb"__name__\s*==")


def _is_set_otherwise(index: Index, part: str, site: Site, beside: set[str]) -> bool:
    """sampler.epoch = epoch, "set_epoch" as a string or a function that is handed on, or dataset.reshuffle()."""
    dataset = site.call.argument(0, "dataset")
    own = {target.last for target in site.event.targets}
    data = dataset.last if dataset is not None and dataset.kind == "path" else ""
    for function in index.functions():
        if index.part(function.path) != part or function.path in beside or not function.source.holds(_EPOCH):
            continue
        for event in function.events:
            if data and any(
                "shuffle" in c.last and c.receiver is not None and c.receiver.last == data for c in event.calls
            ):
                return True
            if any("sampler" in said and "epoch" in said for said in _by_name(event)):
                return True
            if any(target.last == "epoch" and _is_sampler(target, own) for target in event.targets):
                return True
            if event.block.loops and any(target.last == "seed" and target.receiver for target in event.targets):
                return True
            walked = event.value.walk() if event.value is not None else ()
            if any(one.text.endswith("set_epoch") for one in walked if one.kind in ("path", "string")):
                return True
    return False


def _is_sampler(target: Expr, own: set[str]) -> bool:
    """Of an attribute that is set: its object is named like a sampler, or as the sampler was when it was made."""
    named = target.text.split(".")[:-1]
    return "sampler" in written(target).lower() or (bool(named) and named[-1] in own)


def _by_name(event: Event) -> Iterator[str]:
    """setattr(sampler, "epoch", 3), sampler.__dict__["epoch"]."""
    yield from (written(call) for call in event.calls if call.last == "setattr")
    yield from (written(target) for target in event.targets if target.kind == "index")


def _has_framework(index: Index, part: str) -> bool:
    return any(
        entry.module.split(".")[0] in _FRAMEWORKS
        for path, file in index.files.items()
        if index.part(path) == part
        for entry in file.imports
    )


def _draws_its_own(index: Index, site: Site) -> bool:
    """A dataset whose __getitem__ never uses its index gives something new each time."""
    given = site.call.argument(0, "dataset")
    for thing in index.objects.of(given, Spot(site.function, site.position)) if given is not None else ():
        method = (
            thing.kind.methods.get("__getitem__")
            if isinstance(thing, Instance) and isinstance(thing.kind, Class)
            else None
        )
        if method is not None and len(method.parameters) > 1:
            name = method.parameters[1].name
            roots = (root for event in method.events for root in (event.value, *event.targets))
            return not any(mentions(root, [name]) for root in roots)
    return False


def _stays_here(index: Index, site: Site) -> bool:
    """A loader for features or scores: it is neither returned, nor kept, nor given to a function of the project."""
    function = site.function
    if function.name == MODULE_BODY or any(effect.kind == "backward" for effect in index.effects.of(function)):
        return False
    names = derived(function, [t.text for t in site.event.targets if t.kind == "path"], site.position + 1)
    if site.event.kind != "assign" or not names or any("." in name for name in names):
        return False
    for event in function.events[site.position + 1 :]:
        if (
            event.kind == "return"
            and event.value is not None
            and event.value.kind != "each"
            and mentions(event.value, names)
        ):
            return False
        if any(
            index.functions_named(call.last) and any(mentions(part, names) for part in call.parts[1:])
            for call in event.calls
        ):
            return False
    return True


def _epoch_loop(index: Index, site: Site) -> tuple[str, int] | None:
    """A loop over epochs around one over batches with a backward(), in the files that make and use the sampler."""
    near = _files_around(index, site.function)
    found = [
        (function, loop, is_named)
        for function in index.functions()
        if function.path in near
        for effect in index.effects.of(function)
        if effect.kind == "backward"
        for loop, is_named in _epoch_loops(index, function, effect)
        if loop.source is None or not goes_once(index, loop.source, Spot(function, effect.position))
    ]
    best = next((one for one in found if one[2]), found[0] if found else None)
    return (best[0].path, best[1].line) if best is not None else None


def _epoch_loops(index: Index, function: Function, effect: Effect) -> Iterator[tuple[Loop, bool]]:
    """Loops of the function that go over epochs, each with whether it says so; those around the effect count."""
    own = [function.loops[place] for place in function.events[effect.position].block.loops]
    inside = [(loop, Spot(function, effect.position)) for loop in own]
    for spot in (*effect.trail[1:], effect.spot) if effect.trail else ():
        inside += [(spot.function.loops[place], spot) for place in spot.function.events[spot.position].block.loops]
    for depth, loop in enumerate(own):
        deeper = inside[depth + 1 :]
        if deeper and _says_epoch(loop):
            yield loop, True
        elif not _is_over_data(index, loop, inside[depth][1]) and any(_is_over_data(index, *one) for one in deeper):
            yield loop, False


def _says_epoch(loop: Loop) -> bool:
    parts = [part for root in (loop.target, loop.source) if root is not None for part in root.walk()]
    return any("epoch" in part.text.lower() and not _DATA.search(part.text) for part in parts if part.kind == "path")


def _is_over_data(index: Index, loop: Loop, spot: Spot) -> bool:
    if loop.kind != "for" or loop.source is None or _says_epoch(loop):
        return False
    if loop.source.kind == "call" and loop.source.last == "range":
        return any(index.values.is_loader(part, spot) for one in loop.source.arguments for part in one.walk())
    return index.values.is_loader(loop.source, spot)


def _is_made_anew(index: Index, function: Function, position: int, depth: int) -> bool:
    """Some loop, here or around a call of it, makes the sampler in each of its rounds."""
    if function.events[position].block.loops:
        return True
    return depth > 0 and any(
        _is_made_anew(index, caller.spot.function, caller.spot.position, depth - 1)
        for caller in index.callers(function)
    )


def _is_alike_each_time(index: Index, site: Site) -> bool:
    """Made anew for each epoch of a training, of a dataset that is older than the loop and is left as it is, with the
    seed of always: it begins at epoch 0.
    """
    dataset, loops = site.call.argument(0, "dataset"), site.event.block.loops
    seed = site.call.argument(4, "seed")
    if not loops or dataset is None or dataset.kind != "path" or (seed is not None and seed.kind != "number"):
        return False
    name, function = dataset.text.partition(".")[0], site.function
    if not any(_says_epoch(function.loops[place]) for place in loops):
        return False
    if index.values.is_without_grad(Spot(function, site.position)):
        return False
    inside = (event for event in function.events if loops[0] in event.block.loops)
    if any(call.callee.startswith(f"{name}.") for event in inside for call in event.calls):
        return False
    if any(mentions(function.loops[place].target, [name]) for place in loops):
        return False
    made = (function.events[one.position] for one in bindings(function).get(name, ()))
    return all(loops[0] not in event.block.loops for event in made)


def _files_around(index: Index, function: Function) -> set[str]:
    """The file of a function and those of its callers, three calls up."""
    found, waiting = {function.path}, [(function, 3)]
    while waiting:
        inner, depth = waiting.pop()
        for caller in index.callers(inner) if depth else ():
            found.add(caller.spot.function.path)
            waiting.append((caller.spot.function, depth - 1))
    return found
