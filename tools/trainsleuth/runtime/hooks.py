"""Patches torch once and tells listeners what the program does, in the order it does it.

A listener is any object with methods named after the moments in MOMENTS; it gets only those it defines.
Nothing is told from other threads than the one that trains (the first to go backward or to step; until then the one
that loaded torch), from forked children, while a listener itself computes, while torch.jit.trace records, or within torch.func.vmap.
"""

import atexit
import importlib
import os
import sys
import threading
from contextlib import suppress

from . import patches
from .clock import Clock
from .idling import Idling
from .sites import Sites

MOMENTS = (
    "optimizer_born",  # (optimizer)
    "loader_born",  # (loader)
    "loader_started",  # (loader); one pass over it begins
    "batch_before",  # (loader) -> Stop or None; the program waits for the next batch from here on, or the data end here
    "loader_ended",  # (loader); one pass over it came to its end
    "batch",  # (loader, batch) -> batch
    "forward_before",  # (module, args, kwargs) -> (args, kwargs) or None; outermost module calls only
    "forward_after",  # (module, args, kwargs, output)
    "forward_broken",  # (module); an exception left it
    "module_called",  # (module); every call inside an outermost one
    "loss_before",  # (name, arguments) -> arguments or None; arguments by parameter name
    "loss_after",  # (name, arguments, output)
    "backward_before",  # (tensors, gradients)
    "backward_after",  # (tensors)
    "autograd_grad",  # ()
    "autograd_grad_after",  # (gradients)
    "zero_grad",  # (optimizer or module)
    "clip",  # (name, parameters, limit, total norm or None)
    "scaler",  # (operation, scaler, value in, value out)
    "step_before",  # (optimizer)
    "step_after",  # (optimizer)
    "schedule_born",  # (scheduler)
    "schedule",  # (scheduler)
    "weights_loaded",  # (module, state dict, what load_state_dict gave back, addresses of the module's own values before)
    "seeded",  # (seed)
    "saved",  # (object); torch.save is about to write it
    "loaded",  # (object); torch.load has read it
    "boundary",  # (number of steps done): the program finished one step of training
    "close",  # (reason)
)

TRAINS = ("backward_before", "step_before")


