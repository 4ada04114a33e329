"""Listener: puts the step of a bundle into the program's own loop: its weights, its optimizers, its batch.

The program comes to its first step with whatever data there are; from there on its modules hold what those of the bundle
held, and its loader gives the batch of the bundle, again and again. The last event "put_back" tells what fitted.
"""

import copy
import os

from . import randomness, registered
from .phases import inner
from .tensors import tensors_in

WRAPPER = "module."


class Listener:
    def __init__(self, bus):
        self.bus, self.torch = bus, bus.torch
        file = os.path.join(bus.experiment["bundle"], "tensors.pt")
        self.kept = bus.torch.load(file, map_location="cpu", weights_only=True)
        self.batch_tensors = list(self.kept["batches"][-1]["tensors"].values()) if self.kept["batches"] else []
        self.left = list(self.kept["modules"])
        self.put = {"modules": [], "optimizers": [], "batches": 0, "unfit": []}
        self.optimizers = []
        self.is_told = False

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    def batch(self, loader, batch):
        if not self.torch.is_grad_enabled() or not self.batch_tensors:
            return None
        own = list(tensors_in(batch))
        if [kind(t) for t in own] != [kind(t) for t in self.batch_tensors]:
            if not self.put["batches"]:
                self.put["unfit"].append("a batch of %d tensors" % len(own))
            return None
        self.put["batches"] += 1
        if self.put["batches"] == 1:
            randomness.restore(self.torch, {"torch": self.kept["random"]})
        return with_tensors(batch, {id(mine): kept.clone() for mine, kept in zip(own, self.batch_tensors)})

    def forward_before(self, module, args, kwargs):
        module = inner(module)
        if not self.left or not self.torch.is_grad_enabled():
            return
        mine = dict((*registered.named_parameters(module), *registered.named_buffers(module)))
        for kept in list(self.left):
            values = {unwrapped(name): value for name, value in kept["values"].items()}
            if values.keys() == mine.keys() and all(values[name].shape == mine[name].shape for name in mine):
                self.left.remove(kept)
                with self.torch.no_grad():
                    for name, value in mine.items():
                        value.data.copy_(values[name])
                self.put["modules"].append(kept["class"])
                return

    def step_before(self, optimizer):
        number = next((n for n, one in enumerate(self.optimizers) if one is optimizer), None)
        kept = self.kept["optimizers"]
        if number is not None and number < len(kept) and kept[number] is not None:
            state, kept[number] = kept[number]["state"], None
            try:
                optimizer.load_state_dict(state)
                self.put["optimizers"].append(type(optimizer).__name__)
            except (KeyError, RuntimeError, ValueError) as problem:
                self.put["unfit"].append("the state of %s: %s" % (type(optimizer).__name__, str(problem)[:100]))
        if not self.is_told:
            self.is_told = True
            self.close("told early, since the run may be killed")

    def close(self, reason):
        unfit = self.put["unfit"] + ["the weights of %s" % kept["class"] for kept in self.left]
        self.bus.events("put_back", **dict(self.put, unfit=unfit))


def unwrapped(name):
    """A name without the part that DistributedDataParallel puts before it."""
    return name[len(WRAPPER) :] if name.startswith(WRAPPER) else name


def kind(tensor):
    return tensor.dtype, tensor.dim(), tuple(tensor.shape[1:])


def with_tensors(value, others, depth=6):
    """The same containers with other tensors in them, by the id of the tensor that they take the place of."""
    if id(value) in others or not depth:
        return others.get(id(value), value)
    if isinstance(value, (list, tuple)):
        items = [with_tensors(one, others, depth - 1) for one in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    filled = copy.copy(value)
    if hasattr(value, "items") and hasattr(value, "keys"):
        for key in list(value.keys()):
            filled[key] = with_tensors(value[key], others, depth - 1)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            setattr(filled, name, with_tensors(getattr(value, name), others, depth - 1))
    return filled
