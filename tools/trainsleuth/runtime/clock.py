"""When one step of training ends, and when enough was seen.

With several optimizers (a GAN, n_critic > 1) a step of the program ends with the step of the optimizer
that appeared last. Without any optimizer (hand-written SGD) every backward begins a new step.
"""

import time

MOST_WAITED = 20  # perhaps none will ever step


class Clock:
    def __init__(self, bus):
        self.bus = bus
        self.last_to_appear = None
        self.seen = set()
        self.born = False
        self.backwards = 0
        self.waited = 0  # backwards before any optimizer has stepped
        self.started = None
        self.most_steps = bus.experiment.get("steps") or float("inf")
        self.most_seconds = bus.experiment.get("seconds") or float("inf")
        until = bus.experiment.get("until")  # seconds after the launch: soon after it everything is killed
        self.until = float("inf") if until is None else bus.config.get("launched_at", 0.0) + until

    def optimizer_born(self, optimizer):
        self.born = True

    def backward_before(self, tensors, gradients):
        if self.started is None:
            self.started = time.monotonic()
        if not self.born:
            self.backwards += 1
            if self.backwards > 1:
                self._step_done()
        elif not self.seen:
            self.waited += 1
            if self.waited > MOST_WAITED:
                self._end_in_time()

    def step_after(self, optimizer):
        if self.started is None:
            self.started = time.monotonic()
        if id(optimizer) not in self.seen:
            self.seen.add(id(optimizer))
            self.last_to_appear = optimizer
        if optimizer is self.last_to_appear:
            self._step_done()

    def _step_done(self):
        bus = self.bus
        bus.steps += 1
        bus.busy = False  # we are inside tell(); the boundary is a moment of its own
        bus.tell("boundary", bus.steps)
        bus.busy = True
        if bus.steps >= self.most_steps:
            bus.finish("steps")
        self._end_in_time()

    def _end_in_time(self):
        now = time.monotonic()
        if now - self.started >= self.most_seconds or now >= self.until:
            self.bus.finish("seconds")
