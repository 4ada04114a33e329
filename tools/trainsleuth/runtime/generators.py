"""Random generators that the program keeps for itself: in variables, globals and attributes of its objects.

The global state is not all: `torch.Generator`, `random.Random` and NumPy's generators draw batches in
many programs. They are found from the user's running frames, a few levels deep.
"""

import random
import sys
import types
from itertools import islice

DEPTH = 3
MOST = 4000  # objects looked at
WIDEST = 100  # items of one of them
SUSPENDED = {types.GeneratorType: "gi_frame", types.AsyncGeneratorType: "ag_frame", types.CoroutineType: "cr_frame"}


def find(torch, sites):
    """Every private generator in reach of the user's frames, each once."""
    numpy = sys.modules.get("numpy")
    kinds = [random.Random, torch.Generator]
    if numpy is not None:
        kinds += [numpy.random.Generator, numpy.random.RandomState]
    kinds = tuple(kinds)
    found, seen = {}, set()
    waiting = [(value, DEPTH) for scope in _scopes(sites) for value in list(scope.values())]
    for value, depth in waiting:  # grows while it is walked
        if len(seen) > MOST:
            break
        if id(value) in seen:
            continue
        seen.add(id(value))
        if issubclass(type(value), kinds):
            found[id(value)] = value
        elif depth:
            waiting.extend((item, depth - 1) for item in _inside(value))
    return list(found.values())


def _scopes(sites):
    """Locals and globals of the user's frames, from the innermost out."""
    frame = sys._getframe(1)
    while frame is not None:
        if sites.classify(frame.f_code.co_filename)[0] == "user":
            yield frame.f_locals
            if frame.f_locals is not frame.f_globals:
                yield frame.f_globals
        frame = frame.f_back


def _inside(value):
    """What an object holds, found without running any code of its class: one may answer to every name, or make new objects."""
    kind = type(value)
    if issubclass(kind, dict):
        return list(islice(dict.values(value), WIDEST))
    if issubclass(kind, (list, tuple)):
        return list(islice((list if issubclass(kind, list) else tuple).__iter__(value), WIDEST))
    if kind in SUSPENDED:  # a generator function that draws batches keeps its own
        frame = getattr(value, SUSPENDED[kind])
        return list(islice(frame.f_locals.values(), WIDEST)) if frame is not None else []
    if issubclass(kind, (type, types.ModuleType)):
        return []
    return list(islice(_attributes(value).values(), WIDEST))


def _attributes(value):
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except Exception:  # __slots__, or a property of this name that fails
        return {}
    return attributes if type(attributes) is dict else {}


def save(generator):
    """The state of one generator, in the form that `restore` takes."""
    if hasattr(generator, "getstate"):
        return generator.getstate()
    if hasattr(generator, "bit_generator"):
        return generator.bit_generator.state
    return generator.get_state()


def restore(generator, state):
    if hasattr(generator, "setstate"):
        generator.setstate(state)
    elif hasattr(generator, "bit_generator"):
        generator.bit_generator.state = state
    else:
        generator.set_state(state)
