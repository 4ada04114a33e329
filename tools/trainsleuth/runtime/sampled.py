"""A sample of the values of a network, taken anew at each look, at the same places of a network and of its copy."""

from . import registered
from .freeze import storage
from .tensors import has_memory, is_dense, is_unreadable, local

MOST_TENSORS, MOST_VALUES = 4, 1024


class Sample:
    """Of a module, or of a table or list of tensors: those of these numbers."""

    def __init__(self, torch, thing, names, numbers):
        self.torch, self.thing, self.names, self.numbers = torch, thing, names, numbers

    def tensors(self):
        """Those that it has at present."""
        mine = tensors_of(self.thing, self.names)
        return [mine[number] for number in self.numbers]

    def values(self):
        parts = [local(tensor.detach()).reshape(-1) for tensor in self.tensors()]
        return self.torch.cat([part[:: max(1, part.numel() // MOST_VALUES)].double() for part in parts])


def tensors_of(thing, names):
    """Of a module its parameters, of a list all, of a table those of these names, none where one is not there."""
    if registered.is_module(thing):
        return list(registered.parameters(thing))
    if type(thing) is list:
        return list(thing)
    return [thing[name] for name in names] if all(name in thing for name in names) else []


def samples(torch, copy, trained):
    """Of a copy and of a trained module, at the same places of their largest tensors; None where they are not built alike."""
    named = dict(registered.named_parameters(trained))
    mine, its = tensors_of(copy, named), list(named.values())
    if not mine or [t.shape for t in mine] != [t.shape for t in its] or any(map(_are_one, mine, its)):
        return None
    fit = [number for number, pair in enumerate(zip(mine, its)) if _are_comparable(*map(local, pair))]
    fit = sorted(fit, key=lambda number: -its[number].numel())[:MOST_TENSORS]
    fit = [number for number in fit if its[number].device == its[fit[0]].device]
    return tuple(Sample(torch, thing, list(named), fit) for thing in (copy, trained)) if fit else None


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
