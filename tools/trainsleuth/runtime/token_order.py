"""Does a model with attention tell tokens apart by their place? By itself attention does not: positions must be added."""

import re

from . import registered

_ATTENDS = re.compile("attention|attn|transformer", re.IGNORECASE)
FEWEST = 5  # tokens: the first and the last may be marks that are read by their place, and stay
LITTLE = 1e-5  # of the largest output


def says_the_same(again, results, named):
    """With the inner tokens of all sequences the other way round, and with what belongs to them: to the same order of places, or
    of a whole sequence. None where that is not asked: no tokens, no attention, or places that are given.
    """
    x = again.main
    if x.is_floating_point() or x.dim() != 2 or x.shape[1] < FEWEST:
        return None
    if any("pos" in name.lower() for name, _ in named) or not any(
        _attends(one) for one in registered.modules(again.model)
    ):
        return None
    order = again.torch.tensor([0, *range(x.shape[1] - 2, 0, -1), x.shape[1] - 1], device=x.device)
    if bool((x == x.index_select(1, order)).all()):
        return None

    def change(tensor):
        return (
            tensor.index_select(1, order.to(tensor.device))
            if tensor.dim() > 1 and tensor.shape[:2] == x.shape
            else tensor
        )

    changed = again.of_rows(again.outputs(change))
    return len(changed) == len(results) and all(_is_same(again, a, b, order) for a, b in zip(results, changed))


def _attends(module):
    return bool(_ATTENDS.search(type(module).__name__))


def _is_same(again, one, other, order):
    if one.shape != other.shape:
        return False
    least = LITTLE * float(one.abs().max())
    if one.dim() > 1 and one.shape[1] == len(order):
        one = one.index_select(1, order.to(one.device))
    return again.distance([one], [other]) <= least
