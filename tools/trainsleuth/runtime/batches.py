"""Listener: the examples as they enter the model, and as they leave the loader.

Every row gets a code (rows.py), so that duplicates, standing batches and an overlap of training and
evaluation are counted exactly over everything that was seen. Numbers stay on their device until told.
"""

import time
from collections import Counter

from . import artifacts, stored
from .calls import Call, named_tensors
from .paired_inputs import Equal
from .phases import inner
from .rows import Coder, is_batch, main_input, with_others
from .spans import Spans
from .targets import CLASSIFIERS, Targets
from .tensors import describe, tensors_in

MOST_TOLD = 2  # batches of one kind that are described value by value
TELL_AT = frozenset({3, 10, 30, 100, 300, 1000})
MOST_PAIRS = 4  # of loaders whose data sets are compared
MOST_CODES = 400_000  # rows remembered for one way into the model
MOST_GATHERED = 64 * 2**20  # bytes of them
SINGLE = 8  # examples of batches of one that are looked at together
MOST_KEPT = 300  # batches of one way whose rows are told apart from each other
SHARE = 0.04  # of the time since the first batch; above it only every tenth batch is read


class Stream:
    """Rows that took one way: `seen` maps codes to how often they came, `poor` those of rows that hold little.

    `sets` are whole batches, `kept` the codes of the first of them, `varied` the fewest different rows that one had;
    `spoilt` counts rows that hold NaN or inf, `again` those of `given` that came before in another batch of their pass, or twice in theirs.
    """

    def __init__(self):
        self.seen, self.poor, self.sets, self.kept, self.waiting = {}, {}, set(), [], []
        self.varied = None
        self.calls = self.read = self.rows = self.standing = self.alike = self.spoilt = 0
        self.last, self.batch, self.met = None, (None, None), set()
        self.given = self.again = 0

    def add(self, codes, telling, sound, batch=(None, None)):
        """`batch` is (the pass of the loader, number of its batch)."""
        self.read += 1
        self.waiting.append((codes, telling, sound, batch))
        if len(self.waiting) >= 64:
            self.settle()

    def settle(self):
        """Brings the waiting codes from their device and counts them."""
        for codes, telling, sound, batch in self.waiting:
            whole = codes.tolist()
            self._count_again(whole, batch)
            self.spoilt += sound.tolist().count(False)
            self.rows += len(whole)
            self.alike += len(set(whole)) == 1
            kinds = len(set(whole))
            self.varied = kinds if self.varied is None else min(self.varied, kinds)
            self.standing += sorted(whole) == self.last
            self.last = sorted(whole)
            self.sets.add(hash(tuple(self.last)))
            if len(self.kept) < MOST_KEPT:
                self.kept.append(self.last)
            for code, is_telling in zip(whole, telling.tolist()):
                met = self.seen if is_telling else self.poor
                if code in met or len(met) < MOST_CODES:
                    met[code] = met.get(code, 0) + 1
        self.waiting = []

    def _count_again(self, codes, batch):
        """The first call for a batch alone: a second one may get the same rows."""
        if batch[0] != self.batch[0]:
            self.met = set()
        elif batch == self.batch:
            return
        self.batch, fresh = batch, set(codes) - self.met
        self.given += len(codes)
        self.again += len(codes) - len(fresh)
        self.met.update(fresh)

    def facts(self):
        self.settle()
        telling = sum(self.seen.values())
        return {
            "calls": self.calls, "read": self.read, "rows": self.rows, "telling": telling, "distinct": len(self.seen),
            "standing": self.standing, "alike": self.alike, "sets": len(self.sets), "varied": self.varied or 0,
            "poor": sum(self.poor.values()), "poor_distinct": len(self.poor), "spoilt": self.spoilt,
            "given": self.given, "again": self.again,
        }  # fmt: skip


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.coder = Coder(bus.torch)
        self.streams, self.described = {}, {}
        self.loaders = {}
        self.loader = None  # number of the loader whose batch came last
        self.passes = {}  # number of a loader -> [batches, backwards at its start, number] of its pass
        self.passed = self.backwards = 0  # passes that were begun, backward calls
        self.single = {}  # way into the model -> examples of batches of one, until they are enough to be looked at
        self.kept = {}  # loader -> (its last batch's main tensor, codes of it then)
        self.labels, self.targets = {}, Targets()
        self.spans = {}  # number of a loader -> Spans
        self.equal = {}  # number of the root -> (class, place of its first call, Equal)
        self.started, self.spent = time.perf_counter(), 0.0

    # -- loaders ---------------------------------------------------------------------------

    def loader_started(self, loader):
        """A pass begins: what the last one gave is told, and rows may come again."""
        number = self._loader(loader)
        before = self.streams.pop(("loader", number), None)
        if before is not None and before.calls:
            self.events("loader_pass", loader=number, complete=True, **before.facts())
        self.kept.pop(number, None)
        self.passed += 1
        self.passes[number] = [0, self.backwards, self.passed]

    def batch(self, loader, batch):
        self.loader = number = self._loader(loader)
        self.passes.setdefault(number, [0, self.backwards, self.passed])[0] += 1
        self.targets.take(batch)
        parts = list(named_tensors(batch, ""))
        self._timed(self.spans.setdefault(number, Spans()).add, parts)
        self._timed(self._loader_batch, number, main_input(parts), parts)

    def _loader(self, loader):
        number = self.bus.number("loader", loader)
        self.loaders[number] = loader
        return number

    def _loader_batch(self, number, found, parts):
        stream = self._stream("loader", number)
        if found is None or not self._reads(stream):
            return
        stream.add(*self.coder.codes(with_others(self.torch, found[1], parts)))
        if stream.read <= 20:
            self._compare_kept(number, found[1], self.coder.codes(found[1])[0])

    def _compare_kept(self, number, tensor, codes):
        """The batch before, still held: has this one been written over it?"""
        if number in self.kept:
            kept, codes_then = self.kept[number]
            codes_now = self.coder.codes(kept)[0]
            is_new = codes_now.shape == codes.shape and self.torch.equal(codes_now, codes)
            if is_new and kept.data_ptr() == tensor.data_ptr() and not self.torch.equal(codes_now, codes_then):
                self.events("overwritten", loader=number, n=self.bus.steps)
        self.kept[number] = (tensor, codes)

    # -- the model -------------------------------------------------------------------------

    def forward_before(self, module, args, kwargs):
        self.targets.entered.update(t.numel() for t in tensors_in((args, kwargs)))
        module = inner(module)
        if self._is_training(module) is not None:
            self._timed(self._entered, module, args, kwargs)

    def backward_before(self, tensors, gradients):
        self.backwards += 1

    def _is_training(self, module):
        """True and False for calls that are clearly one or the other: without gradients, or in evaluation mode in a pass
        that nothing has been learnt from.
        """
        if not self.torch.is_grad_enabled():
            return False
        batches, backwards, _ = self._pass()
        if module.training or (batches > 1 and 0 < backwards == self.backwards):
            return module.training
        return None

    def _pass(self):
        return self.passes.get(self.loader, (0, 0, None))

    def _entered(self, module, args, kwargs):
        role = "train" if self._is_training(module) else "eval"
        root = self.bus.number("root", module)
        stream = self._stream(role, root, self.loader)
        if not self._reads(stream):
            return
        site = self.bus.sites.here()
        call = Call(self.torch, "input", module, args, kwargs, site)
        named = list(call.tensors())
        if role == "eval":
            named = self._gathered(root, named)
        else:
            self.equal.setdefault(root, (type(module).__name__, site, Equal(self.torch)))[2].add(named)
        plain = [(name, t) for name, t in named if t.grad_fn is None]
        found = main_input(plain, args)
        if found is None:
            return
        batches, _, number = self._pass()
        rows = with_others(self.torch, self._examples_first(found[1]), plain)
        stream.add(*self.coder.codes(rows), batch=(number, batches))
        if self.described.setdefault((role, root, self.loader), 0) < MOST_TOLD:
            self.described[role, root, self.loader] += 1
            number = self.described[role, root, self.loader]
            shown = artifacts.show(self.bus, found[1], "%s-%d" % (role, root)) if number == 1 else []
            self.events(
                "entered", n=self.bus.steps, role=role, root=root, cls=type(module).__name__, loader=self.loader,
                site=site[0], lib=site[1], main=found[0], shown=shown, in_order=is_in_order(self.loaders.get(self.loader)),
                tensors=[dict(facts_of(t), name=name) for name, t in named[:8]],
            )  # fmt: skip

    def _examples_first(self, tensor):
        """With the axis in front that is as long as the loader's batch, where this is the second: time often comes first."""
        sizes = {len(one) for _, one in named_tensors(self.targets.given, "") if one.dim()}
        is_second = tensor.dim() > 1 and tensor.shape[0] not in sizes and sizes == {tensor.shape[1]} != {1}
        return tensor.transpose(0, 1) if is_second else tensor

    def _gathered(self, root, named):
        """Examples that a loader gives one by one, and of one shape, as batches of several; nothing until there are enough."""
        given = {tuple(tensor.shape) for _, tensor in named_tensors(self.targets.given, "")}
        shapes = [tuple(tensor.shape) for _, tensor in named]
        size = SINGLE * sum(tensor.numel() * tensor.element_size() for _, tensor in named)
        if (
            size > MOST_GATHERED
            or not shapes
            or not all(shape[:1] == (1,) and len(shape) > 1 and shape in given for shape in shapes)
        ):
            return named
        key = (root, self.loader)
        known, waiting = self.single.get(key, (None, []))
        waiting = [*(waiting if known == shapes else []), [tensor.detach().clone() for _, tensor in named]]
        self.single[key] = (shapes, waiting)
        if len(waiting) < SINGLE:
            return []
        del self.single[key]
        return [(name, self.torch.cat(one)) for (name, _), one in zip(named, zip(*waiting))]

    def loss_after(self, name, arguments, output):
        target = list(arguments.values())[1]
        if not getattr(output, "requires_grad", False) or not hasattr(target, "dtype"):
            return
        if name not in CLASSIFIERS or target.dtype.is_floating_point or target.dim() != 1:
            self._timed(self.targets.add, (name, *self.bus.sites.here()), target)
            return
        scores, ignored = arguments["input"], arguments.get("ignore_index", -100)
        place = (name, *self.bus.sites.here(), int(scores.shape[1 if scores.dim() > 1 else 0]))
        known = self.labels.setdefault(place, [0, [], 0, Counter()])
        known[0] += 1
        if len(known[1]) < 200:
            kept = target.detach()
            known[1].append(kept[kept != ignored])
            known[2] += is_single(known[1][-1]) and self.targets.gave(target)
            known[3][ignored] += target.numel() - known[1][-1].numel()

    # -- telling ---------------------------------------------------------------------------

    def boundary(self, step):
        if step in TELL_AT:
            self._tell()

    def close(self, reason):
        self._tell()
        self._tell_stored()

    def _tell(self):
        ways = [(key, stream, stream.facts()) for key, stream in self.streams.items()]
        for key, _, facts in ways:
            if key[0] == "loader":
                self.events("loader_pass", loader=key[1], complete=False, n=self.bus.steps, **facts)
            else:
                self.events("rows", n=self.bus.steps, role=key[0], root=key[1], loader=key[2], **facts)
        trained = [(key, stream) for key, stream, _ in ways if key[0] == "train"]
        for key, stream, _ in ways:
            for other, met in trained:
                if key[0] == "eval" and key[1] == other[1] and (stream.seen or stream.poor):
                    self._tell_overlap(key, other, stream, met)
        for (fn, user, library, classes), (calls, targets, given, ignored) in self.labels.items():
            self.events("label_counts", fn=fn, site=user, lib=library, calls=calls, classes=classes, given=given,
                        ignored=[[index, count] for index, count in ignored.items() if count and index >= 0],
                        **label_counts(self.torch, [t for t in targets if t.numel()]))  # fmt: skip

        for number, spans in self.spans.items():
            self.events("loader_parts", loader=number, parts=spans.parts)
        for root, (cls, (user, library), equal) in self.equal.items():
            if equal.pairs:
                self.events(
                    "equal_inputs",
                    root=root,
                    cls=cls,
                    site=user,
                    lib=library,
                    calls=equal.calls,
                    pairs=sorted(equal.pairs),
                )
        for (fn, user, library), facts in self.targets.facts():
            self.events("targets", fn=fn, site=user, lib=library, n=self.bus.steps, **facts)

    def _tell_overlap(self, key, other, stream, met):
        shared = sum(1 for code in stream.seen if code in met.seen)
        poor = sum(1 for code in stream.poor if code in met.poor)
        known = [
            sum(code in met.seen or code in met.poor for code in batch) / len(batch) for batch in stream.kept if batch
        ]
        self.events(
            "overlap", n=self.bus.steps, root=key[1], eval_loader=key[2], train_loader=other[2], shared=shared,
            distinct=len(stream.seen), poor_shared=poor, poor_distinct=len(stream.poor), same_data=self._same_data(key[2], other[2]),
            trained=len(met.seen), trained_poor=len(met.poor), batches=len(known), whole=known.count(1), mixed=sum(0 < share < 1 for share in known),
        )  # fmt: skip

    def _tell_stored(self):
        """Examples that the data sets of evaluation and training both keep, whatever the batches look like."""
        roles = {role: {key[2] for key in self.streams if key[0] == role} - {None} for role in ("train", "eval")}
        pairs = [(one, other) for one in roles["eval"] - roles["train"] for other in roles["train"] - roles["eval"]]
        for one, other in pairs[:MOST_PAIRS]:
            loaders = [self.loaders[number] for number in (one, other)]
            first, second = (getattr(loader, "dataset", None) for loader in loaders)
            if first is None or second is None or (first is second and None in map(stored.drawn, loaders)):
                continue
            for facts in stored.overlap(self.torch, self.coder, *loaders):
                self.events("stored_overlap", eval_loader=one, train_loader=other, **facts)

    def _same_data(self, one, other):
        """Do two loaders read the very same data set (True), or is that not known (None)?"""
        if one is None or other is None:
            return None
        first, second = (getattr(self.loaders[number], "dataset", self.loaders[number]) for number in (one, other))
        return first is second

    # -- cost ------------------------------------------------------------------------------

    def _stream(self, *key):
        stream = self.streams.setdefault(key, Stream())
        stream.calls += 1
        return stream

    def _reads(self, stream):
        is_cheap = self.spent < SHARE * (time.perf_counter() - self.started)
        return stream.calls <= 30 or is_cheap or stream.calls % 10 == 0

    def _timed(self, work, *given):
        began = time.perf_counter()
        work(*given)
        self.spent += time.perf_counter() - began


