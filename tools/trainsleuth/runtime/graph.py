"""Reads the autograd graph behind a loss: what it reaches, and shapes and operations that give bugs away.

Needs no interception of the forward: the graph is there. Lines are known for nodes that were made
while anomaly mode recorded tracebacks (the first step only).
"""

import math

# Operations that move or pick values without changing them, by the start of the node's name.
CARRIERS = (
    "Alias", "AsStrided", "Clone", "Contiguous", "Expand", "Index", "Movedim", "Permute", "Repeat", "ReshapeAlias",
    "Select", "Slice", "Split", "Squeeze", "SwapAxes", "TBackward", "ToCopy", "Transpose", "Unbind", "Unsafe",
    "Unsqueeze", "Upsample", "View", "MaskedSelect", "Gather",
)  # fmt: skip
BINARY = ("SubBackward", "AddBackward", "RsubBackward", "MulBackward", "DivBackward", "PowBackward")
ELEMENTWISE = (
    *BINARY, "Abs", "Clamp", "Exp", "Log", "LogBackward", "Log1P", "Maximum", "Minimum", "Neg", "Relu", "Sigmoid", "Sqrt",
    "Square", "Tanh", "Where",
)  # fmt: skip
# Losses of torch that cannot be negative.
LOSSES = (
    "BinaryCrossEntropy", "HuberLoss", "L1Loss", "MseLoss", "MultiMarginLoss", "MultilabelMarginLoss", "NllLoss",
    "SmoothL1Loss", "SoftMarginLoss",
)  # fmt: skip
REDUCTIONS = ("Mean", "Sum", "Nansum", "Norm", "LinalgVectorNorm", "Amax", "Amin")
EXTREMES = ("MaxBackward0", "MinBackward0")
MOST_CANDIDATES = 8  # of an example: orders of its parts, heads, hypotheses
MOST_NODES = 50_000
MOST_OF_LOSS = 500  # nodes between backward and the losses of torch


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


def order_of(node):
    """When it was made, among the nodes of its thread; None where this torch does not tell."""
    return node._sequence_nr() if hasattr(node, "_sequence_nr") else None


def leaf_of(node):
    """The tensor whose .grad this node fills, or None."""
    return getattr(node, "variable", None) if "AccumulateGrad" in name_of(node) else None


def source(node):
    """The first node behind this one that changes values; of several operands the first that is no leaf is followed."""
    for _ in range(200):
        if node is None or not name_of(node).startswith(CARRIERS) or not node.next_functions:
            return node
        parents = [parent for parent, _ in node.next_functions]
        computed = (parent for parent in parents if parent is not None and leaf_of(parent) is None)
        node = next(computed, parents[0])
    return node


def shape_of(node):
    """Shape of what this node computed in the forward, or None where torch does not tell."""
    metadata = getattr(node, "_input_metadata", None)
    if not metadata:
        return None
    size = getattr(metadata[0], "shape", None)
    return None if size is None else [int(n) for n in size]


def squashed_twice(nodes):
    """Nodes that squash what a node of the same kind has just squashed: sigmoid of sigmoid, softmax of softmax."""
    for node in nodes:
        kind = next((kind for kind in ("SigmoidBackward", "SoftmaxBackward") if name_of(node).startswith(kind)), None)
        if kind and node.next_functions and name_of(source(node.next_functions[0][0])).startswith(kind):
            yield node


def softmax_axis(node):
    """The axis that it runs over, below 0 if counted from the end; None of other nodes. Saved as unsigned."""
    axis = getattr(node, "_saved_dim", None) if name_of(node).startswith("SoftmaxBackward") else None
    return axis if axis is None or axis < 2**63 else axis - 2**64


def over_one(nodes):
    """Softmaxes over an axis of length one: what they give is 1 whatever they get."""
    for node in nodes:
        axis, sizes = softmax_axis(node), shape_of(node)
        if axis is not None and sizes and sizes[axis] == 1 and any(size > 1 for size in sizes):
            yield node


