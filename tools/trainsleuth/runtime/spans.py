"""In which range the numbers of each part of a loader's batches lie."""

from .tensors import is_dense, is_unreadable

MOST_BATCHES = 8
MOST_PARTS = 8
MOST_VALUES = 4_000_000


class Spans:
    def __init__(self):
        self.batches, self.parts = 0, {}  # name -> [type, axes, lowest, highest]

    def add(self, named):
        """(name, tensor) of one batch; only finite numbers are read."""
        if self.batches >= MOST_BATCHES:
            return
        self.batches += 1
        for name, tensor in named[:MOST_PARTS]:
            if is_read(tensor):
                values = tensor.detach()
                low, high = float(values.min()), float(values.max())
                known = self.parts.setdefault(name, [str(tensor.dtype), tensor.dim(), low, high])
                known[2:] = [min(known[2], low), max(known[3], high)]


def is_read(tensor):
    if not is_dense(tensor) or is_unreadable(tensor) or not 0 < tensor.numel() <= MOST_VALUES:
        return False
    return not tensor.is_complex() and str(tensor.dtype) != "torch.bool" and bool(tensor.isfinite().all())
