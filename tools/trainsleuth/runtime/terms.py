"""Terms of a loss that lost their graph: numbers of the first step that were computed with one, and left it.

A number is a suspect when it is detached, or read as a Python number, before a backward that does not go through it
while a number without a graph is added to the loss. What is only printed is part of the loss, or comes after it.
No such number is one that a program holds (0.0 that a sum begins with, a bound that is taken off and put back: at most
DIGITS digits), nor a tensor that a sum begins with (torch.zeros(()) + term): metrics are read beside those as well.
"""

import math

from . import graph

MOST_SUSPECTS = 20
DIGITS = 4  # what is measured has more
SUMS = ("__add__", "__radd__", "__iadd__", "__sub__", "__isub__")


class Terms:
    def __init__(self, bus):
        self.bus, self.events = bus, bus.events
        self.suspects, self.passed, self.written = [], set(), set()

    def note(self, tensor, site):
        """This tensor leaves its graph here."""
        if tensor.numel() == 1 and len(self.suspects) < MOST_SUSPECTS and tensor.grad_fn not in self.passed:
            self.suspects.append((tensor.grad_fn, site))

    def sum(self, result, number):
        """`number` of Python was added to a tensor."""
        if result.grad_fn is not None and result.numel() == 1 and float(f"{number:.{DIGITS}g}") == number:
            self.written.add(result.grad_fn)

    def backward(self, tensors):
        nodes = set(graph.nodes_from(tensors))
        suspects, self.suspects = self.suspects, []
        self.passed |= nodes  # kept, so that they stay the same objects
        left = [(node, site) for node, site in suspects if node not in nodes and reaches_parameter(node)]
        sums = (node for node in graph.linear_from(tensors) if node not in self.written)
        added = next(filter(adds_a_number, sums), None)
        if left and added is not None:
            user, library = self.bus.sites.of_traceback(graph.lines_of(added))
            for node, site in left:
                self.events("term_cut", n=self.bus.steps, site=site, op=graph.name_of(node), added=user, lib=library)


def adds_a_number(node):
    """A sum of one number to which something without a graph is added."""
    parents = [parent for parent, _ in node.next_functions]
    is_sum = graph.name_of(node).startswith(("AddBackward", "SubBackward", "RsubBackward"))
    return is_sum and None in parents[1:] and math.prod(graph.shape_of(node) or ()) == 1


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
