"""Listener: which share of its data set does a loader of this rank walk, and in which order?

One event "share" for each that trains. Of the order only the state of the random numbers is told from which a pass draws it: equal states, equal orders.
Only in programs that have set up torch.distributed.
"""

import hashlib
import weakref

from . import alike

PASSES = 3
MOST = 4  # loaders


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.known, self.latest = {}, None
        self.born = weakref.WeakKeyDictionary()  # loader -> where

    def loader_born(self, loader):
        self.born[loader] = self.bus.sites.here()

    def loader_started(self, loader):
        facts = self._facts(loader)
        if facts is not None and len(facts["orders"]) < PASSES:
            facts["orders"].append(self._state(loader.sampler))

    def _facts(self, loader):
        distributed = self.torch.distributed
        if not distributed.is_available() or not distributed.is_initialized():
            return None
        number = self.bus.number("dataset", getattr(loader, "dataset", loader))
        if number not in self.known and len(self.known) < MOST:
            user, library = self.born.get(loader) or self.bus.sites.here()
            self.known[number] = {
                "dataset": number, "cls": type(getattr(loader, "dataset", None)).__name__, "site": user, "lib": library,
                "world": distributed.get_world_size(), "orders": [], "backwards": 0, "ended": 0, **self._walk(loader),
            }  # fmt: skip
        return self.known.get(number)

    def _walk(self, loader):
        """Does it walk all of its data set, shuffled by itself? Then what it holds, too."""
        data, dataset = self.torch.utils.data, getattr(loader, "dataset", None)
        sampler, batches = getattr(loader, "sampler", None), getattr(loader, "batch_sampler", None)
        is_plain = type(sampler) is data.RandomSampler and type(batches) in (data.BatchSampler, type(None))
        if (
            not is_plain
            or sampler.replacement
            or sampler.data_source is not dataset
            or alike.speaks_of_ranks(loader.collate_fn)
        ):
            return {"is_whole": False, "content": None}
        length = len(dataset)
        return {"is_whole": len(sampler) == length, "length": length, "content": alike.code(dataset)}

    def _state(self, sampler):
        generator = getattr(sampler, "generator", None)
        state = self.torch.get_rng_state() if generator is None else generator.get_state()
        return hashlib.blake2b(bytes(state.tolist()), digest_size=8).hexdigest()

    def batch(self, loader, batch):
        self.latest = self.bus.number("dataset", getattr(loader, "dataset", loader))

    def loader_ended(self, loader):
        number = self.bus.number("dataset", getattr(loader, "dataset", loader))
        if number in self.known and self.known[number]["backwards"]:
            self.known[number]["ended"] += 1

    def backward_before(self, tensors, gradients):
        if self.latest in self.known:
            self.known[self.latest]["backwards"] += 1

    def close(self, reason):
        for facts in self.known.values():
            if facts["backwards"]:
                self.events("share", **facts)
