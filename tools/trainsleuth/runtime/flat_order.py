"""In which order the rows of a loss and its labels were laid out, where both were matrices before.

Rows [T, B, V] that a view made flat lie by T and then by B; labels are found, by their values, in a matrix that entered the
model or came out of a loader.
"""

from .graph import name_of
from .regrouped import VIEWS, sizes_before
from .tensors import is_dense, is_unreadable

LEAST = 8  # labels that count
ROWWISE = ("Addmm", "Mm", "LogSoftmax", "ToCopy")  # what treats each row alike, behind the view
MOST_MATRICES = 12
MOST_VALUES = 1_000_000


class Matrices:
    """Whole numbers in two axes of unlike length, as they entered models and came out of loaders since the last step."""

    def __init__(self):
        self.known = []

    def add(self, tensors):
        for tensor in tensors:
            if len(self.known) < MOST_MATRICES and is_matrix(tensor) and all(tensor is not one for one in self.known):
                self.known.append(tensor)

    def forget(self):
        self.known = []

    def layouts(self, rows, labels, ignored):
        """([rows, columns] of the rows, the same of the labels); None where one of the two is not known."""
        laid = laid_out(rows, labels.numel())
        if laid is None or labels.dim() != 1:
            return None
        labels = labels.detach().cpu()
        counts = labels != ignored
        for matrix in self.known if int(counts.sum()) >= LEAST else ():
            for part in parts_of(matrix.detach().cpu()):
                if part.numel() == labels.numel() and sorted(part.shape) == sorted(laid):
                    as_it_is, turned = (bool(((flat == labels) | ~counts).all()) for flat in flattened(part))
                    if as_it_is != turned:
                        return laid, list(part.shape) if as_it_is else list(reversed(part.shape))
        return None


def is_matrix(tensor):
    if (
        tensor.dim() != 2
        or tensor.is_floating_point()
        or tensor.is_complex()
        or not is_dense(tensor)
        or is_unreadable(tensor)
    ):
        return False
    return min(tensor.shape) > 1 and LEAST <= tensor.numel() <= MOST_VALUES


def parts_of(matrix):
    """All of it, and what is left of it where one place is cut off: next tokens, tokens without the last."""
    return matrix, matrix[1:], matrix[:-1], matrix[:, 1:], matrix[:, :-1]


def flattened(matrix):
    return matrix.reshape(-1), matrix.t().reshape(-1)


def laid_out(rows, many):
    """[a, b] where rows [a * b, V] were [a, b, ...] before a view made them flat, and a is not b."""
    node = rows.grad_fn
    while node is not None and name_of(node).startswith(ROWWISE):
        parents = [
            parent
            for parent, _ in node.next_functions
            if name_of(parent) and not name_of(parent).startswith("Accumulate")
        ]
        node = next((parent for parent in parents if not name_of(parent).startswith("TBackward")), None)
    before = sizes_before(node) if name_of(node).startswith(VIEWS) else None
    if rows.dim() != 2 or before is None or len(before) != 3:
        return None
    first, second, _ = before
    return [first, second] if first * second == many and first != second and min(first, second) > 1 else None