def extremes_of_rows(roots, rows):
    """Maxima and minima over the axis of the examples on the way from the loss, `rows` being how long it may be.

    Not where another axis is as long (the pairs of a batch), nor of one number each: the hardest examples are chosen so; nor where there
    are many candidates, or each side looks for its nearest one, as sets and prototypes do.
    """
    found = {}
    for node in loss_arithmetic(roots):
        for parent, _ in node.next_functions:
            sizes, axis = getattr(parent, "_saved_self_sym_sizes", None), getattr(parent, "_saved_dim", None)
            if name_of(parent).startswith(EXTREMES) and isinstance(axis, int) and sizes and len(sizes) > 1:
                sizes, axis = tuple(map(int, sizes)), axis if axis < 2**63 else axis - 2**64 + len(sizes)
                found.setdefault((source(parent.next_functions[0][0]), sizes), {})[axis] = parent
    for (_, sizes), taken in found.items():
        (axis, node), *more = taken.items()
        others = sizes[:axis] + sizes[axis + 1 :]
        is_few = 1 < math.prod(others) <= MOST_CANDIDATES
        if not more and sizes[axis] in rows and is_few and not {*others} & {1, *rows}:
            yield node


def loss_arithmetic(roots):
    """The nodes between the loss and the first operation that is neither elementwise, a reduction nor a carrier."""
    waiting = [tensor.grad_fn for tensor in roots if getattr(tensor, "grad_fn", None) is not None]
    seen = set(waiting)
    for node in waiting:  # grows while it is walked
        if not name_of(node).startswith(ELEMENTWISE + REDUCTIONS + CARRIERS):
            continue
        yield node
        for parent, _ in node.next_functions:
            if parent is not None and parent not in seen and len(seen) < MOST_NODES:
                seen.add(parent)
                waiting.append(parent)


def linear_from(roots):
    """The nodes from which the loss is a sum, a mean or a multiple: what has no graph there is a constant of the loss."""
    waiting = [tensor.grad_fn for tensor in roots if getattr(tensor, "grad_fn", None) is not None]
    seen = set(waiting)
    for node in waiting:  # grows while it is walked
        yield node
        name, parents = name_of(node), [parent for parent, _ in node.next_functions if parent is not None]
        is_multiple = name.startswith(("MulBackward", "DivBackward")) and len(parents) == 1
        if is_multiple or name.startswith(("Add", "Sub", "Rsub", "Neg", "Mean", "Sum", "Stack", "Cat", *CARRIERS)):
            for parent in parents:
                if parent not in seen and len(seen) < MOST_OF_LOSS:
                    seen.add(parent)
                    waiting.append(parent)


def outer_products(roots):
    """Elementwise operations of the loss in which a (N, 1) or (N,) column met a row and became (N, N).

    With further axes, (N, 1, H, W) that met (N, H, W), where both are known. Gives (node, shape of the operand,
    shape of the result, whether the other operand carries a gradient as well).

    A deliberate pairwise comparison makes its axes by hand (unsqueeze, expand), meets two operands as (N, 1) and (1, N),
    or one of them with what is (N, N) by itself; a parameter that scales a square matrix comes from a leaf. Both are left alone.
    """
    for node in loss_arithmetic(roots):
        result = shape_of(node)
        if not name_of(node).startswith(BINARY) or result is None or len(result) < 2:
            continue
        n, rest = result[0], result[2:]
        parents = [parent for parent, _ in node.next_functions if parent is not None]
        operands = [operand_shape(parent) for parent in parents]
        if n < 2 or result[1] != n:
            continue
        met = operands + shapes_saved(node)  # a mask of pairs has no graph
        if result in met or [1, *result[1:]] in met:
            continue
        if rest and [n, *rest] not in met:
            continue  # (N, 1, H, W) meets N classes as well, where the batch has as many
        for parent, operand in zip(parents, operands):
            is_made_by_hand = name_of(parent).startswith(("Unsqueeze", "Expand"))
            if operand in ([n, 1, *rest], [n, *rest]) and not is_made_by_hand and leaf_of(source(parent)) is None:
                yield node, operand, result, len(parents) > 1


def operand_shape(node):
    leaf = leaf_of(node)
    return list(leaf.shape) if leaf is not None else shape_of(node)


def saved(node):
    """Tensors without a graph that a product or quotient keeps for its backward."""
    for name in ("_saved_self", "_saved_other"):
        try:
            tensor = getattr(node, name, None)
        except RuntimeError:  # changed in place since: backward will say so
            continue
        if hasattr(tensor, "numel") and tensor.grad_fn is None:
            yield tensor


def shapes_saved(node):
    return [[int(n) for n in tensor.shape] for tensor in saved(node)]


