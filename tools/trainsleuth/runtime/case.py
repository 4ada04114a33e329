"""One value that was not finite: what was noticed, the search for its origin, and the event that tells it."""

from . import graph, ranks, saved
from .content import counts, first_index
from .freeze import storage
from .reentry import ATTEMPTS, Reentry
from .replay import Replay

MOST_NAMES = 10
ELSEWHERE = "another rank found it; what this rank computed itself was finite"
LATE = "it was read one step late (sync is off), when the parameters had moved"


class Case:
    def __init__(self, bus, record, optimizers, noticed, tensors=()):
        self.bus, self.record, self.optimizers = bus, record, optimizers
        self.stops = bus.experiment.get("stop_at_nonfinite", False)
        self.is_told, self.reentry, self.failures = False, None, []
        self.is_shared = self.stops and ranks.count() > 1  # then all ranks end together, when a step ends
        self.votes = 0
        self.is_searched = False
        self.fields = dict(noticed, n=bus.steps - bool(noticed.get("late")))
        self.fields["evidence"] = saved.makers(tensors)
        self.loss_site = (None, None)
        self.fields["bad"] = self._bad_names()

    def _sources(self):
        return list(self.record.sources(self.optimizers))

    def _bad_names(self):
        """Parameters, buffers, inputs and batches that hold such values already, each by its best name."""
        named = {storage(tensor): (fields, tensor) for fields, tensor in self._sources()}
        computed = {key for call in self.record.calls for key in call.output_storages}
        given = [(f, t) for key, (f, t) in named.items() if t.grad_fn is None and key not in computed]
        bad = [(fields, tensor) for fields, tensor in given if counts(tensor)]
        return [dict(fields, at=first_index(tensor), **counts(tensor)) for fields, tensor in bad][:MOST_NAMES]

    # -- searching -------------------------------------------------------------------------

    def search(self):
        """In the process, at once: replays the recorded calls."""
        self.is_searched = True
        if self.fields.get("late"):
            self.give_up(LATE)
            return
        replay = Replay(self.bus.torch, self.bus.sites, self._sources())
        origin, call = replay.search(self.record.suspects(), backward=self.fields["noticed"] == "gradient")
        self.failures += replay.failures
        if origin is not None:
            if self.fields["micro"] is None and call.backwards:
                self.fields["micro"] = min(call.backwards)
            self._tell(origin, "replay")

    def agree(self):
        """A step of the program ended for all ranks: ends the run when any of them has found the origin."""
        self.votes += 1
        if ranks.any_found(self.bus.config["run_folder"], self.votes, self.is_told):
            if not self.is_told:
                self.give_up(ELSEWHERE)
            self.bus.finish("nonfinite")

    def turn(self):
        """A step of the program ended: the next one is an attempt to see it again."""
        if self.reentry is None:
            self.reentry = Reentry(self.bus, self.record)
        if not self.reentry.begin(self._sources()):
            self.give_up("it did not happen again in %d further steps with the parameters held still" % ATTEMPTS)

    def batch(self, loader):
        return None if self.reentry is None else self.reentry.batch(loader)

    def call(self, module, args, kwargs):
        return None if self.reentry is None else self.reentry.call(module, args, kwargs)

    def loss(self, tensors):
        """A backward starts from these, in a step that is watched."""
        if self.reentry is None:
            return
        self.look_at(tensors)
        if not self.is_told and self.loss_site == (None, None):
            self.loss_site = self.bus.sites.of_traceback(graph.lines_of(tensors[0].grad_fn))
            self.fields["evidence"] = list(saved.locate(self.fields["evidence"], tensors, self.bus.sites))

    def look_at(self, tensors):
        """A loss, or the gradients, of a step that is watched."""
        origin = None if self.reentry is None else self.reentry.origin(tensors)
        if origin is not None:
            self._tell(origin, "re-entry")

    # -- telling ---------------------------------------------------------------------------

    def _tell(self, origin, found_by):
        self._end(found_by=found_by, reproduced=True, chain=origin.chain(), why=None)

    def give_up(self, why):
        self._end(found_by=None, reproduced=False, chain=[], why=why)

    def _end(self, **outcome):
        self.is_told = True
        attempts = 0
        if self.reentry is not None:
            attempts = self.reentry.attempt
            self.failures += [self.reentry.finder.failure] if self.reentry.finder.failure else []
            self.reentry.end()
        self.fields["loss_site"], self.fields["loss_lib"] = self.loss_site
        self.bus.events("nonfinite", attempts=attempts, failures=self.failures[:5], **dict(self.fields, **outcome))
        if self.stops and not self.is_shared and not self.bus.closed:
            self.bus.finish("nonfinite")
