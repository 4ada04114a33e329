"""What the graph behind a loss still holds: values saved for the backward that are not finite already.

Needs no second run, so it is the evidence that is left when a failing step cannot be repeated. It names
operations, not lines; operations that save nothing are not seen.
"""

from . import graph
from .content import counts, stats

MOST = 4
POSITION = {"self": 0, "other": 1}  # of the operation that computed a saved argument, among the inputs


def bad_values(tensors):
    """[{"op", "saved", "from", ...stats}]: the saved values that are not finite, those farthest from the loss first.

    "op" is the node that holds the value, "from" the one that computed it.
    """
    found = []
    for node in graph.nodes_from(tensors):
        for name, tensor in _saved(node):
            if counts(tensor):
                maker = graph.name_of(node) if name in ("result", "out") else _input(node, name)
                found.append(dict(stats(tensor), op=graph.name_of(node), saved=name, **{"from": maker}))
    return found[::-1][:MOST]


def _saved(node):
    for attribute in dir(node):
        if not attribute.startswith("_saved_"):
            continue
        try:
            value = getattr(node, attribute)
        except RuntimeError:  # freed, or packed by hooks that want to run only once
            continue
        if hasattr(value, "numel"):
            yield attribute[len("_saved_") :], value


def _input(node, name):
    parents = node.next_functions
    place = POSITION.get(name, 0)
    return graph.name_of(parents[place][0]) if place < len(parents) else ""
