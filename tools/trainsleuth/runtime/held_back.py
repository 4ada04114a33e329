"""Batches that a program is not trained on: pairs that it cannot know by heart.

Of the first epoch of a data loader some batches are kept back, and one that was trained on takes their place.
Later epochs would mix their examples with others, so they repeat the batches of the first.
"""

from .freeze import copied
from .tensors import tensors_in

EVERY = 4  # of the first epoch, one batch in so many is kept back
MOST = 16  # batches that are kept back
MEMORY = 256 * 2**20  # bytes of batches that later epochs repeat


class HeldBack:
    def __init__(self):
        self.sources = {}

    def fit(self, loader, batch):
        """What the program is trained on instead of `batch`; None for the batch itself."""
        dataset = getattr(loader, "dataset", loader)
        if id(dataset) not in self.sources:
            self.sources[id(dataset)] = _Source(loader, dataset)
        return self.sources[id(dataset)].fit(batch)

    def kept(self, loader, kind):
        """The batches that were kept back ("new") or those that were not ("known"); none when none was kept back."""
        source = self.sources.get(id(getattr(loader, "dataset", loader)))
        if source is None or not source.held:
            return []
        return source.held if kind == "new" else source.trained


class _Source:
    def __init__(self, loader, dataset):
        self.dataset = dataset  # referenced, so that its id stays its own
        self.epoch = _length(loader)
        self.every = min(EVERY, max(2, self.epoch))
        self.met = self.bytes = 0
        self.trained, self.held = [], []

    def fit(self, batch):
        self.met += 1
        if self.met > self.epoch:
            return copied(self.trained[self.met % len(self.trained)]) if self.held else None
        if self.met % self.every == 0 and len(self.held) < MOST:
            self.held.append(copied(batch))
            return copied(self.trained[-1])
        if self.bytes > MEMORY:
            self.trained.pop()
        self.trained.append(copied(batch))
        self.bytes += sum(t.numel() * t.element_size() for t in tensors_in(batch))
        return None


def _length(loader):
    try:
        return len(loader)
    except (NotImplementedError, TypeError):
        return float("inf")  # a stream
