"""Views that regroup numbers of different rows, as where view() stands in the place of permute().

Read from the graph behind a loss, where the shapes before and behind each view stand; of data, which have no graph, from
what a tensor that enters a model is a view of.
"""

from itertools import accumulate
from operator import mul

from .graph import ELEMENTWISE, name_of, shape_of

VIEWS = ("ViewBackward", "UnsafeView", "ReshapeAlias")
# what leaves the channels of a convolution where they are, in axis 1
CHANNELS_STAY = (
    *ELEMENTWISE, "Avg", "AdaptiveAvg", "AdaptiveMax", "Clone", "CudnnBatchNorm", "Elu", "Gelu", "Hardtanh", "Hardswish", "LeakyRelu",
    "MaxPool", "MkldnnBatchNorm", "NativeBatchNorm", "NativeDropout", "NativeGroupNorm", "Silu", "Softplus", "ToCopy", "Upsample",
)  # fmt: skip
MOST_BEHIND = 40  # nodes between a view and the convolution


def regrouped(nodes):
    """(node, shape before, shape behind, what it does) of each such view: "channels" of a convolution become the last axis though
    they are axis 1; "rows": the last axis becomes the channels of a map; "swapped": two neighbouring axes change places, and the
    numbers stay where they are.
    """
    for node in nodes:
        if not name_of(node).startswith(VIEWS):
            continue
        before, after = sizes_before(node), shape_of(node)
        if before is None or after is None or min(len(before), len(after)) < 2:
            continue
        if is_swapped(before, after):
            yield node, before, after, "swapped"
        elif is_split(before, after[-1]) and after[:2] != before[:2] and is_of_convolution(node.next_functions[0][0]):
            yield node, before, after, "channels"
        elif (
            len(after) >= 4
            and is_split(after, before[-1])
            and after[:2] != before[:2]
            and not ends_alike(before, after)
        ):
            yield node, before, after, "rows"


def sizes_before(node):
    sizes = getattr(node, "_saved_self_sym_sizes", None) or getattr(node, "_saved_self_sizes", None)
    return [int(size) for size in sizes] if sizes is not None else None


def is_swapped(before, after):
    """Two neighbouring axes of three, of unlike length. Lengths that differ by one are left alone: so scores of relative
    positions are shifted.
    """
    apart = [place for place, (one, other) in enumerate(zip(before, after)) if one != other]
    if len(before) != 3 or len(after) != 3 or len(apart) != 2 or apart[1] - apart[0] != 1:
        return False
    one, other = before[apart[0]], before[apart[1]]
    return [after[apart[0]], after[apart[1]]] == [other, one] and min(one, other) > 1 and abs(one - other) > 1


def is_split(channels_first, last):
    """As long as axis 1 of [N, C, H, W] is the last axis on the other side of the view, and no axes behind C make up so many: so it
    takes neighbours in one channel for the channels of one place.
    """
    channels = channels_first[1]
    if len(channels_first) < 3 or channels < 2 or last != channels:
        return False
    size = 1
    for axis in reversed(channels_first[1:]):
        size *= axis
        if size == channels:
            return False
    return True


def ends_alike(before, after):
    """Some of the last axes hold as many numbers on both sides: heads that are put together stay within their place."""
    ends = [set(accumulate(reversed(shape[1:]), mul)) for shape in (before, after)]
    return len(ends[0] & ends[1]) > 1  # all of an example they share anyway


def is_of_convolution(node):
    """The channels of its output still stand in axis 1."""
    for _ in range(MOST_BEHIND):
        if name_of(node).startswith("Convolution"):
            return True
        if node is None or not name_of(node).startswith(CHANNELS_STAY) or not node.next_functions:
            return False
        node = next((parent for parent, _ in node.next_functions if parent is not None), None)
    return False


def of_data(tensor):
    """(shape before, shape behind) where a tensor is a view that exchanges two axes of another one; else None."""
    base = getattr(tensor, "_base", None)
    if base is None or tensor.grad_fn is not None or tensor.numel() != base.numel():
        return None
    before, after = list(base.shape), list(tensor.shape)
    is_laid_alike = tensor.is_contiguous() and base.is_contiguous()
    return (before, after) if is_laid_alike and is_swapped(before, after) else None
