"""Listener: does the loss raise or lower the score that a model gives to each example's label?

For outputs with a row for each example and a column for each class, and one whole number for each example in the
loader's batch: the sign of the gradient that comes back at the label's column. Where classifying losses of torch are called in a
step and none is given these labels, the model is not asked for them there.
"""

from functools import partial

from . import graph
from .calls import named_tensors
from .padding import is_readable
from .phases import inner
from .rows import is_batch
from .targets import CLASSIFIERS
from .tensors import hear_gradient, is_dense, tensors_in

SOFTMAXES = ("SoftmaxBackward", "LogSoftmaxBackward")
LAST_STEP = 100
MOST_OUTPUTS = 4
MOST_CLASSES = 1000
LEAST_ROWS = 4
MOST_ASKED = 8
TELL_AT = frozenset({20, 50, LAST_STEP})


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.given = None  # the loader's last batch
        self.seen = {}  # number of the root -> [class, place, backwards, rows pushed up, rows pushed down]
        self.scores = {}  # node that made the scores -> number of the root
        self.direct = set()  # roots whose scores a softmax takes
        self.asked = []  # labels that classifying losses of torch were given since the last step

    def batch(self, loader, batch):
        self.given = batch

    def forward_after(self, module, args, kwargs, output):
        if self.given is None or self.bus.steps > LAST_STEP or not (module.training and self.torch.is_grad_enabled()):
            return  # an attack on a model in evaluation mode may go against its labels
        for tensor in list(tensors_in(output))[:MOST_OUTPUTS]:
            if tensor.requires_grad and tensor.grad_fn is not None and is_scores(tensor):
                labels = self._labels(*tensor.shape)
                if labels is not None:
                    module = inner(module)
                    root = self.bus.number("root", module)
                    self.seen.setdefault(root, [type(module).__name__, self.bus.sites.here(), 0, 0, 0])
                    self.scores[graph.source(tensor.grad_fn)] = root
                    hear_gradient(tensor, partial(self._arrives, root, labels))

    def loss_after(self, name, arguments, output):
        labels = list(arguments.values())[1]
        if name in CLASSIFIERS and self.bus.steps <= LAST_STEP and self.given is not None and is_readable(labels):
            if not labels.is_floating_point():  # probabilities may be made of any labels
                self.asked = [*self.asked[1 - MOST_ASKED :], labels.detach().reshape(-1)]

    def backward_before(self, tensors, gradients):
        """Does a softmax take the scores as they are? Of distances it takes what is left of them with another sign."""
        if self.scores and not self.direct.issuperset(self.scores.values()):
            softmaxes = (node for node in graph.nodes_from(tensors) if graph.name_of(node).startswith(SOFTMAXES))
            made = (one for node in softmaxes for one in (node, graph.source(node.next_functions[0][0])))
            self.direct.update(self.scores[one] for one in made if one in self.scores)
        self.scores = {}

    def _labels(self, rows, classes):
        """The one tensor of the batch that may number the classes."""
        found = [
            t for _, t in named_tensors(self.given, "")
            if str(t.dtype) == "torch.int64" and t.dim() == 1 and len(t) == rows and is_batch(t)
            and 0 <= int(t.min()) < int(t.max()) < classes
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def _arrives(self, root, labels, gradient):
        if self.asked and not any(is_same(labels, one) for one in self.asked):
            return
        own = gradient.detach().gather(1, labels.to(gradient.device)[:, None])
        seen = self.seen[root]
        seen[2] += 1
        seen[3], seen[4] = seen[3] + (own < 0).sum(), seen[4] + (own > 0).sum()

    def boundary(self, step):
        self.asked = []
        if step in TELL_AT:
            self._tell()

    def close(self, reason):
        self._tell()

    def _tell(self):
        for root, (cls, (user, library), backwards, up, down) in self.seen.items():
            if backwards:
                self.events("label_gradients", root=root, cls=cls, site=user, lib=library, n=self.bus.steps, backwards=backwards, direct=root in self.direct,
                            up=int(up), down=int(down))  # fmt: skip


def is_scores(tensor):
    return is_dense(tensor) and tensor.dim() == 2 and tensor.is_floating_point() and tensor.shape[0] >= LEAST_ROWS and 2 <= tensor.shape[1] <= MOST_CLASSES  # fmt: skip


def is_same(labels, others):
    return (
        labels.shape == others.shape
        and labels.dtype == others.dtype
        and bool((labels.to(others.device) == others).all())
    )