def is_in_order(loader):
    """It gives the examples as they stand in the data set."""
    return type(getattr(loader, "sampler", None)).__name__ == "SequentialSampler"


def facts_of(tensor):
    """What `describe` tells, and of a table the columns that are constant in this batch."""
    facts = describe(tensor)
    if is_batch(tensor) and tensor.dim() > 1 and tensor.is_floating_point() and tensor[0].numel() > 1:
        facts["row_std"] = float(tensor.detach().float().flatten(1).std(1).mean())
    if is_batch(tensor) and tensor.dim() == 2 and not tensor.dtype.is_complex:
        facts["constant_columns"] = int((tensor == tensor[:1]).all(0).sum())
    if not tensor.dtype.is_floating_point and tensor.dim() == 2 and tensor.numel():
        value, _ = tensor[:, -1].mode()
        facts["last_column_mode"] = int(value)
        facts["share_of_it"] = float((tensor == value).float().mean())
    return facts


def is_single(labels):
    return labels.numel() >= 4 and bool((labels == labels[0]).all())


def label_counts(torch, targets):
    """Counts of the labels over all batches, and in how many batches of four or more there was only one."""
    if not targets:
        return {"batches": 0, "batch": 0, "single": 0, "single_labels": [], "top": [], "total": 0, "distinct": 0}
    single = [int(t[0]) for t in targets if is_single(t)]
    values, counts = torch.cat([t.cpu() for t in targets]).unique(return_counts=True)
    top = sorted(zip(counts.tolist(), values.tolist()), reverse=True)[:10]
    return {
        "batches": len(targets), "batch": int(targets[0].numel()), "single": len(single),
        "single_labels": sorted(set(single))[:10], "top": [[value, count] for count, value in top], "total": int(counts.sum()),
        "distinct": len(values),
    }  # fmt: skip
