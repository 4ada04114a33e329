"""Which objects of the program are copies of networks that train: modules, and tables or lists of tensors of their sizes?

They are looked for among all that the garbage collector knows, by class and length, once or twice in a run: an average
that nobody calls can be found in no other way.
"""

import gc
from collections import OrderedDict

from . import registered
from .sampled import samples

MOST_ROOTS = 20
MOST_OBJECTS = 2_000_000  # a second to go over
MOST_OTHERS = 3  # networks built alike, beside the one that a copy was made of


def find(torch, roots, held):
    """(object, sample of it, sample of what trains, of others that train and are built alike) of each; `held`: ids of
    the parameters that optimizers hold.
    """
    trained = [root for root in roots if _holds(root, held)][:MOST_ROOTS]
    by_class = {}
    for root in trained:
        for module in registered.modules(root):
            if _holds(module, held):
                by_class.setdefault(type(module), {})[id(module)] = module
    modules, tables = _alive(torch, by_class, {length for root in trained for length in _lengths(root)})
    for module in _outermost([module for module in modules if not _holds(module, held)]):
        yield from _compared(torch, module, list(by_class[type(module)].values()))
    for table in tables:
        yield from _compared(torch, table, trained)


def _alive(torch, by_class, lengths):
    """Modules of these classes that are none of those known; tables and lists of tensors of these lengths."""
    modules, tables = [], []
    alive = gc.get_objects()
    for thing in alive if len(alive) <= MOST_OBJECTS else ():
        kind = type(thing)
        if kind in by_class:
            if id(thing) not in by_class[kind]:
                modules.append(thing)
        elif kind in (dict, OrderedDict, list) and len(thing) in lengths:
            values = list(thing) if kind is list else list(thing.values())
            if all(issubclass(type(value), torch.Tensor) for value in values) and not _are_parameters(torch, values):
                tables.append(thing)
    return modules, tables


def _are_parameters(torch, values):
    """They are those of a module, or of an optimizer."""
    return all(issubclass(type(value), torch.nn.Parameter) for value in values)


def _lengths(root):
    """Of a table of its parameters, and of one with its buffers too."""
    parameters = sum(1 for _ in registered.parameters(root))
    return parameters, parameters + sum(1 for _ in registered.buffers(root))


def _holds(module, held):
    return any(id(p) in held for p in registered.parameters(module))


def _outermost(modules):
    inside = {id(part) for module in modules for part in registered.modules(module) if part is not module}
    return [module for module in modules if id(module) not in inside]


def _compared(torch, copy, others):
    """With that one of the others which is built alike and has the nearest values."""
    pairs = [pair for pair in (samples(torch, copy, other) for other in others) if pair is not None]
    if pairs:
        pairs.sort(key=lambda pair: float((pair[0].values() - pair[1].values()).norm()))
        (mine, its), *rest = pairs
        yield copy, mine, its, [other for same, other in rest if same.places == mine.places][:MOST_OTHERS]
