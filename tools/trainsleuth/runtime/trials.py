"""What becomes of a model's output when its input is changed on purpose. All comparisons are exact.

The random state is the same in every call but one, so noise that a model draws itself cancels out.
"""

import re
import time
from contextlib import ExitStack, suppress

from . import arrays, mates, randomness, token_order, unread_columns
from .calls import Call, in_autocast
from .dropping import DropoutWatch
from .freeze import storage
from .reads import takes_shape_alone
from .rows import BESIDE, is_batch
from .scores import Scores
from .sequences import Sequences
from .tensors import filled, is_dense, is_mapping, tensors_in

NO_ROWS = "no output has a row per example"
STEPS = 8  # between floats
MOST_ARGUMENTS = 4  # that are exchanged one by one
HELPERS = re.compile(
    r"label|target|truth|mask|length|len$|weight|(?<!input_)ids?$|idx|index|indices|^y$|^gt", re.IGNORECASE
)  # not examples


class OutOfTimeError(Exception):
    pass


class Again:
    """`main` is the tensor, among the arguments, whose rows are the examples."""

    def __init__(self, torch, sites, model, args, kwargs, main, autocast, until, takes_arrays=False):
        self.torch, self.sites, self.model = torch, sites, model
        self.args, self.kwargs, self.main, self.autocast = args, kwargs, main, autocast
        self.state, self.until = randomness.save(torch), until
        self.rows, self.takes_arrays = int(main.shape[0]), takes_arrays
        self.gives_numbers = False  # whole numbers with a row per example, as the order of its rows
        self.gives_only_a_loss = False  # one number, and no tensor beside it
        self.kept = []  # lengths that stay where they are, since packing asks for their order
        given = tensors_in((args, kwargs))
        self.orders = [t for t in given if t is not main and mates.is_an_order(t, self.rows)]  # of the rows: they stay
        self.scores = None  # what loss functions inside are given, where nothing else tells of single places

    # -- one call --------------------------------------------------------------------------

    def outputs(self, change=None, seed=None):
        """Floating tensors that come out, when `change` has been applied to the tensors that go in."""
        if time.monotonic() > self.until:
            raise OutOfTimeError("a look at the model took too long")
        given = (self.args, self.kwargs) if change is None else replaced((self.args, self.kwargs), change)
        randomness.restore(self.torch, self.state)
        if seed is not None:
            self.torch.manual_seed(seed)
        with ExitStack() as stack:
            stack.enter_context(self.torch.no_grad())
            if self.scores is not None:
                stack.enter_context(self.scores.heard())
            stack.enter_context(in_autocast(self.torch, self.autocast))
            given = arrays.as_arrays(given) if self.takes_arrays else given
            output = self.model(*given[0], **given[1])
        self.gives_numbers = any(
            t.dim() and t.shape[0] == self.rows and not t.is_floating_point() for t in tensors_in(output)
        )
        given_back = list(tensors_in(output))
        self.gives_only_a_loss = len(given_back) > 0 and all(t.numel() == 1 for t in given_back)
        found = [*given_back, *([] if self.scores is None else self.scores.taken())]
        return [t.detach().clone() for t in found if t.is_floating_point() and is_dense(t)]

    def of_rows(self, outputs):
        return [t for t in outputs if t.dim() >= 1 and t.shape[0] == self.rows]

    def rounding(self, results):
        """A few steps between the floats at the largest output: sums in another order differ by that."""
        floats = [t for t in results if t.numel() and t.is_floating_point()]
        sizes = (STEPS * self.torch.finfo(t.dtype).eps * float(t.float().abs().max()) for t in floats)
        return max(sizes, default=0.0)

    @staticmethod
    def distance(one, other):
        return distance(one, other)

    # -- all of them -----------------------------------------------------------------------

    def all(self, targets):
        try:
            return self._all(targets)
        except RuntimeError:
            self.kept = [] if self.kept else mates.lengths_of(self)
            if not self.kept:
                raise
            return self._all(targets)

    def _all(self, targets):
        watch = DropoutWatch(self.torch, self.sites)
        with watch as active:
            plain = self.outputs()
        facts = {"dropout_in_eval": active, "dropout_by_mode": watch.resting}
        facts["repeats"] = distance(plain, self.outputs()) == 0.0
        facts["noise"] = distance(plain, self.outputs(seed=12345))
        results = self.of_rows(plain)
        if not facts["repeats"]:
            return dict(facts, why="its output changes from call to call")
        if not results:
            self.scores = Scores(self.torch)
            return dict(facts, why=NO_ROWS, **self._causal(self.outputs(), targets))
        if not all(bool(t.isfinite().all()) for t in results):
            return dict(facts, why="its output holds NaN or infinity")
        facts["scale"] = max(float(t.float().abs().max()) for t in results if t.numel())
        facts["inputs_differ"] = bool((self.main != self.main[:1]).any())
        facts["input_effect"] = distance(results, self.of_rows(self.outputs(self._rolled(0))))
        if facts["input_effect"]:
            idle = self._idle(results)
            facts["idle"] = [name for name, _ in idle]
            facts["shapes"] = [name for name, one in idle if takes_shape_alone(self.torch, one, self.outputs)]
        facts["compares"] = any(t.dim() >= 2 and t.shape[1] == self.rows for t in results)
        facts.update(mates.facts(self, results, facts["noise"]))
        if facts["mates_effect"] and self.main.dim() >= 2 and self.main.shape[1] >= 3:
            facts["axis_1_effect"] = mates.moved_by_others(self, results, 1)
        along = 0 if facts.get("axis_1_effect") == 0.0 else 1 if facts["mates_effect"] == 0.0 else None
        facts.update(self._causal(plain, targets, along))
        if facts["input_effect"]:
            with suppress(OutOfTimeError):  # what is known already is told all the same
                facts["unordered"] = token_order.says_the_same(self, results, self._named())
                facts["unread_columns"] = unread_columns.unread(self, results)
        return facts

    def _named(self):
        """(name, tensor) of all that goes in."""
        return list(Call(self.torch, "input", self.model, self.args, self.kwargs, (None, None)).tensors())

    def _idle(self, results):
        """(name, tensor) of the examples, among several that go in, that can be exchanged without any effect."""
        orders = set(map(id, self.orders))
        rows = [(name, t) for name, t in self._named() if self._holds_examples(t) and id(t) not in orders]
        indices = [
            one for one in rows if not BESIDE.search(one[0])
        ]  # alone, of users and items; labels may move the loss alone
        named = [one for one in rows if not HELPERS.search(one[0])] or indices
        idle = []
        for name, one in named[:MOST_ARGUMENTS] if len(named) > 1 else ():
            changed = self.outputs(lambda tensor, one=one: tensor.roll(1, 0) if tensor is one else tensor)
            if distance(results, self.of_rows(changed)) == 0.0:
                idle.append((name, one))
        return idle

    def _holds_examples(self, tensor):
        """A row per example, rows that differ, and more than marks: two values or fewer are a mask. Lengths may be meant for others."""
        if not is_batch(tensor) or tensor.shape[0] != self.rows or tensor.dtype == self.torch.bool:
            return False
        if mates.is_lengths(tensor, self.rows, self.main.shape[1] if self.main.dim() > 1 else 0):
            return False
        return bool((tensor != tensor[:1]).any()) and len(tensor.reshape(-1)[:4096].unique()) > 2

    def stays(self, tensor):
        return any(tensor is one for one in (*self.kept, *self.orders))

    def _rolled(self, keep):
        """Every tensor with a row per example gets its rows from `keep` on moved by one."""

        def change(tensor):
            if tensor.dim() < 1 or tensor.shape[0] != self.rows or self.stays(tensor):
                return tensor
            return self.torch.cat([tensor[:keep], tensor[keep:].roll(1, 0)])

        return change

    def _causal(self, outputs, targets, time=None):
        """For a model of the next token: does what comes later change what is said earlier? `time`: the only axis along which
        its outputs depend on each other.
        """
        x = self.main
        if x.is_floating_point() or x.dim() != 2:
            return {"causal": None}
        found = [Sequences(x, along, self._besides_main(x.shape), targets) for along in (1, 0) if x.shape[along] >= 4]
        copied = [one for one in found if one.is_copy]
        asked = next((one for one in found if one.is_next and (one.is_told or not copied)), None)
        if asked is not None:
            return dict(self._moved_by_later(outputs, asked), copies=False, twice=asked.is_twice)
        facts = [dict(self._moved_by_later(outputs, one), along=one) for one in copied if time in (one.along, None)]
        told = [one for one in facts if one["causal"] is not None]
        seen = next((one for one in told if not one["causal"]), told[0] if told else {"causal": None})
        along = seen.pop("along", None)
        is_reversed = seen["causal"] is False and self._sees_later_alone(outputs, along)
        # which axis is time nobody says: along both an output must see nothing later
        return dict(seen, copies=True, reversed=is_reversed)

    def _sees_later_alone(self, outputs, asked):
        """Its own token and those behind it, perhaps the one before as well, where inputs are moved by one: a mask the wrong way round."""
        place = asked.most_varied()
        before = self._with_other_places(outputs, asked, slice(place))
        own = self._with_other_places(outputs, asked, slice(place, place + 1))
        moved = any(bool((a[:, place + 1 :] != b[:, place + 1 :]).any()) for a, b in before)
        return bool(own) and not moved and any(bool((a[:, place] != b[:, place]).any()) for a, b in own)

    def _with_other_places(self, outputs, asked, places):
        """(output, what becomes of it), by place, when these places are exchanged among the sequences."""
        x = self.main

        def change(tensor):
            is_sequence = (
                tensor.shape[:2] == x.shape and not tensor.is_floating_point() and storage(tensor) == storage(x)
            )
            return asked.with_others(tensor, places) if is_sequence else tensor

        return [
            (asked.by_place(a), asked.by_place(b))
            for a, b in zip(outputs, self.outputs(change))
            if a.shape == b.shape and asked.by_place(a) is not None
        ]

    def _moved_by_later(self, outputs, asked):
        x, half = self.main, self.main.shape[asked.along] // 2
        later = slice(half, None)
        pairs = self._with_other_places(outputs, asked, later)
        if not pairs or self.torch.equal(x, asked.with_others(x, later)):
            return {"causal": None}
        early = [(a[:, :half] != b[:, :half]).any(-1).any(0) for a, b in pairs]
        return {
            "causal": not any(bool(e.any()) for e in early), "positions": half,
            "own_moved": any(bool((a[:, half] != b[:, half]).any()) for a, b in pairs),
            "later_moved": any(bool((a[:, half:] != b[:, half:]).any()) for a, b in pairs),
            "moved_positions": max(int(e.sum()) for e in early),
            "future_effect": distance([a[:, :half] for a, _ in pairs], [b[:, :half] for _, b in pairs]),
        }  # fmt: skip

    def _besides_main(self, shape):
        """Arguments of this shape but the tokens themselves; the same tensor given once more counts, as labels."""
        found = [t for t in tensors_in((self.args, self.kwargs)) if t.shape == shape]
        first = next((n for n, t in enumerate(found) if t.data_ptr() == self.main.data_ptr()), None)
        return [t for n, t in enumerate(found) if n != first]


def replaced(value, change, depth=6):
    """The same nested containers with every dense tensor changed. Other objects are passed on as they are."""
    if hasattr(value, "grad_fn") and hasattr(value, "dtype"):
        return change(value) if is_dense(value) else value
    if depth and is_mapping(value):
        return filled(value, lambda item: replaced(item, change, depth - 1))
    if depth and type(value) in (list, tuple):
        return type(value)(replaced(item, change, depth - 1) for item in value)
    if depth and isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(replaced(item, change, depth - 1) for item in value))
    return value


def distance(one, other):
    """Largest absolute difference; NaN against NaN counts as equal, other shapes as infinitely far."""
    far = 0.0
    for a, b in zip(one, other):
        if a.shape != b.shape:
            return float("inf")
        if a.numel() and not a.equal(b):
            far = max(far, float((a.float() - b.float()).abs().nan_to_num(0.0).max()))
    return far
