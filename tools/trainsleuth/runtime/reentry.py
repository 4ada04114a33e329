"""The failing step once more, through the program's own loop, with every operation watched.

For values that are born between the modules: in a loss of primitive operations, in hand-written metrics,
in a loop that calls parts of a model. The optimizer is held still, the recorded batches are fed again,
and the random state of the failing step is put back. The first attempts repeat; later ones only watch.
"""

from . import dispatch, randomness
from .dispatch import Finder
from .freeze import storage
from .places import Places
from .replay import recording
from .tensors import shape, tensors_in

ATTEMPTS = 8
FED = 3  # attempts that are given the recorded data; a prefetching loop meets them one step late


class Reentry:
    def __init__(self, bus, record):
        self.bus, self.torch = bus, bus.torch
        self.batches, self.randoms = list(record.batches), record.randoms[::-1]
        self.calls = [call for call in record.calls if call.kind == "module" and call.with_grad]
        self.places = Places(bus.torch, bus.sites)
        self.finder = Finder(self.places.here, is_ours=lambda: bus.busy)
        self.attempt = 0
        self.recording = recording(bus.torch)
        self.recording.__enter__()
        dispatch.start(self.finder)

    def begin(self, sources):
        """Starts the next attempt; False when there is none left."""
        if self.attempt >= ATTEMPTS:
            return False
        if self.attempt < len(self.randoms) and self.randoms[self.attempt] is not None:
            randomness.restore(self.torch, self.randoms[self.attempt])
        self.queue = list(self.batches) if self.attempt < FED else []
        self.to_call = list(self.calls) if self.attempt < FED and not self.batches else []
        self.finder.forget()
        self.finder.sources.update((storage(tensor), fields) for fields, tensor in sources)
        self.attempt += 1
        return True

    def batch(self, loader):
        """The recorded batch of this loader, with the random state that followed it; None when there is none."""
        for number, (known, batch, state, _) in enumerate(self.queue):
            if known is loader:
                del self.queue[number]
                randomness.restore(self.torch, state)
                return batch
        return None

    def call(self, module, args, kwargs):
        """Where no loader was seen: the recorded arguments of this call, if they fit in its place."""
        self.places.stack = []
        self.places.attach(module)
        for number, call in enumerate(self.to_call):
            if call.function is module:
                del self.to_call[number]
                return (call.args, call.kwargs) if _fits(call, args, kwargs) else None
        return None

    def origin(self, tensors):
        """Origin of the first tensor that is not finite, or None."""
        return next((origin for origin in map(self.finder.origin, tensors) if origin is not None), None)

    def end(self):
        dispatch.stop(self.finder)
        self.recording.__exit__(None, None, None)
        self.places.detach()


def _fits(call, args, kwargs):
    """Same shapes, and no tensor that belongs to a graph: those of the failing step are spent."""
    before, now = list(tensors_in((call.args, call.kwargs))), list(tensors_in((args, kwargs)))
    return [shape(t) for t in before] == [shape(t) for t in now] and not any(t.requires_grad for t in before + now)
