"""The number that a backward starts from: what the program calls its loss, before a gradient scaler enlarged it."""

from .tensors import scalar


class LossValue:
    def __init__(self):
        self._unscaled = {}  # id of a scaled loss -> the loss itself

    def scaler(self, operation, given, result):
        """Hears what a gradient scaler does."""
        if operation == "scale" and hasattr(result, "numel"):
            self._unscaled[id(result)] = scalar(given)

    def of(self, tensors):
        """Their sum; what cannot be read counts as zero."""
        value = sum(self._unscaled.get(id(tensor), scalar(tensor)) or 0.0 for tensor in tensors)
        self._unscaled.clear()
        return value
