"""Watches every operation while it is active and remembers where each NaN and each infinity comes from.

An operation is recorded when it makes such a value from finite input ("born") or a NaN out of an
infinity ("turned"); operations that only pass one on are not. Values from outside that are already not
finite are recorded once, under their name ("source"). Costs about the time of the watched step again.
"""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import operations
from .content import counts, first_index, is_finite, is_readable, stats
from .freeze import storage
from .tensors import tensors_in

LONGEST_CHAIN = 12


class Origin:
    """One recorded operation: what is told about it, and the origin of what it was given, if any."""

    __slots__ = ("constant", "link", "number", "parent")

    def __init__(self, number, link, parent=None, constant=False):
        self.number, self.link, self.parent, self.constant = number, link, parent, constant

    def chain(self):
        """Links from the first operation to this one."""
        origin, links = self, []
        while origin is not None and len(links) < LONGEST_CHAIN:
            links.append(origin.link)
            origin = origin.parent
        return links[::-1]

    @property
    def is_only_constant(self):
        """Nothing but an infinity that the program wrote down, such as a mask's: no fault by itself."""
        return self.constant and (self.parent is None or self.parent.is_only_constant)


class Finder(TorchDispatchMode):
    """`describe` tells the place of the running operation; `sources` maps storages to names of outside values."""

    def __init__(self, describe, is_ours=None):
        super().__init__()
        self.describe, self.is_ours = describe, is_ours or (lambda: False)
        self.forget()

    def forget(self):
        self.nan, self.inf = {}, {}  # storage -> Origin
        self.sources = {}  # storage -> fields of the link
        self.number = 0
        self.from_scalar = None  # origin of the last value that was read into Python
        self.failure = None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if operations.name_of(func) == "_local_scalar_dense" and not isinstance(args[0], torch.Tensor):
            return args[0]  # a graph keeps the 2 of `2 * x` as a tensor, and a mode is handed the number
        if self.is_ours() or operations.is_uninitialised(func):
            return func(*args, **kwargs)
        before = self._overwritten(func, args, kwargs)
        result = func(*args, **kwargs)
        try:
            self._look(func, args, kwargs, before, result)
        except Exception as problem:  # the user's step must not fail because we cannot read a value
            self.failure = "%s: %s" % (operations.name_of(func), problem)
        return result

    def _overwritten(self, func, args, kwargs):
        """Copies of what the operation changes in place, by argument name."""
        names = operations.written(func)
        if not names:
            return {}
        given = dict(operations.read(func, args, kwargs))
        held = {name: given[name] for name in names if hasattr(given.get(name), "numel")}
        return {name: (t, t.detach().clone()) for name, t in held.items() if is_readable(t)}

    def _look(self, func, args, kwargs, before, result):
        if operations.name_of(func) == "_local_scalar_dense":
            self.from_scalar = self.origin(args[0]) if not is_finite(args[0]) else self.from_scalar
            return
        for output in tensors_in(result):
            if is_finite(output):
                continue
            inputs = [
                (name, t, before[name][1] if name in before else t)
                for name, value in operations.read(func, args, kwargs)
                for t in tensors_in(value)
            ]
            self._record(func, args, kwargs, inputs, output)

    def _record(self, func, args, kwargs, inputs, output):
        bad, about = counts(output), (func, args, kwargs, inputs, output)
        with_nan = [t for _, t, now in inputs if "nan" in counts(now)]
        with_inf = [t for _, t, now in inputs if {"inf", "-inf"} & set(counts(now))]
        if "nan" in bad:
            if with_nan:
                origin = min((self._nan_origin(t) for t in with_nan), key=lambda o: o.number)
                self.nan[storage(output)] = self._passed(about, origin, with_nan)
            else:
                turned = with_inf and not _is_new(func, output.isnan(), inputs)
                parent = self._best(with_inf) if turned else None
                self.nan[storage(output)] = self._made("turned" if turned else "born", about, parent)
        if "inf" in bad or "-inf" in bad:
            if with_inf and not _is_new(func, output.isinf(), inputs):
                self.inf[storage(output)] = self._passed(about, self._best(with_inf), with_inf)
            else:
                self.inf[storage(output)] = self._made("born", about, None)

    def _best(self, tensors):
        """Of several infinite inputs the one that nobody wrote on purpose, else the oldest."""
        return min(map(self._inf_origin, tensors), key=lambda o: (o.is_only_constant, o.number))

    def _passed(self, about, origin, tensors):
        """A value from outside is taken in by the first operation that makes something new of it."""
        output = about[-1]
        if origin.link["kind"] != "source" or any(storage(output) == storage(t) for t in tensors):
            return origin
        return self._made("passed", about, origin)

    def _nan_origin(self, tensor):
        return self.nan.get(storage(tensor)) or self._source(tensor, self.nan)

    def _inf_origin(self, tensor):
        return self.inf.get(storage(tensor)) or self._source(tensor, self.inf)

    def _source(self, tensor, table):
        """A value that came from outside: a named tensor, or one that the program made without torch."""
        key = storage(tensor)
        known = self.sources.get(key)
        link = dict(known or {"name": None}, kind="source", inputs=[dict(stats(tensor), name="value")])
        link["at"] = first_index(tensor)
        self.number += 1
        table[key] = Origin(self.number, link, constant=known is None and table is self.inf)
        return table[key]

    def _made(self, kind, about, parent):
        func, args, kwargs, inputs, output = about
        self.number += 1
        numbers = operations.numbers(func, args, kwargs)
        odd = [value for value in numbers.values() if not math.isfinite(value)]
        if parent is None and self.from_scalar is not None and any(value != value for value in odd):
            parent = self.from_scalar  # a NaN came back from Python
        link = {
            "kind": kind,
            "op": operations.name_of(func),
            "inputs": [dict(stats(now), name=name) for name, _, now in inputs][:6],
            "numbers": {name: str(v) if v in odd or v != v else v for name, v in numbers.items()},
            "output": dict(counts(output), shape=list(output.shape)),
            "at": first_index(output),
            "constant": bool(odd),
        }
        link.update(self.describe())
        return Origin(self.number, link, parent, bool(odd) or (kind == "passed" and parent.constant))

    def origin(self, tensor):
        """Where the worst value in this tensor comes from (NaN before infinity); None when it is finite."""
        bad = counts(tensor)
        if not bad:
            return None
        return self._nan_origin(tensor) if "nan" in bad else self._inf_origin(tensor)


def _is_new(func, bad, inputs):
    """Is a value bad where every input is finite? Only answerable for pointwise operations."""
    if not operations.is_pointwise(func):
        return False
    for _, _, now in inputs:
        if now.dtype.is_floating_point and now.device == bad.device:
            try:
                bad = bad & now.isfinite()
            except RuntimeError:
                return False
    return bool(bad.any())


def start(finder):
    finder.__enter__()


def stop(finder):
    """Takes the finder off when it is the innermost mode; else it stays, inactive."""
    current = torch.utils._python_dispatch._get_current_dispatch_mode()
    if current is finder:
        finder.__exit__(None, None, None)
    else:
        finder.is_ours = lambda: True
