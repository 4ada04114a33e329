"""Listener: from which step to which each pass over data trains. One event "passes" for each data set at the end.

A program may build its loader anew for each epoch, so they are told by data set.
"""

MOST = 60  # passes of one


class Listener:
    def __init__(self, bus):
        self.bus, self.events = bus, bus.events
        self.started = {}  # step at the start of the present pass
        self.passes = {}  # [[first step, last]] of those that train
        self.latest = None  # data set of the last batch

    def _number(self, loader):
        return self.bus.number("dataset", getattr(loader, "dataset", loader))

    def loader_started(self, loader):
        self.started[self._number(loader)] = self.bus.steps

    def batch(self, loader, batch):
        self.latest = self._number(loader)

    def backward_before(self, tensors, gradients):
        if self.latest is None:
            return
        passes, start = self.passes.setdefault(self.latest, []), self.started.get(self.latest, 0)
        if passes and passes[-1][0] == start:
            passes[-1][1] = self.bus.steps
        elif len(passes) < MOST:
            passes.append([start, self.bus.steps])

    def close(self, reason):
        for number, passes in self.passes.items():
            self.events("passes", dataset=number, passes=passes)
