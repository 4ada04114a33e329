"""Follows what is computed from given tensors up to a backward: is the loss computed against them, or do they enter what learns?

Against: outside of modules that learn they meet what has a graph (a target, a weight of a term). Into: a parameter
or a module that learns computes on with them. What leaves torch (item, numpy) and custom functions is not followed.
"""

from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from . import dispatch
from .freeze import storage
from .tensors import tensors_in

PURE, AGAINST, INTO = 1, 2, 4


class Marks:
    """What is known of tensors, by their memory: for as long as it is theirs, since others get it afterwards."""

    def __init__(self):
        self.known = {}  # storage -> what holds it, {name: kinds}

    def of(self, tensor):
        holder, kinds = self.known.get(storage(tensor), (None, {}))
        return kinds if holder is None or holder == _holder(tensor) else {}

    def put(self, tensor, kinds):
        self.known[storage(tensor)] = (_holder(tensor), kinds)

    def drop(self, tensor):
        self.known.pop(storage(tensor), None)


def _holder(tensor):
    """None where there is no such memory; while it is kept no other storage can look like this one."""
    try:
        return StorageWeakRef(tensor.untyped_storage())
    except (AttributeError, NotImplementedError, RuntimeError):
        return None


class Following(TorchDispatchMode):
    """`is_learning()`: does a module that learns compute at the moment? `is_ours()`: do we?"""

    def __init__(self, marks, is_learning, is_ours):
        super().__init__()
        self.marks, self.is_learning, self.is_ours = marks, is_learning, is_ours

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if not self.is_ours():
            try:
                self._follow([*tensors_in(args), *tensors_in(kwargs or {})], result)
            except Exception:  # the user's step must not fail because we cannot follow it
                self.marks.known.clear()
                self.is_ours = lambda: True
        return result

    def _follow(self, given, result):
        found = {}
        for tensor in given:
            for name, kinds in self.marks.of(tensor).items():
                found[name] = found.get(name, 0) | kinds
        if found:
            learns = self.is_learning() or any(t.requires_grad and t.is_leaf for t in given)
            meets = any(t.requires_grad for t in given)
            found = {name: _next(kinds, learns, meets) for name, kinds in found.items()}
        for tensor in tensors_in(result):
            if found:
                self.marks.put(tensor, found)
            else:
                self.marks.drop(tensor)


def _next(kinds, learns, meets):
    if learns:
        return INTO
    return kinds & ~PURE | AGAINST if meets and kinds & PURE else kinds


class Follower:
    """Puts the mode in place between a given tensor and the backwards of its step; takes it off for each of them."""

    def __init__(self, is_learning, is_ours):
        self.is_learning, self.is_ours = is_learning, is_ours
        self.marks, self.mode = Marks(), None

    def give(self, name, tensors):
        """From now on what is computed from these is known by this name."""
        for tensor in tensors:
            self.marks.put(tensor, {name: PURE})
        self.start()

    def start(self):
        if self.mode is None and self.marks.known:
            self.mode = Following(self.marks, self.is_learning, self.is_ours)
            dispatch.start(self.mode)

    def stop(self):
        if self.mode is not None:
            dispatch.stop(self.mode)
            self.mode = None

    def end(self):
        self.stop()
        self.marks = Marks()

    def reaching(self, tensors):
        """{name: AGAINST, INTO or both} of what these were computed from."""
        found = {}
        for tensor in tensors:
            for name, kinds in self.marks.of(tensor).items():
                found[name] = found.get(name, 0) | kinds & ~PURE
        return found
