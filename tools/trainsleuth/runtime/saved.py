"""Which operations made what is not finite, read from the graph behind a loss without running anything.

The graph keeps some inputs and results for the backward. This is the evidence that is left when a failing
step cannot be repeated: an operation whose kept inputs are all finite although what it computed is not.
Operations that keep nothing are looked through, so several can remain.
"""

from . import graph
from .content import counts, stats

MOST = 4
DEEPEST = 30  # operations that keep nothing, looked through in a row
RESULTS = ("result", "out", "output")
POSITION = {"self": 0, "other": 1, "mat1": 1, "mat2": 2}  # of a kept argument among the inputs of its node


def makers(tensors):
    """[{"op", "index" of the node in the walk of the graph, "kept": [stats], ...}] of the operations to suspect."""
    nodes = list(graph.nodes_from(tensors))
    index = {node: number for number, node in enumerate(nodes)}
    bad = [t.grad_fn for t in tensors if t.grad_fn is not None and counts(t)]
    for node in nodes:
        bad += [_maker(node, name) for name, value in _kept(node) if counts(value)]
    found = []
    for node in dict.fromkeys(node for start in bad for node in _that_keep(start)):
        kept = list(_kept(node))
        inputs = [(name, value) for name, value in kept if not name.startswith(RESULTS)]
        results = [value for name, value in kept if name.startswith(RESULTS)]
        if any(counts(v) for _, v in inputs) or (results and not any(map(counts, results))):
            continue
        facts = [dict(stats(value), name=name) for name, value in kept]
        found.append({"op": graph.name_of(node), "index": index.get(node), "kept": facts})
    return found[-MOST:]


def locate(found, tensors, sites):
    """The same evidence with lines, from a later step whose nodes were made while tracebacks were recorded."""
    nodes = list(graph.nodes_from(tensors))
    for evidence in found:
        number = evidence["index"]
        if number is not None and number < len(nodes) and graph.name_of(nodes[number]) == evidence["op"]:
            user, library = sites.of_traceback(graph.lines_of(nodes[number]))
            yield dict(evidence, site=user, lib=library)
        else:
            yield evidence


def _kept(node):
    """(argument name, tensor) of what this node saved for its backward."""
    for attribute in dir(node):
        if not attribute.startswith("_saved_"):
            continue
        try:
            value = getattr(node, attribute)
        except RuntimeError:  # freed, or packed by hooks that want to run only once
            continue
        if hasattr(value, "numel"):
            yield attribute[len("_saved_") :], value


def _maker(node, name):
    """The node that computed what another one kept under this name."""
    if name.startswith(RESULTS):
        return node
    parents = node.next_functions
    place = POSITION.get(name, 0)
    return parents[place][0] if place < len(parents) else None


def _that_keep(start):
    """This node, or those behind it that keep something, when it keeps nothing itself."""
    waiting = [(start, 0)]
    for node, depth in waiting:  # grows while it is walked
        if node is None or graph.leaf_of(node) is not None or depth > DEEPEST:
            continue
        if any(True for _ in _kept(node)):
            yield node
        else:
            waiting += [(parent, depth + 1) for parent, _ in node.next_functions]
