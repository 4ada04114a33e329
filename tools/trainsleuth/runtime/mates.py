"""What one example's output owes to the other examples of its batch: how far it moves with them, and which row it is."""

from .rows import is_index
from .tensors import tensors_in

FEW = 8  # rows in which one is looked for that differs from the middle one


def moved_by_others(again, results, axis, kept=()):
    """How far the middle of an axis moves when only what stands at the other places changes; None if unknown.

    The middle, since a recurrent layer that takes this axis for time shows at later places only. The others are
    doubled or left out, not only exchanged: sums and means over the axis would stay as they are. None of them keeps its
    place, for all may depend on one. `kept` stays as it is.
    """
    size = int(again.main.shape[axis])
    middle = size // 2
    others = [place for place in range(size) if place != middle]
    order = {place: others[number // 2] for number, place in enumerate(others) if number}  # the first: the middle one
    changed = _with_order(again, axis, [order.get(place, middle) for place in range(size)], kept)
    pairs = [(a, b) for a, b in zip(results, changed) if a.dim() > axis and a.shape[axis] == size]
    pairs = [(a.select(axis, middle), b.select(axis, middle)) for a, b in pairs]
    if not pairs or any(a.shape != b.shape for a, b in pairs):
        return None
    return max(again.distance([a], [b]) for a, b in pairs)


def facts(again, results, noise):
    """Of the examples themselves. Noise that is drawn in the order of the lengths goes to other examples when these
    change, and an output that is as long as the longest of them has another shape: then the lengths stay.
    """
    found = {"mates_effect": moved_by_others(again, results, 0)}
    kept = lengths_of(again)
    if kept and not again.kept and found["mates_effect"] != 0.0 and (noise or found["mates_effect"] is None):
        same = moved_by_others(again, results, 0, kept)
        if same is not None:
            found = {"mates_effect": same, "other_lengths_effect": found["mates_effect"], "same_lengths": True}
    if 0.0 < (found["mates_effect"] or 0.0) <= again.rounding(results):
        found.update(rounded=found["mates_effect"], mates_effect=0.0)
    if found["mates_effect"]:
        tells_order = again.gives_numbers or bool(again.orders)
        found.update(own_row=again.rows // 2, lands=lands(again, results, kept), tells_order=tells_order)
    return found


def lengths_of(again):
    """Whole numbers with one value for each example beside sequences, of which none is longer."""
    longest = again.main.shape[1] if again.main.dim() > 1 else 0
    return [one for one in tensors_in((again.args, again.kwargs)) if is_lengths(one, again.rows, longest)]


def is_lengths(tensor, rows, longest):
    if tensor.is_floating_point() or tensor.is_complex() or str(tensor.dtype) == "torch.bool":
        return False
    is_one_each = tensor.numel() == rows and tensor.dim() in (1, 2) and tensor.shape[0] == rows
    return is_one_each and longest > 1 and int(tensor.min()) > 0 and int(tensor.max()) <= longest


def is_an_order(tensor, rows):
    """Whole numbers from 0 on, each once: the place that each row had before, or is to have."""
    if not is_index(tensor) or len(tensor) != rows:
        return False
    places = list(range(rows))
    return tensor.tolist() != places == sorted(tensor.tolist())


def lands(again, results, kept):
    """The rows that move with the middle example alone, one for each output that moves; None where it is several."""
    middle, rows = again.rows // 2, again.main[:FEW]
    other = next((n for n, row in enumerate(rows) if bool((row != again.main[middle]).any())), None)
    if other is None:
        return None
    order = [other if place == middle else place for place in range(again.rows)]
    found = []
    for a, b in zip(results, _with_order(again, 0, order, kept)):
        if a.shape != b.shape:
            return None
        far = (a.float() - b.float()).abs().reshape(again.rows, -1).max(1)[0]
        moved = (far > again.rounding([a])).nonzero().flatten().tolist()
        if len(moved) > 1:
            return None
        found += moved
    return found or None


def _with_order(again, axis, order, kept):
    """The outputs when the places of an axis come in this order."""
    size = len(order)

    def change(tensor):
        if (
            tensor.dim() <= axis
            or tensor.shape[axis] != size
            or again.stays(tensor)
            or any(tensor is one for one in kept)
        ):
            return tensor
        return tensor.index_select(axis, again.torch.tensor(order, device=tensor.device))

    return again.of_rows(again.outputs(change))