def is_plain_mean(roots):
    """Is what backward starts from a mean that no number divides or multiplies, be it afterwards or term by term?"""
    nodes = [tensor.grad_fn for tensor in roots]
    while len(nodes) == 1 and (name_of(nodes[0]).startswith(CARRIERS) or is_times_one(nodes[0])):
        nodes = [parent for parent, _ in nodes[0].next_functions if parent is not None]
    if len(nodes) != 1 or not name_of(nodes[0]).startswith("Mean"):
        return False
    return not any(list(numbers_in(node)) not in ([], [1.0]) for node in loss_arithmetic(roots))


def is_times_one(node):
    return list(numbers_in(node)) == [1.0]


def numbers_in(node):
    """What a product or quotient has for a factor or divisor of one element."""
    if name_of(node).startswith(("MulBackward", "DivBackward")):
        yield from (float(tensor) for tensor in saved(node) if tensor.numel() == 1)


def signs_of_losses(roots):
    """With which signs losses of torch enter what backward starts from: a subset of {-1, 0, 1}, 0 where it is not known."""
    waiting = [(tensor.grad_fn, 1) for tensor in roots if getattr(tensor, "grad_fn", None) is not None]
    seen, found = set(waiting), set()
    for node, sign in waiting:  # grows while it is walked
        if name_of(node).startswith(LOSSES):
            found.add(sign)
            continue
        for place, (parent, _) in enumerate(node.next_functions):
            following = (parent, sign * slope_sign(node, place))
            if parent is not None and following not in seen and len(seen) < MOST_OF_LOSS:
                seen.add(following)
                waiting.append(following)
    return found


def unlogged(roots):
    """Products of what a softmax made and a fixed distribution over its axis, whose sum the loss is the larger the smaller
    they are, or probabilities of the labels alone: a cross entropy without its logarithm. Not one less the sum: the mean absolute error of probabilities.
    """
    waiting = [(tensor.grad_fn, 1) for tensor in roots if getattr(tensor, "grad_fn", None) is not None]
    seen = set(waiting)
    for node, sign in waiting:  # grows while it is walked
        fixed = [tensor for tensor in saved(node) if tensor.numel() > 1]
        parents = [parent for parent, _ in node.next_functions if parent is not None]
        if sign < 0 and len(parents) == 1 and picks_one_each(node, source(parents[0])):
            yield node
            continue
        if fixed:
            if name_of(node).startswith("MulBackward") and sign < 0 and len(parents) == 1:
                made = source(parents[0])
                if name_of(made).startswith("SoftmaxBackward") and is_distribution(fixed[0], made):
                    yield node
            continue
        for place, (parent, _) in enumerate(() if name_of(node).startswith("Rsub") else node.next_functions):
            following = (parent, sign * slope_sign(node, place))
            if parent is not None and following[1] and following not in seen and len(seen) < MOST_OF_LOSS:
                seen.add(following)
                waiting.append(following)


def picks_one_each(node, made):
    """p[range(n), labels] or p.gather(1, labels) of what a softmax made: one probability of each distribution."""
    axis, whole, picked = softmax_axis(made), shape_of(made), shape_of(node)
    if axis is None or not whole or picked is None or not name_of(node).startswith(("IndexBackward", "GatherBackward")):
        return False
    return math.prod(picked) * whole[axis] == math.prod(whole)


def is_distribution(tensor, softmax):
    """Is it over the axis of this softmax, and of its shape?"""
    axis = softmax_axis(softmax)
    if axis is None or list(tensor.shape) != shape_of(softmax) or not tensor.is_floating_point():
        return False
    sums = tensor.sum(axis)
    return bool((tensor >= 0).all() and ((sums - 1).abs() < 1e-3).all())


def slope_sign(node, place):
    """Sign of the slope of what this node computed in its operand at this place; 0 where it is not known."""
    name = name_of(node)
    if name.startswith(("Add", "Sub")):
        outer = -1 if name.startswith("Sub") and place == 1 else 1
        return outer * (1 if place == 0 else sign_of(getattr(node, "_saved_alpha", 1)))
    if name.startswith(("Neg", "Rsub")):
        return -1 if place == 0 else 0
    if name.startswith(("Stack", "Cat", *REDUCTIONS[:2], *CARRIERS)):
        return 1
    factors = [tensor for tensor in saved(node) if tensor.numel() == 1]
    if len(factors) == 1 and (name.startswith("MulBackward") or (name.startswith("DivBackward") and place == 0)):
        return sign_of(float(factors[0]))
    return 0


def sign_of(number):
    return (number > 0) - (number < 0)
