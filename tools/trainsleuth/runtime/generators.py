"""Random generators that the program keeps for itself: in variables, globals and attributes of its objects.

The global state is not all: `torch.Generator`, `random.Random` and NumPy's generators draw batches in
many programs. They are found from the user's running frames, a few levels deep.
"""

import random
import sys

DEPTH = 3
MOST = 4000  # objects looked at


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
        if id(value) in seen or len(seen) > MOST:
            continue
        seen.add(id(value))
        if isinstance(value, kinds):
            found[id(value)] = value
        elif depth:
            waiting.extend((item, depth - 1) for item in _inside(value, sites))
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


def _inside(value, sites):
    if isinstance(value, dict):
        return list(value.values())[:100]
    if isinstance(value, (list, tuple)):
        return list(value)[:100]
    attributes = getattr(value, "__dict__", None)
    is_plain = isinstance(attributes, dict) and not isinstance(value, type) and not callable(attributes.get("__spec__"))
    is_module = type(value).__name__ == "module"
    items = list(attributes.values())[:100] if is_plain and not is_module else []
    frame = getattr(value, "gi_frame", None)  # a generator function that draws batches keeps its own
    return items + (list(frame.f_locals.values()) if frame is not None else [])


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
