"""Listener: what enters each loss function, and the graph behind each backward of the first step.

Anomaly mode (without its NaN check) records tracebacks during the first step only, so that graph nodes
can be given a line; that step is slower, no number changes.
"""

import inspect
import math

from . import graph, registered, regrouped
from .flat_order import Matrices
from .freeze import storage
from .gradients import members
from .targets import CLASSIFIERS
from .tensors import describe, is_dense, is_unreadable, local, scalar, tensors_in

MOST_PER_PLACE = 3  # calls of one loss at one line that are described
MOST_GRAPHS = 4
MOST_TWICE = 5
MOST_REGROUPED = 5


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.described = {}
        self.graphs = 0
        self.optimizers = []
        self.roots, self.matrices = {}, Matrices()
        self.views = {}  # of data: by line
        self.rows = {True: set(), False: set()}  # how many examples a batch of a loader has, and what enters a module
        self.torch.autograd.set_detect_anomaly(True, check_nan=False)

    def boundary(self, step):
        self.matrices.forget()
        if step == 1:
            self.torch.autograd.set_detect_anomaly(False)

    def batch(self, loader, batch):
        if self.bus.steps < MOST_PER_PLACE:
            self.matrices.add(tensors_in(batch))
            self.rows[True].update(lengths(tensors_in(batch)))

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    def forward_before(self, module, args, kwargs):
        self.roots[id(module)] = module
        if self.bus.steps < MOST_PER_PLACE:
            given = list(tensors_in((args, kwargs)))
            self.matrices.add(given)
            self.rows[False].update(lengths(given))
            if not self.bus.steps:
                self.data_enters(given)

    # -- loss functions --------------------------------------------------------------------

    def loss_after(self, name, arguments, output):
        user, library = self.bus.sites.here()
        training = bool(getattr(output, "requires_grad", False))
        place = (name, user, library, training)
        self.described[place] = self.described.get(place, 0) + 1
        if self.described[place] > MOST_PER_PLACE:
            return
        given, target = list(arguments.values())[:2]
        facts = {
            "fn": name, "site": user, "lib": library, "n": self.bus.steps, "training": training,
            "inside": self.bus.depth > 0, "value": scalar(output), "callers": self.bus.sites.callers(4),
            "input": describe(given), "reduction": arguments.get("reduction"),
            "label_smoothing": arguments.get("label_smoothing", 0.0),
            "weighted": arguments.get("weight") is not None or arguments.get("pos_weight") is not None,
        }  # fmt: skip
        if hasattr(target, "shape"):
            facts["target"] = describe(target)
            facts["one_storage"] = storage(given) == storage(target)
            if name == "ctc_loss":
                facts["blanks"] = blanks(target, arguments)
            if not target.dtype.is_floating_point and name in CLASSIFIERS:
                ignored = arguments.get("ignore_index", -100)
                facts["labels"] = label_facts(target, given, ignored)
                facts["apart"] = apart(given)
                facts["layouts"] = self.matrices.layouts(given, target, ignored)
        if hasattr(given, "dtype") and given.dtype.is_floating_point and given.numel():
            facts["holds"] = value_kind(given.detach().float(), name)
            facts["producer"] = self.producer(given)
        self.events("loss", **facts)

    def producer(self, tensor):
        """The operation that last changed these values, and its line."""
        node = graph.source(tensor.grad_fn)
        if node is None or graph.leaf_of(node) is not None:
            return None
        user, library = self.bus.sites.of_traceback(graph.lines_of(node))
        return {"op": graph.name_of(node), "site": user, "lib": library}

    # -- graphs ----------------------------------------------------------------------------

    def backward_before(self, tensors, gradients):
        if self.bus.steps > 1 or self.graphs >= MOST_GRAPHS:
            return
        self.graphs += 1
        nodes = list(graph.nodes_from(tensors))
        user, library = self.bus.sites.here()
        leaves = {id(leaf): leaf for leaf in map(graph.leaf_of, nodes) if leaf is not None}
        # sharded parameters are gathered into others for each use: the graph ends in those, not in members
        gathered = self.sharded or any(map(is_flat, leaves.values()))
        # a tensor that is itself a leaf (a loss wrapped anew) has no node behind it
        detached = all(getattr(t, "grad_fn", None) is None for t in tensors)
        self.events(
            "graph", n=self.bus.steps, site=user, lib=library, nodes=len(nodes), leaves=len(leaves), detached=detached,
            truncated=len(nodes) > graph.MOST_NODES,
            shapes_known=any(graph.shape_of(node) is not None for node in nodes[:20]),
            reached=[] if gathered else [sum(id(p) in leaves for p in members(o)) for o in self.optimizers],
            members=[] if gathered else [len(members(o)) for o in self.optimizers],
            twice=[{"op": graph.name_of(node), "site": self.bus.sites.of_traceback(graph.lines_of(node))[0]}
                   for node in list(graph.squashed_twice(nodes))[:MOST_TWICE]],
            over_one=[self.bus.sites.of_traceback(graph.lines_of(node))[0] for node in list(graph.over_one(nodes))[:MOST_TWICE]],
            over_rows=[self.bus.sites.of_traceback(graph.lines_of(node))[0] for node in list(graph.extremes_of_rows(tensors, self.rows[True] or self.rows[False]))[:MOST_TWICE]],
            unlogged=[self.bus.sites.of_traceback(graph.lines_of(node))[0] for node in graph.unlogged(tensors)][:MOST_TWICE],
            regrouped=self.regrouped(nodes),
            unregistered=[] if gathered else self.unregistered(leaves), outer=self.outer(tensors), combined=self.combined(tensors),
            signs=sorted(graph.signs_of_losses(tensors)),
            ops=sorted({graph.name_of(node) for node in nodes[:12]}), callers=self.bus.sites.callers(4),
        )  # fmt: skip

    @property
    def sharded(self):
        return any(local(p) is not p for o in self.optimizers for p in members(o))

    def unregistered(self, leaves):
        """Parameters that the loss depends on, but that no optimizer and no called module knows of."""
        known = {id(p) for optimizer in self.optimizers for p in members(optimizer)}
        for root in self.roots.values():
            known.update(id(p) for p in registered.parameters(root))
        strangers = [
            leaf for key, leaf in leaves.items() if key not in known and isinstance(leaf, self.torch.nn.Parameter)
        ]
        strangers = strangers[:50]
        scales = {
            leaf.shape for leaf in strangers if is_all(leaf, 1)
        }  # as those of a norm begin, with a shift beside each
        return [
            dict(
                shape=list(leaf.shape),
                fresh=is_all(leaf, 1) or (leaf.shape in scales and is_all(leaf, 0)),
                **self.owner(leaf),
            )
            for leaf in strangers
        ]

    def owner(self, parameter):
        """Where a parameter hides: a module kept in a plain list, tuple or dict of another module."""
        for root in self.roots.values():
            for name, module in registered.named_modules(root):
                for attribute, value in vars(module).items():
                    if not attribute.startswith("_") and holds(value, parameter):
                        where = ".".join(part for part in (name, attribute) if part)
                        return {
                            "name": where,
                            "cls": type(module).__name__,
                            "site": self.line_of(module, attribute),
                        }
        return {"name": None, "cls": None, "site": None}

    def line_of(self, module, attribute):
        """The line of the class that first assigns `self.<attribute>`, else of the class itself."""
        try:
            path = inspect.getsourcefile(type(module))
            lines, first = inspect.getsourcelines(type(module))
        except (OSError, TypeError):
            return None
        offset = next((i for i, text in enumerate(lines) if text.strip().startswith("self.%s" % attribute)), 0)
        return "%s:%d" % (self.bus.sites.classify(path)[1], first + offset)

    def combined(self, tensors):
        """The line where terms are added up to the loss, nearest to it; None for a loss of one term."""
        for node in graph.loss_arithmetic(tensors):
            if graph.name_of(node).startswith(("Add", "Sub")) and len(node.next_functions) > 1:
                return self.bus.sites.of_traceback(graph.lines_of(node))[0]
        return None

    def data_enters(self, tensors):
        for tensor in tensors:
            shapes = regrouped.of_data(tensor) if is_dense(tensor) else None
            if shapes is not None and len(self.views) < MOST_REGROUPED:
                user, library = self.bus.sites.here()
                view = {"from": shapes[0], "to": shapes[1], "how": "data", "site": user, "lib": library}
                self.views[user, "data"] = view

    def regrouped(self, nodes):
        found = dict(self.views)
        for node, before, after, how in regrouped.regrouped(nodes):
            user, library = self.bus.sites.of_traceback(graph.lines_of(node))
            found.setdefault((user, how), {"from": before, "to": after, "how": how, "site": user, "lib": library})
        return list(found.values())[:MOST_REGROUPED]

    def outer(self, tensors):
        found = []
        for node, operand, result, is_both in graph.outer_products(tensors):
            user, library = self.bus.sites.of_traceback(graph.lines_of(node))
            told = {"op": graph.name_of(node), "from": operand, "to": result, "both": is_both}
            found.append({**told, "site": user, "lib": library})
        return found[:5]


