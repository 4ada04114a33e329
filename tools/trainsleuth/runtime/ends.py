"""Where the sequences of a batch end: one value fills them up behind (or before) what they hold, and stands nowhere else."""

from collections import namedtuple

from . import registered

MOST_VALUES = 8  # that are tried at one end
LEAST_KINDS = 3  # of values in a batch of examples; two are a mask

# `places` are those that are filled up; `run` is how often one value follows itself at most elsewhere
Filled = namedtuple("Filled", "value at_end places run")


def filled(torch, rows):
    """What fills up these sequences, one in each row: the value at most places. None where their lengths are the same."""
    if rows.shape[0] < 2 or rows.shape[1] < 4:
        return None
    found = [one for at_end in (True, False) for one in _at(torch, rows, at_end)]
    return max(found, key=lambda one: int(one.places.sum()), default=None)


def _at(torch, rows, at_end):
    for value in rows[:, -1 if at_end else 0].unique()[:MOST_VALUES].tolist():
        places = run_of(rows, value, at_end)
        lengths = places.sum(1)
        differ = 2 <= int(lengths.max()) < rows.shape[1] and bool((lengths != lengths[0]).any())
        if differ and not stands_elsewhere(rows, value, places):
            yield Filled(value, at_end, places, longest_run(torch, rows, places))


def run_of(rows, value, at_end):
    """The places of this value that no other one separates from the end of its row, or from the beginning."""
    is_value = (rows == value).long()
    return (is_value.flip(1).cumprod(1).flip(1) if at_end else is_value.cumprod(1)).bool()


def asked(fill_places, at_end):
    """The places that foretell nothing but filling: the last one before a sequence foretells its first value."""
    return fill_places if at_end else fill_places & fill_places.roll(-1, 1)


def stands_elsewhere(rows, value, places):
    return bool(((rows == value) & ~places).any())


def longest_run(torch, rows, places):
    """How often one value follows itself at most, outside of these places."""
    apart = int(rows.max()) + 1
    held = torch.cat([rows.masked_fill(places, apart), torch.full_like(rows[:, :1], apart)], 1).reshape(-1)
    values, counts = held.unique_consecutive(return_counts=True)
    counts = counts[values != apart]
    return int(counts.max()) if counts.numel() else 0


def sequences_in(tensor, count):
    """(kind, one value for each place) of what may be sequences with so many labels: whole numbers, or frames, which are zero (0) or not (1)."""
    shape = tuple(tensor.shape)
    if len(shape) == 2 and not tensor.is_floating_point() and str(tensor.dtype) != "torch.bool" and fits(*shape, count):
        rows = tensor.cpu().long()
        if len(rows.unique()) >= LEAST_KINDS:
            yield "tokens", rows
    elif len(shape) == 3 and tensor.is_floating_point():
        for axis in (2, 1):
            if fits(shape[0], shape[3 - axis], count):
                yield "frames", (tensor != 0).any(axis).long().cpu()


def fits(many, length, count):
    return count in (many * length, many * (length - 1), (many - 1) * length)


def places_of(torch, sequences, labels):
    """(layout, sequences in rows, number of the label of each place): batch first and time first, where they fit.

    Labels that are one short for each sequence belong to all places but the last: they are the next tokens.
    """
    for rows, is_first in ((sequences, True), (sequences.t(), False)):
        many, length = rows.shape
        for width in (length, length - 1):
            if width and labels.numel() == many * width:
                order, shape = torch.arange(many * width), tuple(labels.shape)
                by_row = shape == (many, width) or (is_first and shape != (width, many))
                places = order.reshape(many, width) if by_row else order.reshape(width, many).t()
                yield (is_first, length - width), rows[:, :width], places


def is_told(fill, module, given):
    """Does the model know which places are filled: by a mask, lengths, or the padding_idx of an embedding?"""
    if any(getattr(one, "padding_idx", None) == fill.value for one in registered.modules(module)):
        return True
    lengths = (~fill.places).sum(1)
    for tensor in (t.cpu() for t in given):
        if tensor.dim() == 1 and tensor.shape == lengths.shape and bool((tensor == lengths).all()):
            return True
        for mask in (tensor, tensor.t()) if tensor.dim() == 2 else ():
            mask = mask[:, : fill.places.shape[1]]
            if mask.shape == fill.places.shape and is_mask(mask) and len((mask == fill.places).unique()) == 1:
                return True
    return False


def is_mask(tensor):
    return bool(((tensor == 0) | (tensor == 1)).all())
