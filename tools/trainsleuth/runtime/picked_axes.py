"""Listener: over which axis the largest value of a model's output is taken, against the axis that its loss takes for the classes.

Between one call of a model and the next, at the first few calls of its training and of its evaluation, every argmax and max is heard whose
numbers are then compared, as with labels. One event "picked" for each line that takes it over another axis than that of the classes, which is there as well.
"""

from . import graph
from .following import Marks
from .hearing import Hearing
from .targets import CLASSIFIERS
from .tensors import is_dense, tensors_in

MOST_CALLS = 12  # of a module that are followed, in training and in evaluation
MOST_LINES = 30
PICKS, COMPARES = frozenset({"argmax", "max"}), frozenset({"eq", "__eq__", "ne", "__ne__"})
SAME = frozenset({"softmax", "log_softmax", "exp", "sigmoid", "detach", "cpu", "float", "clone", "contiguous"})


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.hearing = Hearing(bus.torch, self, self.heard)
        self.outputs, self.waiting = Marks(), Marks()  # outputs of modules; numbers of the largest values in them
        self.sources = {}  # last operation behind an output -> root, within a step
        self.roots, self.classes = {}, {}  # root -> its class; how many classes its losses know of
        self.calls = {}  # (root, is it training) -> how many calls were followed
        self.picks = {}  # (root, line of the user) -> {(shape, axis)}

    def forward_before(self, module, args, kwargs):
        self.hearing.pause()

    def forward_after(self, module, args, kwargs, output):
        outputs = [t for t in tensors_in(output) if t.dim() > 1 and t.is_floating_point() and is_dense(t)]
        if not outputs:
            return
        root, is_training = self.bus.number("root", module), self.torch.is_grad_enabled()
        called = self.calls.get((root, is_training), 0)
        if called >= MOST_CALLS:
            return
        self.calls[root, is_training] = called + 1
        self.roots[root] = type(module).__name__
        for tensor in outputs:
            self.outputs.put(tensor, {"root": root, "size": tensor.numel()})
            if tensor.grad_fn is not None:
                self.sources[graph.source(tensor.grad_fn)] = root
        self.hearing.start()

    def loss_after(self, name, arguments, output):
        given = next(iter(arguments.values()))
        if name not in CLASSIFIERS or not hasattr(given, "grad_fn") or given.dim() < 2:
            return
        root = self.sources.get(graph.source(given.grad_fn)) if given.grad_fn is not None else None
        root = self.outputs.of(given).get("root") if root is None else root
        if root is not None:
            self.classes.setdefault(root, set()).add(int(given.shape[1]))

    def heard(self, function, given, result):
        name = getattr(function, "__name__", "")
        if name in COMPARES:
            self._compared(given)
        elif name in PICKS or name in SAME:
            tensor = next(tensors_in(given), None)
            known = {} if tensor is None else self.outputs.of(tensor)
            if name in SAME and known and hasattr(result, "dtype") and result.shape == tensor.shape:
                self.outputs.put(result, known)
            elif name in PICKS and known.get("size") == tensor.numel():
                self._picked(known["root"], tensor, axis_of(*given), result)

    def _picked(self, root, tensor, axis, result):
        numbers = [one for one in tensors_in(result) if not one.is_floating_point()]
        user, library = self.bus.sites.here()
        if (
            axis is not None
            and numbers
            and user is not None
            and library is None
            and -tensor.dim() <= axis < tensor.dim()
        ):
            self.waiting.put(numbers[0], {"pick": (root, user, tuple(tensor.shape), axis % tensor.dim())})

    def _compared(self, given):
        """A prediction is what is compared with numbers of classes."""
        for tensor in tensors_in(given):
            if "pick" in (known := self.waiting.of(tensor)):
                root, user, shape, axis = known["pick"]
                if (root, user) in self.picks or len(self.picks) < MOST_LINES:
                    self.picks.setdefault((root, user), set()).add((shape, axis))

    def boundary(self, step):
        self.sources = {}
        self.hearing.stop()

    def close(self, reason):
        self.hearing.stop()
        for (root, site), picks in self.picks.items():
            classes = self.classes.get(root, set())
            if len(classes) != 1 or len(picks) > MOST_CALLS:
                continue
            (count,) = classes
            wrong = [(shape, axis) for shape, axis in picks if shape[axis] != count and shape.count(count) == 1]
            if len(wrong) == len(picks):
                self.events(
                    "picked",
                    root=root,
                    cls=self.roots[root],
                    site=site,
                    shape=list(wrong[0][0]),
                    axis=wrong[0][1],
                    classes=count,
                )


def axis_of(args, kwargs):
    """The axis that is named; None where the largest of all is taken, or of two tensors."""
    kwargs = kwargs or {}
    axis = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else None))
    return axis if type(axis) is int else None
