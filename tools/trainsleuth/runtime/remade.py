"""Listener: optimizers that are built again over the same parameters, each of which steps once and then is left.

One step counts where the state that it filled is empty again in the next optimizer, and the parameters are what it had
left: what is set back before the next one (a task, a client, an example) begins anew on purpose.
One event "remade" at the end for each set of parameters: the longest row of such optimizers.
"""

import weakref

from .gradients import members
from .tensors import local

MOST = 50  # sets of parameters
MANY = 3  # optimizers in a row: such a set is kept
MOST_READ = 32  # parameters of each, of which
SAMPLE = 64  # elements are compared


class Row:
    """One set of parameters, and the optimizers that came after one another over it."""

    def __init__(self, parameters):
        self.known = [weakref.ref(p) for p in parameters]
        self.last = self.before = self.values = None
        self.length, self.first, self.longest = 0, None, None

    def is_of(self, parameters):
        return len(self.known) == len(parameters) and all(ref() is p for ref, p in zip(self.known, parameters))

    def ended(self):
        self.length = 0

    def stepped(self):
        return self.last() if self.last is not None else None


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.rows = []
        self.born = weakref.WeakKeyDictionary()  # where; of those that have not stepped

    def optimizer_born(self, optimizer):
        self.born[optimizer] = self.bus.sites.here()

    def step_before(self, optimizer):
        row = self._row(optimizer)
        if row is None:
            return
        if optimizer not in self.born or row.stepped() is optimizer or remembers(optimizer):
            row.ended()
            return
        row.before = self._values(optimizer)
        if row.values is None or not self.torch.equal(row.before, row.values):
            row.ended()

    def step_after(self, optimizer):
        row = self._row(optimizer)
        if row is None:
            return
        site, library = self.born.pop(optimizer, (None, None))
        before, row.before, row.last = row.before, None, weakref.ref(optimizer)
        if before is None:
            row.values = None
            return
        row.values = self._values(optimizer)
        if not remembers(optimizer) or counts_more_steps(optimizer) or self.torch.equal(before, row.values):
            row.ended()
            return
        if not row.length:
            row.first = self.bus.steps
        row.length += 1
        if row.longest is None or row.length > row.longest["length"]:
            row.longest = {
                "length": row.length, "n": row.first, "until": self.bus.steps, "site": site, "lib": library,
                "cls": type(optimizer).__name__, "parameters": len(row.known),
            }  # fmt: skip

    def close(self, reason):
        for row in self.rows:
            if row.longest is not None and row.longest["length"] > 1:
                self.events("remade", **row.longest)

    def _row(self, optimizer):
        """None for those that search for themselves within one step, and where there are too many sets."""
        if isinstance(optimizer, self.torch.optim.LBFGS):
            return None
        own = next((row for row in self.rows if row.stepped() is optimizer), None)
        return own or self._row_of(members(optimizer))

    def _row_of(self, parameters):
        found = next((row for row in self.rows if row.is_of(parameters)), None)
        if found is None and len(self.rows) >= MOST:
            short = [row for row in self.rows if row.longest is None or row.longest["length"] < MANY]
            self.rows = [row for row in self.rows if row not in short[: MOST // 2]]
        if found is None and len(self.rows) < MOST:
            found = Row(parameters)
            self.rows.append(found)
        return found

    def _values(self, optimizer):
        learn = [p for p in members(optimizer) if p.requires_grad and p.numel()]
        read = learn[:: 1 + len(learn) // MOST_READ]
        return self.torch.cat([_sample(local(p.detach())) for p in read] or [self.torch.zeros(0)])


def _sample(tensor):
    flat = tensor.reshape(-1)
    return flat[:: 1 + flat.numel() // SAMPLE].float().cpu().clone()


def remembers(optimizer):
    """Does it hold anything of a step that was made: a moment, a momentum, a count?"""
    states = (state for state in optimizer.state.values() if isinstance(state, dict))
    return any(_is_filled(value) for state in states for value in state.values())


def counts_more_steps(optimizer):
    """Its state was brought back within its own step."""
    states = (state for state in optimizer.state.values() if isinstance(state, dict))
    return any(
        float(state["step"]) > 1
        for state in states
        if isinstance(state.get("step"), (int, float)) or hasattr(state.get("step"), "numel")
    )


def _is_filled(value):
    return bool(value.any()) if hasattr(value, "any") else isinstance(value, (int, float)) and bool(value)
