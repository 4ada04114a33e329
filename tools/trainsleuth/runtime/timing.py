"""Listener: where the time of a step goes: waiting for data, forward, backward, optimizer, the rest.

Wall time for the parts, and the CPU time of this process for the trend, since other programs slow the
machine too. On a device that computes by itself the parts are when work was handed over, not when it was done.
"""

import time

MOST_STEPS = 20_000
PARTS = ("wait", "forward", "backward", "optimizer")


class Listener:
    def __init__(self, bus):
        self.bus, self.events = bus, bus.events
        self.began, self.sums = {}, dict.fromkeys(PARTS, 0.0)
        self.steps = []  # [seconds, cpu seconds, seconds of each part, calls of modules]
        self.calls = 0
        self.last = None

    def _from(self, part):
        self.began[part] = time.perf_counter()

    def _to(self, part):
        began = self.began.pop(part, None)
        if began is not None:
            self.sums[part] += time.perf_counter() - began

    def batch_before(self, loader):
        self._from("wait")

    def batch(self, loader, batch):
        self._to("wait")

    def forward_before(self, module, args, kwargs):
        self._from("forward")
        self.calls += 1

    def forward_after(self, module, args, kwargs, output):
        self._to("forward")

    def backward_before(self, tensors, gradients):
        self._from("backward")

    def backward_after(self, tensors):
        self._to("backward")

    def step_before(self, optimizer):
        self._from("optimizer")

    def step_after(self, optimizer):
        self._to("optimizer")

    def boundary(self, step):
        now, cpu = time.perf_counter(), time.process_time()
        if self.last is not None and len(self.steps) < MOST_STEPS:
            parts = [self.sums[part] for part in PARTS]
            self.steps.append([now - self.last[0], cpu - self.last[1], *parts, self.calls])
        self.sums, self.calls = dict.fromkeys(PARTS, 0.0), 0
        self.last = (time.perf_counter(), time.process_time())
        if step in (30, 100, 300, 1000, 3000):
            self._tell()

    def close(self, reason):
        self._tell()

    def _tell(self):
        if len(self.steps) < 8:
            return
        counted = self.steps[2:]  # the first ones warm up
        typical = [median(step[place] for step in counted) for place in range(2 + len(PARTS))]
        device = self.bus.torch.cuda.is_available() and self.bus.torch.cuda.is_initialized()
        self.events(
            "timing", n=self.bus.steps, steps=len(counted), asynchronous=bool(device), step=typical[0], cpu=typical[1],
            parts=dict(zip(PARTS, typical[2:])),
            mean=sum(step[0] for step in counted) / len(counted), mean_wait=sum(s[2] for s in counted) / len(counted),
            quarters=by_quarter(counted, 1), calls=by_quarter(counted, -1),
        )  # fmt: skip


def by_quarter(steps, place):
    size = max(1, len(steps) // 4)
    return [median(step[place] for step in steps[i * size : (i + 1) * size]) for i in range(4)]


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0
