"""A sample of the values of a network, taken anew at each look, at the same places of a network and of its copy."""

from . import registered
from .freeze import storage
from .tensors import has_memory, is_dense, is_unreadable, local

MOST_TENSORS, MOST_VALUES = 4, 1024


class Sample:
    """`places`: (what holds it, key in it) of each tensor; another may lie there at each look."""

    def __init__(self, torch, thing, places):
        self.torch, self.thing, self.places = torch, thing, places

    def tensors(self):
        return [holder[key] for holder, key in self.places]

    def values(self):
        parts = [local(tensor.detach()).reshape(-1) for tensor in self.tensors()]
        return self.torch.cat([part[:: max(1, part.numel() // MOST_VALUES)].double() for part in parts])


def places_in(thing, names):
    """Of a module those of its parameters, of a list all, of a table those of these names, none where one is not there."""
    if registered.is_module(thing):
        modules, places = dict(registered.named_modules(thing)), []
        for name, _ in registered.named_parameters(thing):
            owner, _, own = name.rpartition(".")
            places.append((modules[owner]._parameters, own))
        return places
    if type(thing) is list:
        return [(thing, number) for number in range(len(thing))]
    return [(thing, name) for name in names] if all(name in thing for name in names) else []


def samples(torch, copy, trained):
    """Of a copy and of a trained module, at the same places of their largest tensors; None where they are not built alike."""
    its_places = places_in(trained, ())
    my_places = places_in(copy, [name for name, _ in registered.named_parameters(trained)])
    mine, its = ([holder[key] for holder, key in places] for places in (my_places, its_places))
    if not mine or [t.shape for t in mine] != [t.shape for t in its] or any(map(_are_one, mine, its)):
        return None
    fit = [number for number, pair in enumerate(zip(mine, its)) if _are_comparable(*map(local, pair))]
    fit = sorted(fit, key=lambda number: -its[number].numel())[:MOST_TENSORS]
    fit = [number for number in fit if its[number].device == its[fit[0]].device]
    found = ((copy, my_places), (trained, its_places))
    return tuple(Sample(torch, thing, [places[number] for number in fit]) for thing, places in found) if fit else None


def _are_one(mine, its):
    return mine is its or storage(mine) == storage(its)


def _are_comparable(one, other):
    return (
        (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)
        and one.dtype.is_floating_point
        and one.device.type != "mps"  # it has no double precision
        and one.numel() > 0
        and all(is_dense(t) and not is_unreadable(t) and t.is_contiguous() and has_memory(t) for t in (one, other))
    )