def lengths(tensors):
    return {len(tensor) for tensor in tensors if tensor.dim() and is_dense(tensor) and len(tensor) > 1}


def is_flat(leaf):
    """One tensor that stands for the parameters of many modules (FSDP)."""
    return getattr(leaf, "_is_flat_param", False)


def is_all(leaf, number):
    value = local(leaf).detach()
    return not is_unreadable(value) and value.numel() > 0 and bool((value == number).all())


def holds(value, parameter):
    """Does a plain container (or a module inside one) hold this very parameter?"""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for item in items:
        if item is parameter or (
            registered.is_module(item) and any(p is parameter for p in registered.parameters(item))
        ):
            return True
        if isinstance(item, (list, tuple, dict)) and holds(item, parameter):
            return True
    return False


def value_kind(values, name):
    """What the numbers look like: "probabilities", "log-probabilities", "unit-interval" or "unbounded".

    Over the class axis (1, or 0 for a single example; the last of ctc_loss) for losses that have one; two classes at least.
    """
    axis = -1 if name == "ctc_loss" else 1 if values.dim() > 1 else 0
    low, high = float(values.min()), float(values.max())
    if name in (*CLASSIFIERS, "ctc_loss", "kl_div") and values.dim() and values.shape[axis] > 1:
        if low >= 0.0 and high <= 1.0 + 1e-4 and float((values.sum(axis) - 1).abs().max()) < 1e-3:
            return "probabilities"
        if high <= 1e-4 and float(values.logsumexp(axis).abs().max()) < 1e-3:
            return "log-probabilities"
    return "unit-interval" if low >= 0.0 and high <= 1.0 else "unbounded"


