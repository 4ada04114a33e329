"""Listener: puts the step of a bundle into the program's own loop: its weights, its optimizers, its batch.

The program comes to its first step with whatever data there are; from there on its modules hold what those of the bundle
held, and its loader gives the batches of the bundle, the last one first. The last event "put_back" tells what fitted.
"""

import copy
import os

from . import randomness, registered
from .phases import inner
from .tensors import filled, is_mapping, tensors_in

TABLES = (registered.named_parameters, registered.named_buffers)
UNNAMED = "_orig_mod."  # what torch.compile puts into names


class Listener:
    def __init__(self, bus):
        self.bus, self.torch = bus, bus.torch
        self.put = {"modules": [], "optimizers": [], "batches": 0, "unfit": []}
        file = os.path.join(bus.experiment["bundle"], "tensors.pt")
        try:
            kept = bus.torch.load(file, map_location="cpu", weights_only=True)
            self.modules, self.states, self.random = kept["modules"], kept["optimizers"], kept["random"]
            self.batches = [list(batch.values()) for batch in reversed(kept["batches"])]  # the last one first
        except Exception as problem:
            self.modules, self.states, self.batches, self.random = [], [], [], None
            self.put["unfit"].append("tensors.pt: %s: %s" % (type(problem).__name__, str(problem)[:200]))
        self.given = {}  # kinds of tensors -> how many batches of these were given
        self.filled, self.matched = set(), set()  # modules here; numbers of those of the bundle
        self.optimizers = []
        self.is_told = False

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    def batch(self, loader, batch):
        """The batches of the bundle that have such tensors, one after the other, from the last one back and again."""
        if not self.torch.is_grad_enabled():
            return None
        own = list(tensors_in(batch))
        kinds = tuple(map(kind, own))
        fitting = [kept for kept in self.batches if tuple(map(kind, kept)) == kinds]
        if not fitting or not own:
            return None
        number = self.given[kinds] = self.given.get(kinds, -1) + 1
        self.put["batches"] += 1
        if self.put["batches"] == 1:
            randomness.restore(self.torch, {"torch": self.random})
        kept = fitting[number % len(fitting)]
        return with_tensors(batch, {id(mine): value.clone() for mine, value in zip(own, kept)})

    def forward_before(self, module, args, kwargs):
        module = inner(module)
        if id(module) not in self.filled and self.torch.is_grad_enabled():
            self.filled.add(id(module))
            mine = {plain_name(name): value for table in TABLES for name, value in table(module)}
            if mine and not any(hasattr(value, "materialize") for value in mine.values()):
                self._fill(mine)
            elif mine:
                self.filled.discard(id(module))  # lazy ones have no shape before their first call

    def _fill(self, mine):
        """Values of a module of the bundle, or of the part of one that has these names and shapes."""
        for number, kept in enumerate(self.modules):
            values = {plain_name(name): value for name, value in kept["values"].items()}
            first = next(iter(mine))
            for start in [name[: -len(first)] for name in values if name == first or name.endswith("." + first)]:
                if all(getattr(values.get(start + name), "shape", None) == mine[name].shape for name in mine):
                    with self.torch.no_grad():
                        for name, value in mine.items():
                            value.data.copy_(values[start + name])
                    self.put["modules"].append(kept["class"] + ("." + start.rstrip(".") if start else ""))
                    self.matched.add(number)
                    return

    def step_before(self, optimizer):
        number = next((n for n, one in enumerate(self.optimizers) if one is optimizer), None)
        if number is not None and number < len(self.states) and self.states[number] is not None:
            state, self.states[number] = self.states[number]["state"], None
            try:
                if state is not None:
                    optimizer.load_state_dict(state)
                    self.put["optimizers"].append(type(optimizer).__name__)
            except (KeyError, RuntimeError, ValueError) as problem:
                self.put["unfit"].append("the state of %s: %s" % (type(optimizer).__name__, str(problem)[:100]))
        if not self.is_told:
            self.is_told = True
            self._tell()  # the run may be killed

    def close(self, reason):
        self._tell()

    def _tell(self):
        unfit = ["the weights of %s" % kept["class"] for n, kept in enumerate(self.modules) if n not in self.matched]
        unfit += ["its batches"] if self.batches and not self.put["batches"] else []
        self.bus.events("put_back", **dict(self.put, unfit=self.put["unfit"] + unfit))


def plain_name(name):
    return name.replace(UNNAMED, "")


def kind(tensor):
    return tensor.dtype, tensor.dim()


def with_tensors(value, others, depth=6):
    """The same containers with other tensors in them, by the id of the tensor that they take the place of."""
    if id(value) in others or not depth:
        return others.get(id(value), value)
    if isinstance(value, (list, tuple)):
        items = [with_tensors(one, others, depth - 1) for one in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if is_mapping(value):
        return filled(value, lambda item: with_tensors(item, others, depth - 1))
    other = copy.copy(value)
    if hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            setattr(other, name, with_tensors(getattr(value, name), others, depth - 1))
    return other