class Bus:
    """Carries the moments to the listeners and knows when to stay silent."""

    def __init__(self, torch, config, events):
        self.torch, self.config, self.events = torch, config, events
        self.experiment = config.get("experiment", {})
        self.sites = Sites(config["root"], config.get("told_from", ""))
        self.pid, self.thread = os.getpid(), threading.get_ident()
        self.busy = False
        self.depth = 0  # of nested module calls
        self.in_loader = False  # modules called meanwhile prepare data (torchvision's transforms): no forwards
        self.in_loss = False  # a loss function that calls another is told once
        self.steps = 0  # of training, finished
        self.listeners, self.dropped = [], []
        self.told = {moment: [] for moment in MOMENTS}
        self.closed = self.trained = False
        self.numbered = {}
        self.idling = Idling(torch)
        self.recorded = torch._C._get_tracing_state  # by torch.jit.trace, which would take in what listeners compute
        self.transforms = getattr(torch._C, "_functorch", None)

    def number(self, kind, thing):
        """The number of this object among all of its kind, the same for every listener; kept, so it stays its own."""
        known = self.numbered.setdefault(kind, {})
        return known.setdefault(id(thing), (len(known), thing))[0]

    def add(self, listener):
        self.listeners.append(listener)
        for moment in MOMENTS:
            if hasattr(type(listener), moment):  # its methods only: what it keeps may be called like a moment
                self.told[moment].append(getattr(listener, moment))

    @property
    def awake(self):
        is_told = not self.busy and threading.get_ident() == self.thread and os.getpid() == self.pid
        return is_told and self.recorded() is None and not self._is_mapping()

    def _is_mapping(self):
        """Within torch.func.vmap each tensor stands for many, and no value can be read."""
        transforms = self.transforms and self.transforms.get_interpreter_stack()
        return any(one.key() == self.transforms.TransformType.Vmap for one in transforms or ())

    def tell(self, moment, *details):
        """Tells every listener; returns the last answer that is not None."""
        methods = self.told[moment]
        if not (self.awake or (methods and self._adopts(moment))):
            return None
        if (not self.idling.over and self._passes_over(moment, details)) or not methods:
            return None
        self.trained = self.trained or moment in TRAINS
        self.busy, answer = True, None
        try:
            for method in list(methods):
                try:
                    said = method(*details)
                except Exception as problem:
                    self.drop(method.__self__, moment, problem)
                else:
                    answer = said if said is not None else answer
        finally:
            self.busy = False
        return answer

    def _passes_over(self, moment, details):
        try:
            return self.idling.passes_over(moment, details)
        except Exception:  # an optimizer of another make
            self.idling.over = True
            return False

    def _adopts(self, moment):
        """Where another thread is the first that trains, it is listened to from now on: a learner beside its actors."""
        if self.trained or moment not in TRAINS or self.busy or os.getpid() != self.pid:
            return False
        self.thread = threading.get_ident()
        return True

    def quietly(self, listener, function):
        """`function` of a listener as a hook of torch: nobody hears of what it does itself, and its fault is not the program's."""

        def hook(*details):
            if self.awake and listener not in self.dropped:
                self.busy = True
                try:
                    function(*details)
                except Exception as problem:
                    self.drop(listener, "a hook", problem)
                finally:
                    self.busy = False

        return hook

    def drop(self, listener, moment, problem):
        """Our own fault must not become the program's: the listener falls silent, and that is told."""
        name = type(listener).__module__.rpartition(".")[2]
        self.dropped.append(listener)
        for methods in self.told.values():
            methods[:] = [method for method in methods if method.__self__ is not listener]
        why = "%s: %s" % (type(problem).__name__, str(problem)[:300])
        self.events("hooks", hooks={"listener " + name: "stopped in %s: %s" % (moment, why)})
        if self.config.get("watch_only"):
            with suppress(Exception):  # stderr may be anything
                sys.stderr.write("trainsleuth watch: it can watch no more (%s in %s)\n" % (why, moment))

    def finish(self, reason):
        """Ends the user's program here: what was asked is answered."""
        self.close(reason)
        importlib.import_module(__package__).finish(reason)

    def stop(self, code):
        """Ends the user's program here, and as one that failed."""
        self.close("stopped")
        importlib.import_module(__package__).finish("stopped", code)

    def close(self, reason):
        if not self.closed and os.getpid() == self.pid:
            self.closed, self.busy = True, False
            self.thread = threading.get_ident()
            if self.idling.steps:
                self.events("idle_steps", steps=self.idling.steps)
            self.tell("close", reason)


def _close_at_exit(bus):
    def close():
        bus.close("exit")

    return close


def _listeners(bus):
    """The experiment names its listeners: each a module here with a class Listener(bus)."""
    for name in bus.experiment.get("listeners", ("trace",)):
        yield importlib.import_module("." + name, __package__).Listener(bus)


def install(torch, config, events):
    """Applies every patch; returns {patch name: "ok" or the reason why not}.

    Raises when a patch that everything rests on cannot be applied: then nothing may run.
    """
    bus = Bus(torch, config, events)
    for listener in _listeners(bus):
        bus.add(listener)
    bus.add(Clock(bus))  # last, so that at a boundary everyone has seen the step
    outcome = {}
    wanted = bus.experiment.get("patches")  # None: all
    for name, patch in patches.PATCHES:
        if wanted is not None and name not in wanted:
            continue
        try:
            patch(torch, bus)
            outcome[name] = "ok"
        except (AttributeError, ImportError) as problem:
            if name in patches.ESSENTIAL:
                raise
            outcome[name] = "%s: %s" % (type(problem).__name__, problem)
    atexit.register(_close_at_exit(bus))
    sys.modules[__package__].bus = bus
    return outcome
