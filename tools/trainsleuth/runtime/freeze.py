"""Makes the program meet the same data at every step, and keeps the proof: fingerprints of what arrives.

Three means, one after the other: the content of the data loader (the real iteration goes on, so that
lengths and ends stay true) with the program's own randomness left free; the random state too, global
and private; and, if inputs still move, recorded arguments of the outermost modules and targets of the
loss functions.
"""

import copy

from . import generators, randomness
from .tensors import fingerprint, tensors_in

CONTENT_STEPS = 30  # loader content alone: what the program's own randomness does to the fit is seen here
NO_LOADER_STEPS = 3  # without a loader there is nothing to see by it
RANDOM_STEPS = 5  # then with the random state restored; if inputs still move, arguments are replayed


class Freezer:
    def __init__(self, torch, bus):
        self.torch, self.bus = torch, bus
        self.mode = "content"
        self.batches, self.datasets = {}, []
        self.random_state = None
        self.recorded_calls, self.recorded_targets = {}, {}
        self.replayed_targets = 0
        self.random_since = None
        self.history = []
        self._new_step()

    def _new_step(self):
        self.calls, self.losses, self.outputs = [], [], []

    # -- data loaders ----------------------------------------------------------------------

    def batch(self, loader, batch):
        """The first batch of this dataset, always a fresh copy: programs change batches in place.

        None for the batch itself: an evaluation may count on the size of its own.
        """
        dataset = getattr(loader, "dataset", loader)
        if id(dataset) not in self.batches:
            self.datasets.append(dataset)  # referenced, so that its id stays its own
            self.batches[id(dataset)] = copied(batch)
        if self.random_state is not None:
            self._restore_random()  # a new epoch's iterator drew from it
        frozen = self.batches[id(dataset)]
        if not self.torch.is_grad_enabled() and not same_shapes(frozen, batch):
            return None
        return copied(frozen)

    # -- outermost modules -----------------------------------------------------------------

    def call(self, module, args, kwargs):
        """Fingerprints one training call; in replay returns the recorded arguments instead."""
        place = len(self.calls)
        answer = None
        if self.mode == "record" and not self._is_fed(args, kwargs):
            self.recorded_calls[place] = (module, copied((args, kwargs)))
        elif self.mode == "replay":
            recorded = self.recorded_calls.get(place)
            fits = recorded is not None and recorded[0] is module and same_shapes(recorded[1], (args, kwargs))
            if fits and not self._is_fed(args, kwargs):
                answer = args, kwargs = copied(recorded[1])
        prints = [fingerprint(t) for t in tensors_in((args, kwargs)) if not self._is_derived(t)]
        self.calls.append(prints)
        return answer

    def called(self, output):
        self.outputs.extend(storage(t) for t in tensors_in(output))

    def _is_derived(self, tensor):
        """Comes out of a module of this same step: moves because the parameters move."""
        return tensor.grad_fn is not None or storage(tensor) in self.outputs

    def _is_fed(self, args, kwargs):
        return any(self._is_derived(t) for t in tensors_in((args, kwargs)))

    # -- losses ----------------------------------------------------------------------------

    def target(self, target):
        """[fingerprint, fingerprint of the sorted values] of a target; in replay the recorded one is returned."""
        place, answer = len(self.losses), None
        if self.mode == "record":
            self.recorded_targets[place] = copied(target)
        elif self.mode == "replay":
            recorded = self.recorded_targets.get(place)
            if recorded is not None and recorded.shape == target.shape:
                answer = target = copied(recorded)
                self.replayed_targets += 1
        ordered = target.detach().reshape(-1).sort()[0] if target.numel() else target
        self.losses.append([fingerprint(target), fingerprint(ordered)])
        return answer

    # -- steps -----------------------------------------------------------------------------

    def boundary(self, step):
        """What this step met; then the means for the next one."""
        seen = {"mode": self.mode, "loader": bool(self.batches), "inputs": self.calls, "targets": self.losses}
        self.history.append([self.calls, self.losses])
        self._new_step()
        if self.mode == "content" and step >= (CONTENT_STEPS if self.batches else NO_LOADER_STEPS):
            self.mode, self.random_since, self.random_state = "random", step, self._save_random()
        elif self.mode == "random" and step == self.random_since + RANDOM_STEPS and not self._holds():
            self.mode = "record"
        elif self.mode == "record":
            self.mode = "replay"
        if self.random_state is not None:
            self._restore_random()
        return seen

    def _holds(self):
        """Most of the last steps met the same first inputs. A prefetched batch or a new epoch can make one differ."""
        met = [tuple(calls[0]) for calls, _ in self.history[-RANDOM_STEPS:] if calls and calls[0]]
        return bool(met) and max(map(met.count, met)) >= RANDOM_STEPS - 1

    def _save_random(self):
        own = generators.find(self.torch, self.bus.sites)
        return randomness.save(self.torch), [(generator, generators.save(generator)) for generator in own]

    def _restore_random(self):
        everywhere, private = self.random_state
        randomness.restore(self.torch, everywhere)
        for generator, its_state in private:
            generators.restore(generator, its_state)


def storage(tensor):
    """Where the values lie: equal for views of one tensor. Tensors without storage (torch.func) are their own."""
    try:
        return tensor.untyped_storage().data_ptr() or id(tensor)
    except (AttributeError, NotImplementedError, RuntimeError):
        return id(tensor)


def same_shapes(one, other):
    """A last, smaller batch keeps its own: the rest of its step was made for that size."""
    return [t.shape for t in tensors_in(one)] == [t.shape for t in tensors_in(other)]


def copied(value):
    try:
        return copy.deepcopy(value)
    except (RuntimeError, TypeError):  # a non-leaf tensor, a lock or a generator inside
        return value
