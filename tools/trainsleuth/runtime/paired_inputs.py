"""Tensors that enter a model together and hold the same values in every call, though each was made by itself."""

from itertools import combinations

from .freeze import storage
from .rows import BESIDE, is_batch

MOST_READ = 30  # calls of one model
MOST_VALUES = 1_000_000
MOST_TENSORS = 8


class Equal:
    """Of one model: `pairs` are the names of those that were equal in all calls read."""

    def __init__(self, torch):
        self.torch, self.calls, self.pairs = torch, 0, None

    def add(self, named):
        """(name, tensor) of what entered; labels and masks among them are passed over."""
        if self.calls >= MOST_READ or self.pairs == set():
            return
        self.calls += 1
        told = [(name, t) for name, t in named if not BESIDE.search(name) and is_batch(t) and t.numel() <= MOST_VALUES]
        found = {(a, b) for (a, x), (b, y) in combinations(told[:MOST_TENSORS], 2) if self._are_equal(x, y)}
        self.pairs = found if self.pairs is None else self.pairs & found

    def _are_equal(self, one, other):
        if (one.shape, one.dtype, one.device) != (other.shape, other.dtype, other.device) or storage(one) == storage(
            other
        ):
            return False
        return bool(self.torch.equal(one, other)) and bool((one != one.reshape(-1)[0]).any())
