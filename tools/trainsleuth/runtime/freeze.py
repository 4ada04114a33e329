"""Makes the program meet the same data at every step, and keeps the proof: fingerprints of what arrives.

Three means, each tried only when the one before did not hold: the content of the data loader (the real
iteration goes on, so that lengths and ends stay true), the global random state, recorded arguments of
the outermost modules and targets of the loss functions.
"""

import copy
import random
import sys

from .tensors import fingerprint, tensors_in

CONTENT_STEPS = 3  # loader content alone
RANDOM_STEPS = 4  # then with the random state restored; if inputs still move, arguments are replayed


class Freezer:
    def __init__(self, torch, bus):
        self.torch, self.bus = torch, bus
        self.mode = "content"
        self.batches, self.datasets = {}, []
        self.random_state = None
        self.recorded_calls, self.recorded_targets = {}, {}
        self.replayed_targets = 0
        self.history = []
        self._new_step()

    def _new_step(self):
        self.calls, self.losses, self.outputs = [], [], []

    # -- data loaders ----------------------------------------------------------------------

    def batch(self, loader, batch):
        """The first batch of this dataset, always a fresh copy: programs change batches in place."""
        dataset = getattr(loader, "dataset", loader)
        if id(dataset) not in self.batches:
            self.datasets.append(dataset)  # referenced, so that its id stays its own
            self.batches[id(dataset)] = copied(batch)
        return copied(self.batches[id(dataset)])

    # -- outermost modules -----------------------------------------------------------------

    def call(self, module, args, kwargs):
        """Fingerprints one training call; in replay returns the recorded arguments instead."""
        place = len(self.calls)
        answer = None
        if self.mode == "record" and not self._is_fed(args, kwargs):
            self.recorded_calls[place] = (module, copied((args, kwargs)))
        elif self.mode == "replay":
            recorded = self.recorded_calls.get(place)
            if recorded is not None and recorded[0] is module and not self._is_fed(args, kwargs):
                answer = args, kwargs = copied(recorded[1])
        prints = [fingerprint(t) for t in tensors_in((args, kwargs)) if not self._is_derived(t)]
        self.calls.append(prints)
        return answer

    def called(self, output):
        self.outputs.extend(storage(t) for t in tensors_in(output))

    def _is_derived(self, tensor):
        """Comes out of a module of this same step: moves because the parameters move."""
        return tensor.requires_grad or storage(tensor) in self.outputs

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
        seen = {"mode": self.mode, "inputs": self.calls, "targets": self.losses}
        self.history.append([self.calls, self.losses])
        self._new_step()
        if self.mode == "content" and step >= CONTENT_STEPS:
            self.mode, self.random_state = "random", self._save_random()
        elif self.mode == "random" and step == CONTENT_STEPS + RANDOM_STEPS and not self._holds():
            self.mode = "record"
        elif self.mode == "record":
            self.mode = "replay"
        if self.random_state is not None:
            self._restore_random()
        return seen

    def _holds(self):
        """The last steps met equal inputs. A prefetched batch can make the first of them differ.

        As sets: an odd number of batches per epoch makes one step shorter than the others.
        """
        met = [{tuple(call) for call in calls[:1]} for calls, _ in self.history[-2:]]
        return bool(met[0]) and met[0] == met[1] and any(any(call) for call in met[0])

    def _save_random(self):
        torch, state = self.torch, {"torch": self.torch.get_rng_state(), "python": random.getstate()}
        if "numpy" in sys.modules:
            state["numpy"] = sys.modules["numpy"].random.get_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            state["cuda"] = torch.cuda.get_rng_state_all()
        return state

    def _restore_random(self):
        state = self.random_state
        self.torch.set_rng_state(state["torch"])
        random.setstate(state["python"])
        if "numpy" in state:
            sys.modules["numpy"].random.set_state(state["numpy"])
        if "cuda" in state:
            self.torch.cuda.set_rng_state_all(state["cuda"])


def storage(tensor):
    try:
        return tensor.untyped_storage().data_ptr()
    except (AttributeError, NotImplementedError, RuntimeError):
        return tensor.data_ptr() if tensor.device.type != "meta" else 0


def copied(value):
    try:
        return copy.deepcopy(value)
    except (RuntimeError, TypeError):  # a non-leaf tensor, a lock or a generator inside
        return value
