"""Terms of a loss that lost their graph: numbers of the first step that were computed with one, and left it.

A number is a suspect when it is detached, or read as a Python number, before a backward that does not go through it
while something without a graph is added to the loss. What is only printed is part of the loss, or comes after it.
"""

from . import graph

MOST_SUSPECTS = 20


class Terms:
    def __init__(self, bus):
        self.bus, self.events = bus, bus.events
        self.suspects, self.passed = [], set()

    def note(self, tensor, site):
        """This tensor leaves its graph here."""
        if tensor.numel() == 1 and len(self.suspects) < MOST_SUSPECTS and tensor.grad_fn not in self.passed:
            self.suspects.append((tensor.grad_fn, site))

    def backward(self, tensors):
        nodes = set(graph.nodes_from(tensors))
        suspects, self.suspects = self.suspects, []
        self.passed |= nodes  # kept, so that they stay the same objects
        left = [(node, site) for node, site in suspects if node not in nodes and reaches_parameter(node)]
        added = next((node for node in graph.loss_arithmetic(tensors) if adds_a_number(node)), None)
        if left and added is not None:
            user, library = self.bus.sites.of_traceback(graph.lines_of(added))
            for node, site in left:
                self.events("term_cut", n=self.bus.steps, site=site, op=graph.name_of(node), added=user, lib=library)


def adds_a_number(node):
    """A sum of which one side has no graph."""
    parents = [parent for parent, _ in node.next_functions]
    return graph.name_of(node).startswith(("AddBackward", "SubBackward", "RsubBackward")) and None in parents


def reaches_parameter(node):
    waiting, seen = [node], {node}
    for one in waiting:  # grows while it is walked
        if graph.leaf_of(one) is not None:
            return True
        for parent, _ in one.next_functions:
            if parent is not None and parent not in seen and len(seen) < graph.MOST_NODES:
                seen.add(parent)
                waiting.append(parent)
    return False