def apart(scores):
    """How far the rows of scores are from one another: the share of their variance that is not between classes."""
    rows = scores.detach().float()
    if rows.dim() < 2 or rows.shape[0] < 2 or not rows.numel():
        return None
    rows = rows.movedim(1, -1).flatten(0, -2)
    whole = rows.var(unbiased=False)
    return float(rows.var(0, unbiased=False).mean() / whole) if float(whole) > 0 else None


def blanks(target, arguments):
    """[how many labels of ctc_loss are its blank, of how many]; what pads the rows behind their lengths is none."""
    lengths = arguments["target_lengths"]
    lengths = lengths.tolist() if hasattr(lengths, "tolist") else lengths
    rows = target.detach().cpu()
    if rows.dim() == 2:
        labels = [label for row, length in zip(rows.tolist(), lengths) for label in row[:length]]
    else:
        labels = rows.reshape(-1).tolist()
    return [labels.count(arguments.get("blank", 0)), len(labels)]


def label_facts(target, given, ignore_index):
    """Number of classes, of labels that count, entropy of the labels of this batch in nats, share of ignored positions."""
    classes = int(given.shape[1] if given.dim() > 1 else given.shape[0])
    kept = target[target != ignore_index].reshape(-1)
    facts = {"classes": classes, "kept": kept.numel(), "ignored": 1.0 - kept.numel() / max(1, target.numel())}
    if kept.numel():
        counts = kept.unique(return_counts=True)[1].float()
        shares = (counts / counts.sum()).tolist()
        facts["entropy"] = -sum(p * math.log(p) for p in shares)
        facts["distinct"] = len(shares)
    return facts
