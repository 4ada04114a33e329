"""Listener: what every layer gives, at a few steps: shapes, sizes, dead and saturated units, with lines.

Modules are watched by hooks, functions by a TorchFunctionMode; both are put in place for one training call
and taken off again. No value is changed.
"""

from contextlib import suppress

from . import registered
from .tensors import describe, kind, shape, tensors_in

LOOK_AT = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MOST_ROOTS = 4
MOST_LAYERS = 400
RECTIFIERS = {"relu": 0.0, "relu_": 0.0, "relu6": 0.0}
SQUASHERS = {"tanh": (-0.99, 0.99), "tanh_": (-0.99, 0.99), "sigmoid": (0.01, 0.99), "sigmoid_": (0.01, 0.99)}
OVER_AN_AXIS = ("softmax", "log_softmax")


class Unit:
    """One activation function at one line of one module, over all looks."""

    def __init__(self):
        self.looks, self.alive, self.facts = [], None, {}


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.units, self.tables, self.looked = {}, {}, set()
        self.handles, self.stack, self.rows, self.mode = [], [], None, None
        self.states = {}  # recurrent layer -> [calls with one step in this forward, those with the state of the one before, its state]

    # -- looking ---------------------------------------------------------------------------

    def forward_before(self, module, args, kwargs):
        self._stop()
        root = self.bus.number("root", module)
        is_due = self.bus.steps in LOOK_AT and (root, self.bus.steps) not in self.looked
        if not is_due or root >= MOST_ROOTS or not (module.training and self.torch.is_grad_enabled()):
            return
        self.looked.add((root, self.bus.steps))
        if root not in self.tables:
            self.rows = self.tables[root] = []
        for name, one in registered.named_modules(module):
            self._watch(name or type(module).__name__, one)
        self.mode = _watching(self.torch, self.bus.quietly(self, self._called))
        self.mode.__enter__()

    def forward_after(self, module, args, kwargs, output):
        for name, (calls, same, _) in self.states.items():
            user, library = self.bus.sites.here()
            self.events(
                "states",
                root=self.bus.number("root", module),
                cls=type(module).__name__,
                name=name,
                calls=calls,
                same=same,
                site=user,
                lib=library,
            )
        self._stop()

    def forward_broken(self, module):
        self._stop()

    def boundary(self, step):
        self._stop()
        if step in (1, 10, 100, 1000):
            self._tell()

    def close(self, reason):
        self._stop()
        self._tell()

    def _stop(self):
        if self.mode is not None:
            self.mode.__exit__(None, None, None)
        for handle in self.handles:
            handle.remove()
        self.handles, self.stack, self.mode, self.rows, self.states = [], [], None, None, {}

    def _watch(self, name, module):
        def before(module, args):
            self.stack.append(name)
            if is_recurrent(self.torch, module):
                self._begins(name, module, args)

        def after(module, args, output):
            if self.stack:
                self.stack.pop()
            if self.rows is not None and len(self.rows) < MOST_LAYERS:
                self.rows.append([name, type(module).__name__, *_flow(args, output)])

        with suppress(RuntimeError):  # scripted modules take no such hooks
            self.handles.append(module.register_forward_pre_hook(self.bus.quietly(self, before)))
            self.handles.append(module.register_forward_hook(self.bus.quietly(self, after)))

    def _begins(self, name, module, args):
        """A call of a recurrent layer: with one step, and the state that the call before it was given?"""
        states = [(t.data_ptr(), t._version) for t in tensors_in(args[1:])]
        if states and is_one_step(module, args[0]):
            called = self.states.setdefault(name, [0, 0, None])
            called[0], called[1], called[2] = called[0] + 1, called[1] + (called[2] == states), states

    # -- activation functions --------------------------------------------------------------

    def _called(self, name, args, kwargs, result):
        if not (name in RECTIFIERS or name in SQUASHERS or name in OVER_AN_AXIS) or not hasattr(result, "dim"):
            return
        if not result.dtype.is_floating_point or result.dim() < 2:
            return
        user, library = self.bus.sites.here()
        key = (name.rstrip("_"), self.stack[-1] if self.stack else None, user, library)
        unit = self.units.setdefault(key, Unit())
        values = result.detach()
        if name in OVER_AN_AXIS:
            axis = kwargs.get("dim", args[1] if len(args) > 1 and isinstance(args[1], int) else None)
            unit.facts = {"axis": axis if axis is None or axis >= 0 else axis + values.dim(), "shape": shape(values)}
        elif name in RECTIFIERS:
            self._rectified(unit, values)
        else:
            low, high = SQUASHERS[name]
            unit.looks.append([self.bus.steps, float(((values < low) | (values > high)).float().mean())])
            unit.facts = {"shape": shape(values)}

    def _rectified(self, unit, values):
        """Units lie along axis 1, of sequences (N, T, units) along the last."""
        axis = 2 if values.dim() == 3 else 1
        alive = (values > 0).transpose(0, axis).flatten(1).any(1)
        if unit.alive is not None and unit.alive.shape == alive.shape:
            alive = alive | unit.alive
        unit.alive = alive
        unit.looks.append([self.bus.steps, float((values == 0).float().mean())])
        unit.facts = {"shape": shape(values), "samples": values.numel() // len(alive)}

    # -- telling ---------------------------------------------------------------------------

    def _tell(self):
        for (fn, module, user, library), unit in self.units.items():
            dead = {} if unit.alive is None else {"units": len(unit.alive), "dead": int((~unit.alive).sum())}
            self.events("activation", fn=fn, module=module, site=user, lib=library, looks=unit.looks[-12:],
                        **dict(unit.facts, **dead))  # fmt: skip
        for root, rows in self.tables.items():
            if rows:
                self.events("layers", root=root, rows=rows)
                self.tables[root] = []


def is_recurrent(torch, module):
    return isinstance(module, (torch.nn.RNNBase, torch.nn.RNNCellBase))


def is_one_step(module, given):
    """A cell gets one step; a layer gets one where its axis of time is of length one."""
    if not hasattr(given, "dim"):
        return False  # packed
    batch_first = getattr(module, "batch_first", None)
    return batch_first is None or (given.dim() == 3 and given.shape[1 if batch_first else 0] == 1)


def _flow(args, output):
    """[shapes in, shapes out, dtype out, mean, std, largest magnitude] of a module's first output."""
    given = [shape(t) for t in list(tensors_in(args))[:3]]
    results = list(tensors_in(output))
    if not results:
        return [given, [], None, None, None, None]
    facts = describe(results[0])
    size = max(abs(facts["min"]), abs(facts["max"])) if "min" in facts else None
    return [given, [shape(t) for t in results[:3]], kind(results[0]), facts.get("mean"), facts.get("std"), size]


def _watching(torch, called):
    """A mode that hears of every call of a function of torch and passes it on unchanged."""

    class Watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            called(getattr(function, "__name__", ""), args, kwargs or {}, result)
            return result

    return Watching()
