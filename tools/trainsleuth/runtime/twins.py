"""Two sides of a comparison: what went into a module, what came out, and the gradient that came back to it."""

from .rows import is_batch
from .tensors import hear_gradient, is_dense, is_unreadable, local

OUTPUTS = 1e-4  # of the largest: rows at other places of a batch are summed in another order
LOW_PRECISION = 0.01


class Side:
    """Tensors are kept without their graph; the gradient is there when a backward has passed."""

    def __init__(self, given, result, gradients=None, part=None):
        self.given, self.result = given, result.detach()
        self.gradients, self.part = gradients, part
        if gradients is None:
            self.gradients = []
            hear_gradient(result, lambda gradient, kept=self.gradients: kept.append(gradient.detach()))

    @property
    def gradient(self):
        """Of one backward; None where it came in several parts or not at all."""
        if len(self.gradients) != 1:
            return None
        return self.gradients[0] if self.part is None else self.part(self.gradients[0])

    def parts(self):
        """("halves" or "neighbours", (one side, the other)) for a batch whose rows may come twice."""
        rows = self.result.shape[0]
        if rows % 2 or rows < 4 or not all(map(is_dense, self.given)):
            return
        along = [t for t in self.given if t.dim() and t.shape[0] == rows]
        if not along:
            return
        for how, first, second in PARTS:
            yield (
                how,
                tuple(
                    Side([part(t) for t in along], part(self.result), self.gradients, part) for part in (first, second)
                ),
            )

    def gets_and_gives_the_same(self, torch, other):
        if len(self.given) != len(other.given) or self.result.shape != other.result.shape:
            return False
        if not all(are_equal(torch, one, two) for one, two in zip(self.given, other.given)):
            return False
        return is_near(self.result, other.result)


def first_half(tensor):
    return tensor[: len(tensor) // 2]


def second_half(tensor):
    return tensor[len(tensor) // 2 :]


def even_rows(tensor):
    return tensor[0::2]


def odd_rows(tensor):
    return tensor[1::2]


PARTS = (("halves", first_half, second_half), ("neighbours", even_rows, odd_rows))


def halves(tensor):
    """The same parts of one tensor."""
    if tensor.shape[0] % 2 == 0 and tensor.shape[0] >= 4:
        for how, first, second in PARTS:
            yield how, (first(tensor), second(tensor))


def are_equal(torch, one, other):
    if any(not is_dense(t) or is_unreadable(t) or local(t) is not t for t in (one, other)):
        return False
    return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device) and torch.equal(one, other)


def is_near(one, other, tolerance=None):
    """But for rounding."""
    if one is None or other is None or one.shape != other.shape or not is_batch(one):
        return False
    if tolerance is None:
        tolerance = OUTPUTS if one.element_size() >= 4 else LOW_PRECISION
    one, other = one.float(), other.float()
    return bool((one - other).abs().max() <= tolerance * one.abs().max())
