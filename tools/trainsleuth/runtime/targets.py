"""Whether the targets that a loss compares with ever differ, and whether they are the loader's."""

from .freeze import storage
from .tensors import is_dense, tensors_in

CLASSIFIERS = ("cross_entropy", "nll_loss")  # losses whose targets are numbers of classes
MOST_READ = 30  # calls of one loss
MOST_PLACES = 20


class Targets:
    """`given` is the last batch of a loader, `entered` the sizes of what modules got since; places are (function, line of the user,
    line of a library).
    """

    def __init__(self):
        self.given, self.places, self.entered = None, {}, set()

    def take(self, batch):
        self.given, self.entered = batch, set()

    def add(self, place, target):
        if place not in self.places and len(self.places) >= MOST_PLACES:
            return
        known = self.places.setdefault(place, [0, 0, 0, set(), 0])
        if known[0] >= MOST_READ or target.numel() < 2:
            return
        known[0] += 1
        value = constant_value(target)
        if value is not None:
            known[1] += 1
            given = list(tensors_in(self.given))
            known[2] += any(constant_value(t) == value for t in given if t.numel() == target.numel())
            known[3].add(value)
            known[4] += any(ends_in(t, value, target.numel()) for t in given if t.numel() not in self.entered)

    def gave(self, target):
        """Is this of the loader's batch: the same memory, or a copy in another type or on another device?"""
        return any(is_of(given, target) for given in tensors_in(self.given))

    def facts(self):
        """For each place: calls read, those with targets all alike, those whose batch held such a tensor, or one that no module gets whole
        and that begins or ends so, their values.
        """
        for place, (read, constant, given, values, ends) in self.places.items():
            yield (
                place,
                {"read": read, "constant": constant, "given": given, "ends": ends, "values": sorted(values)[:4]},
            )


def constant_value(tensor):
    """The one value of all elements; None when they differ, or cannot be read."""
    if tensor.device.type == "meta" or tensor.is_complex() or tensor.is_quantized or not is_dense(tensor):
        return None
    first = tensor.detach().reshape(-1)[0]
    return float(first) if bool((tensor.detach() == first).all()) else None


def ends_in(given, value, count):
    """Is its first or last place along an axis this value throughout: what a window is to foretell?"""
    ends = (given.select(axis, end) for axis in range(1, given.dim()) for end in (0, -1) if given.shape[axis])
    return any(one.numel() == count and constant_value(one) == value for one in ends)


def is_of(given, target):
    if (given.dtype, given.device) == (target.dtype, target.device):
        return storage(given) == storage(target)
    return given.numel() == target.numel() and constant_value(given) == constant_value(target) is not None
