"""Listener: the first operation whose result is not finite, with its line, found in the failing step itself.

The run goes at full speed until a loss or a gradient is not finite. Then, before the optimizer moves
anything, the calls of that step are run again with every operation watched (replay.py). What is born
outside of modules and loss functions is found by holding the optimizer still and letting the program's
own loop do the step again (reentry.py). One event "nonfinite" tells it; "watched" tells what was looked at.

On a device that computes asynchronously, losses and gradients are read together, once per optimizer step.
With experiment["sync"] false even that is read one step later without waiting; the parameters have moved
by then, so the failing step is named but not searched.
"""

import sys

from . import gradients, graph, ranks, registered
from .calls import Call
from .case import Case
from .content import counts
from .record import Record
from .tensors import tensors_in
from .watching import Watch

TELL_AT = frozenset({1, 10, 100})  # and every 1000th step: a killed run has told what it watched


class Listener:
    def __init__(self, bus):
        self.bus, self.torch = bus, bus.torch
        self.record, self.watch = Record(bus.torch), Watch(bus)
        self.optimizers = []
        self.opened = None  # the outermost call that is running
        self.steps = self.backwards = 0  # of the run; of this step
        self.saw_backward = False
        self.case = None
        self.untrained = None  # (call, what was noticed) ahead of any training: told where none follows
        self.hidden = gradients.Hidden()
        self.graph_task = bus.torch._C._current_graph_task_id

    @property
    def is_idle(self):
        """Nothing left to find, or the engine runs: what a checkpoint calls again is no new call."""
        return (self.case is not None and self.case.is_told) or self.graph_task() != -1

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    # -- the forward -----------------------------------------------------------------------

    def batch(self, loader, batch):
        if self.is_idle or not self.torch.is_grad_enabled():
            return None
        if self.case is not None:
            return self.case.batch(loader)
        self.record.batch(loader, batch)
        return None

    def forward_before(self, module, args, kwargs):
        self.opened = None
        if self.is_idle:
            return None
        if self.case is not None:
            return self.case.call(module, args, kwargs)
        self.opened = self._call("module", module, args, kwargs, self.bus.sites.here())
        return None

    def forward_after(self, module, args, kwargs, output):
        if self.opened is not None and self.opened.function is module:
            self.opened.watch(output, self._keep)
            if not self.saw_backward and not self.optimizers and self.untrained is None:
                self._check_output(self.opened, output)
        self.opened = None

    def loss_after(self, name, arguments, output):
        if self.is_idle or self.case is not None:
            return
        site = self.bus.sites.here()
        self.watch.loss_function(name, site, output)
        if not self.bus.depth and getattr(output, "requires_grad", False):
            function = getattr(self.torch.nn.functional, name)
            self._call("loss", function, (), dict(arguments), site).watch(output, self._keep)

    def _call(self, kind, function, args, kwargs, site):
        call = Call(self.torch, kind, function, args, kwargs, site)
        self.record.add(call)
        return call

    def _keep(self, call, number, gradient):
        if self.case is None:
            self.record.keep(call, number, gradient, self.backwards - 1)

    def _check_output(self, call, output):
        """No backward and no optimizer so far: a module's output is all there is to see. Only NaN that it made counts."""
        if call.with_grad and has_nan(tensors_in(output)) and not has_nan(tensor for _, tensor in call.tensors()):
            user, library = self.bus.sites.here()
            noticed = {"noticed": "output", "value": "nan", "site": user, "lib": library, "micro": None}
            self.untrained = call, noticed

    # -- the backward ----------------------------------------------------------------------

    def backward_before(self, tensors, gradients):
        if self.is_idle:
            return
        self.saw_backward, self.untrained = True, None
        if self.case is not None:
            self.case.loss(tensors)
            return
        noticed = self.watch.loss(tensors, self.backwards)
        self.backwards += 1
        self._open(noticed, tensors, at_once=ranks.count() == 1)  # other ranks wait for our part of this backward

    def backward_after(self, tensors):
        """Without an optimizer a step ends here: an update by hand comes next."""
        if self.is_idle or self.optimizers:
            return
        owned = {id(p): p for c in self.record.calls if c.kind == "module" for p in registered.parameters(c.function)}
        leaves = map(graph.leaf_of, graph.nodes_from(tensors))
        parameters = list(owned.values()) or [leaf for leaf in leaves if leaf is not None]
        held = gradients.in_parameters(parameters)
        self._check_gradients(held, lambda: self.watch.gradients(held))
        if self._is_searching:
            for gradient in held:
                gradient.zero_()
        self._step_ends()

    # -- the step --------------------------------------------------------------------------

    def step_before(self, optimizer):
        if self.is_idle:
            return
        self.watch.stepped, self.untrained = True, None
        self._check_gradients(gradients.of(optimizer), lambda: self.watch.step(optimizer))
        if self._is_searching:  # without gradients the step changes nothing
            self.hidden.hide(optimizer)

    def step_after(self, optimizer):
        self.hidden.give_back()

    def scaler(self, operation, scaler, given, result):
        if self.is_idle:
            return
        if operation == "scale":
            self.watch.scaled(given, result)
        elif operation == "update":
            was_skipped = not self.watch.stepped
            noticed = self.watch.updated(scaler.get_scale())
            if self.case is None:
                noticed = self.watch.read() or noticed
                self._open(noticed)
                if was_skipped:
                    self.record.skipped()
                    self.backwards = 0
            if self._is_searching and was_skipped:
                self._step_ends()

    def boundary(self, step):
        if self.case is not None and self.case.is_shared:
            self.case.agree()
        if self.optimizers and not self.is_idle:
            self._step_ends()

    def _step_ends(self):
        if self._is_searching:
            self.case.turn()
            return
        self.steps += 1
        self.backwards = 0
        self.record.next_step()
        if self.steps in TELL_AT or self.steps % 1000 == 0:
            self._tell()

    # -- deciding --------------------------------------------------------------------------

    @property
    def _is_searching(self):
        return self.case is not None and not self.case.is_told

    def _check_gradients(self, held, judge):
        if self.case is not None:
            self.case.look_at(held) if self.case.is_searched else self.case.search()
            return
        self._open(self.watch.read() or judge())
        if self.case is None:
            self.record.checked()
            self.watch.sort_out()

    def _open(self, noticed, tensors=(), at_once=True):
        if noticed is not None:
            self.case = Case(self.bus, self.record, self.optimizers, noticed, tensors)
            if at_once:
                self.case.search()

    # -- the end ---------------------------------------------------------------------------

    def close(self, reason):
        if self._is_searching:
            self.case.give_up("the run ended (%s) before it was seen again" % reason)
        elif self.case is None:
            self._open(self.watch.read() or self._without_training() or self._crash())
            if self._is_searching and not self.case.fields.get("crash"):
                self.case.give_up("the run ended (%s)" % reason)
        self._tell()

    def _without_training(self):
        if self.untrained is None:
            return None
        call, noticed = self.untrained
        self.record.calls = [call]
        return noticed

    def _crash(self):
        """A program that an exception ended may have met such a value without ever using it as a loss."""
        if getattr(sys, "last_value", None) is None or not self.record.calls:
            return None
        user, library = self.record.calls[-1].site
        return {"noticed": "output", "value": "unknown", "site": user, "lib": library, "micro": None, "crash": True}

    def _tell(self):
        self.bus.events("watched", steps=self.steps, **self.watch.summary())


def has_nan(tensors):
    return any("nan" in counts(t) for t in tensors if t.device.type == "cpu")
