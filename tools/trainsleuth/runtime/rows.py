"""Examples told apart: one exact number per row of a batch, how much a row holds at all, and whether all of it is finite."""

import random
import re

from .tensors import is_dense, is_unreadable, tensors_in

SAMPLE = 4096  # values of a row that count; a longer row is read at regular distances
FEW = 16  # values that must differ in a row of whole numbers, else equal rows may be chance

BESIDE = re.compile(
    r"label|target|truth|mask|token_type|position|(^|\.)y$|(^|\.)gt", re.IGNORECASE
)  # names of what comes with the examples


class Coder:
    """Codes of rows, equal for equal rows in every batch, process and rank (whole-number arithmetic only)."""

    def __init__(self, torch):
        self.torch = torch
        self.weights = {}

    def codes(self, tensor):
        """(codes, is telling, is finite) of the rows, each (N,) on the tensor's device; None where rows cannot be read."""
        if not is_batch(tensor):
            return None
        rows = tensor.detach().reshape(tensor.shape[0], -1)
        if rows.shape[1] > SAMPLE:
            rows = rows[:, :: rows.shape[1] // SAMPLE][:, :SAMPLE]
        bits = self._bits(rows.contiguous())
        codes = (bits * self._weights(bits)).sum(1)
        differing = (rows != rows[:, :1]).sum(1)
        finite = self.torch.isfinite(rows).all(1)
        if rows.dtype.is_floating_point:
            return codes, (differing >= FEW) | ((rows != rows.round()).sum(1) >= 2), finite
        return codes, differing >= FEW, finite

    def _bits(self, rows):
        """The values as whole numbers, exactly."""
        kinds = {2: self.torch.int16, 4: self.torch.int32, 8: self.torch.int64}
        if rows.dtype.is_floating_point:
            rows = rows + 0.0  # minus zero is zero
            return rows.view(kinds[rows.element_size()]).to(self.torch.int64)
        return rows.to(self.torch.int64)

    def _weights(self, bits):
        key = (bits.shape[1], bits.device)
        if key not in self.weights:
            drawn = random.Random(20)  # torch.func forbids random operations of torch
            weights = [drawn.randrange(-(2**62), 2**62) | 1 for _ in range(bits.shape[1])]
            self.weights[key] = self.torch.tensor(weights, device=bits.device)
        return self.weights[key]


def is_batch(tensor):
    """Two rows or more of plain numbers, in memory."""
    return (
        tensor.dim() >= 1
        and tensor.shape[0] >= 2
        and tensor.numel() > 0
        and not tensor.is_complex()
        and not tensor.is_quantized
        and is_dense(tensor)
        and not is_unreadable(tensor)
        and (not tensor.dtype.is_floating_point or tensor.element_size() in (2, 4, 8))
    )


def main_input(named, args=()):
    """The largest of (name, tensor) pairs that is a batch, but neither a mask of bools nor the state of a recurrent layer; or None.

    Of several as large one that is not called labels or a mask. Sequences that are packed are no batch: their rows are steps of all of them.
    """
    if any(type(one).__name__ == "PackedSequence" for one in args):
        return None
    first = next(tensors_in(args), None)
    batches = [
        (name, tensor)
        for name, tensor in named
        if is_batch(tensor) and not is_state(tensor, first) and str(tensor.dtype) != "torch.bool"
    ]
    return max(batches, key=lambda pair: (pair[1].numel(), not BESIDE.search(pair[0])), default=None)


def with_others(torch, tensor, named):
    """The main input; where it is one whole number for each example, beside the numbers that come with it: a rating is of a user and of an item."""
    if not is_index(tensor):
        return tensor
    beside = [one for name, one in named if is_numbers(one) and len(one) == len(tensor) and not BESIDE.search(name)]
    if len(beside) < 2 or len({one.device for one in beside}) > 1:
        return tensor
    # as whole numbers, exactly
    columns = [one.double().view(torch.int64) if one.is_floating_point() else one.long() for one in beside]
    return torch.stack(columns, 1)


def is_index(tensor):
    return is_numbers(tensor) and not tensor.is_floating_point()


def is_numbers(tensor):
    """One for each example."""
    return tensor.dim() == 1 and str(tensor.dtype) != "torch.bool" and is_batch(tensor)


def is_state(tensor, first):
    """[layers, examples, width] beside a first argument of tokens, or of sequences of vectors."""
    if first is None or tensor.dim() != 3 or not tensor.is_floating_point():
        return False
    is_sequence = first.dim() == 3 or (first.dim() == 2 and not first.is_floating_point())
    return is_sequence and tensor.shape[0] != first.shape[0] and tensor.shape[1] in first.shape[:2]
