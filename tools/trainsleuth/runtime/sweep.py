"""Listener: raises the learning rate of every optimizer from step to step through the program's own loop.

Ratios between parameter groups stay. The rate starts far below the program's own and ends far above.
"""

from .backwards import LossValue

LOW, HIGH = 1e-4, 1e3  # times the rate that the constructor was given
BLOWN = 4.0  # times the lowest smoothed loss, above the first one: no need to go on


class Listener:
    def __init__(self, bus):
        self.bus, self.events = bus, bus.events
        self.steps = bus.experiment.get("steps") or 120
        self.born, self.saved, self.losses, self.value, self.stepped = {}, {}, [], LossValue(), 0
        self.first = self.smooth = self.lowest = None

    @property
    def factor(self):
        return LOW * (HIGH / LOW) ** (self.bus.steps / max(1, self.steps - 1))

    def optimizer_born(self, optimizer):
        self.born[id(optimizer)] = [group.get("lr") for group in optimizer.param_groups]

    def scaler(self, operation, scaler, given, result):
        self.value.scaler(operation, given, result)

    def backward_before(self, tensors, gradients):
        self.losses.append(self.value.of(tensors))

    def step_before(self, optimizer):
        born = self.born.get(id(optimizer), [])
        self.saved[id(optimizer)] = [group.get("lr") for group in optimizer.param_groups]
        for place, group in enumerate(optimizer.param_groups):
            rate = group.get("initial_lr", born[place] if place < len(born) else group.get("lr"))
            if isinstance(rate, (int, float)):
                group["lr"] = rate * self.factor

    def step_after(self, optimizer):
        for group, rate in zip(optimizer.param_groups, self.saved.pop(id(optimizer), ())):
            group["lr"] = rate

    def boundary(self, step):
        loss = sum(self.losses) / max(1, len(self.losses))
        factor = LOW * (HIGH / LOW) ** ((step - 1) / max(1, self.steps - 1))
        rates = [rate for rates in self.born.values() for rate in rates if isinstance(rate, (int, float))]
        self.events("swept", n=step, factor=factor, rate=(max(rates) if rates else 0.0) * factor, loss=loss)
        self.losses = []
        self.first = loss if self.first is None else self.first
        self.smooth = loss if self.smooth is None else 0.7 * self.smooth + 0.3 * loss
        self.lowest = self.smooth if self.lowest is None else min(self.lowest, self.smooth)
        has_blown = self.smooth > BLOWN * max(abs(self.first), abs(self.lowest), 1e-12) or loss != loss
        if has_blown and step > 10:
            self.bus.finish("swept")
