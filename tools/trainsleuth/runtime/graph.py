"""Reads the autograd graph behind a loss: what it reaches, and shapes and operations that give bugs away.

Needs no interception of the forward: the graph is there. Lines are known for nodes that were made
while anomaly mode recorded tracebacks (the first step only).
"""

# Operations that move or pick values without changing them, by the start of the node's name.
CARRIERS = (
    "Alias", "AsStrided", "Clone", "Contiguous", "Expand", "Index", "Movedim", "Permute", "Repeat", "ReshapeAlias",
    "Select", "Slice", "Split", "Squeeze", "SwapAxes", "TBackward", "ToCopy", "Transpose", "Unbind", "Unsafe",
    "Unsqueeze", "Upsample", "View", "MaskedSelect", "Gather",
)  # fmt: skip
ELEMENTWISE = ("Sub", "Add", "Mul", "Div", "Pow")
MOST_NODES = 50_000


def name_of(node):
    return node.name() if node is not None else ""


def lines_of(node):
    """The traceback lines that anomaly mode left on this node, or none."""
    return node.metadata.get("traceback_", ()) if node is not None else ()


def nodes_from(roots):
    """Every node behind these tensors, nearest first, at most MOST_NODES."""
    waiting = [tensor.grad_fn for tensor in roots if getattr(tensor, "grad_fn", None) is not None]
    seen = set(waiting)
    for node in waiting:  # grows while it is walked
        yield node
        if len(seen) > MOST_NODES:
            return
        for parent, _ in node.next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                waiting.append(parent)


def leaf_of(node):
    """The tensor whose .grad this node fills, or None."""
    return getattr(node, "variable", None) if "AccumulateGrad" in name_of(node) else None


def source(node):
    """The first node behind this one that changes values."""
    for _ in range(200):
        if node is None or not name_of(node).startswith(CARRIERS) or not node.next_functions:
            return node
        node = node.next_functions[0][0]
    return node


def shape_of(node):
    """Shape of what this node computed in the forward, or None where torch does not tell."""
    metadata = getattr(node, "_input_metadata", None)
    if not metadata:
        return None
    size = getattr(metadata[0], "shape", None)
    return None if size is None else [int(n) for n in size]


def outer_products(nodes):
    """Elementwise operations in which a (N, 1) or (N,) column met a row and became (N, N).

    A deliberate pairwise comparison makes its axes by hand, so an operand that comes from an
    unsqueeze or an expand is left alone.
    """
    for node in nodes:
        if not name_of(node).startswith(ELEMENTWISE):
            continue
        result = shape_of(node)
        if result is None or len(result) != 2 or result[0] != result[1] or result[0] < 2:
            continue
        for parent, _ in node.next_functions:
            operand = shape_of(parent) if parent is not None and leaf_of(parent) is None else None
            is_thin = operand in ([result[0], 1], [result[0]])
            if is_thin and not name_of(parent).startswith(("Unsqueeze", "Expand")):
                yield node, operand, result
