"""Listener: for every parameter, whether an optimizer holds it, whether gradients reach it, whether it moves.

Change is measured on real values between steps: a copy when all parameters together are small,
else a regular sample of each. Tables are written at steps 1, 3, 10, 30, 100 ... and at the end.
"""

from contextlib import suppress

from . import registered
from .called_at import CalledAt
from .gradients import members
from .saved_start import SavedStart
from .tensors import local

MOST_COPIED = 256 * 2**20  # bytes
SAMPLE = 2048  # elements of each parameter when copying all would be too much
MOST_ROWS = 4000
LEAST_TWIN = 64  # elements of a matrix that is compared with others
MOST_PHASES = 6  # optimizers whose birth begins a new phase
LOOK_AT = (0, 1, 2, 3, 5, 10, 20, 50)  # steps whose gradients are read, then every 100th
TELL_AT = frozenset({1, 3, 10, 30, 100, 300, 1000, 3000})


class Row:
    __slots__ = (
        "before", "biggest", "gradients", "last", "moved", "name", "nonzero", "owner", "ratio", "root", "seen", "tensor", "zeros",
    )  # fmt: skip

    def __init__(self, tensor, root, name, owner):
        self.tensor, self.root, self.name, self.owner = tensor, root, name, owner
        self.before = self.last = None
        self.seen = self.gradients = self.zeros = 0
        self.ratio = None  # largest norm(update) / norm(values) seen over one step
        self.biggest = 0.0
        # in half precision: largest shares of elements with a gradient, and of those that one step changed
        self.nonzero = self.moved = None


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.rows, self.optimizers, self.roots, self.called = {}, [], [], set()
        self.stepped = set()  # ids of optimizers
        self.has_begun, self.kept_at = False, 0  # step at which the last values were taken
        self.phase, self.scanned = 0, None  # step at which the last optimizer was built
        self.sampled = self.twins = None
        self.called_at, self.saved_start = CalledAt(bus), SavedStart(bus, self._values)
        self.with_grad = False  # in the present call of an outermost module
        self.on = set()  # modules that are called with gradients in such a call
        self.off = {}  # and without them: the place of the call

    # -- who is there ----------------------------------------------------------------------

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)
        if len(self.optimizers) <= MOST_PHASES:
            self.phase = self.bus.steps  # look closely again

    def forward_before(self, module, args, kwargs):
        self.with_grad = self.torch.is_grad_enabled()
        number = next((n for n, known in enumerate(self.roots) if known is module), None)
        is_new = number is None
        if is_new:
            number = len(self.roots)
            self.roots.append(module)
        if len(self.roots) > 1:
            self.called_at.add(number, module)
        if not is_new and (self.bus.steps != self.phase or self.scanned == (number, self.phase)):
            return
        self.scanned = (number, self.phase)  # a head may be replaced between two phases
        owners = {
            id(p): type(one).__name__
            for one in registered.modules(module)
            for p in registered.parameters(one, recurse=False)
        }
        for name, parameter in registered.named_parameters(module):
            row = self.rows.get(id(parameter))
            if row is None:
                self._add(parameter, number, name, owners[id(parameter)])
            elif row.name is None:
                row.root, row.name = number, name

    def module_called(self, module):
        if self.bus.steps - self.phase < 3:
            self.called.add(id(module))
            if self.with_grad and self.torch.is_grad_enabled():
                self.on.add(id(module))
            elif self.with_grad and id(module) not in self.off:
                self.off[id(module)] = self.bus.sites.here()[0]

    def _add(self, parameter, root, name, owner=None):
        is_elsewhere = parameter.numel() and not local(parameter).numel()  # other ranks hold all of it
        if len(self.rows) < MOST_ROWS and not is_elsewhere:
            self.rows[id(parameter)] = row = Row(parameter, root, name, owner)
            row.before = row.last = self._values(parameter)

    def _values(self, parameter):
        """A copy to compare with later: everything, or every k-th element."""
        if self.sampled is None:
            size = sum(p.numel() * p.element_size() for o in self.optimizers for p in members(o))
            self.sampled = size > MOST_COPIED
        flat = local(parameter.detach()).reshape(-1)
        if self.sampled and flat.numel() > SAMPLE:
            flat = flat[:: flat.numel() // SAMPLE]
        return flat.clone()

    # -- what happens ----------------------------------------------------------------------

    def step_before(self, optimizer):
        self.stepped.add(id(optimizer))
        for parameter in members(optimizer):
            if id(parameter) not in self.rows:
                self._add(parameter, None, None)
        if not self.has_begun:
            self.has_begun = True
            self._keep_values(as_start=True)
        if self._looking():
            rows = [self.rows[id(p)] for p in members(optimizer) if id(p) in self.rows]
            self._read_gradients(rows)

    def backward_after(self, tensors):
        if not self.optimizers and self._looking():  # no step will come, and the next one may be cleared first
            self._read_gradients(list(self.rows.values()))

    def boundary(self, step):
        if self._looking(step - 1):
            mine = {id(p) for o in self.optimizers if id(o) in self.stepped for p in members(o)}
            if self.optimizers:
                self._read_gradients([row for key, row in self.rows.items() if key not in mine])
            self._read_changes()
        elif self._looking(step):
            self._keep_values()  # so that a change is that of one step
        if step in TELL_AT:
            self._tell(step)

    def saved(self, thing):
        with suppress(Exception):  # whatever a program saves, the rest is to be told
            self.saved_start.look(thing, list(self.rows.values()), self.roots)

    def close(self, reason):
        for found in self.saved_start.found.values():
            self.events("saved_start", **found)
        if self.bus.steps - self.kept_at <= 1:  # a change over many steps is none of one
            self._read_changes()
        self._tell(self.bus.steps)

    def _looking(self, step=None):
        step = (self.bus.steps if step is None else step) - self.phase
        return step in LOOK_AT or step % 100 == 0

    def _read_gradients(self, rows):
        held = [row for row in rows if row.tensor.grad is not None]
        for row in rows:
            row.seen += 1
        dense = [row for row in held if not row.tensor.grad.is_sparse]
        norms = self.torch._foreach_norm([local(row.tensor.grad) for row in dense]) if dense else []
        values = self.torch.stack([n.float().cpu() for n in norms]).tolist() if dense else []
        for row in held:
            row.gradients += 1
        for row, norm in zip(dense, values):
            row.zeros += norm == 0.0
            row.biggest = max(row.biggest, norm) if norm == norm else norm
            if row.tensor.dtype in (self.torch.float16, self.torch.bfloat16):
                row.nonzero = max(row.nonzero or 0.0, float((row.tensor.grad != 0).float().mean()))

    def _keep_values(self, as_start=False):
        """As the start too: a checkpoint may be loaded, or rank 0's weights be sent to all, after an optimizer was built."""
        self.kept_at = self.bus.steps
        for row in self.rows.values():
            row.last = self._values(row.tensor)
            if as_start:
                row.before = row.last

    def _read_changes(self):
        self.kept_at = self.bus.steps
        for row in self.rows.values():
            now = self._values(row.tensor)
            if now.shape != row.last.shape:
                continue
            moved = (now.float() - row.last.float()).norm()
            size = row.last.float().norm()
            ratio = float(moved / size) if float(size) > 0 else float(moved > 0)
            if ratio == ratio:
                row.ratio = ratio if row.ratio is None else max(row.ratio, ratio)
            if row.nonzero is not None and now.numel():
                row.moved = max(row.moved or 0.0, float((now != row.last).float().mean()))
            row.last = now

    # -- what is told ----------------------------------------------------------------------

    def _tell(self, step):
        owner = {id(p): number for number, o in enumerate(self.optimizers) for p in members(o)}
        called = {
            id(p)
            for root in self.roots
            for module in registered.modules(root)
            if module is root or id(module) in self.called
            for p in registered.parameters(module, recurse=False)
        }
        self.events(
            "parameters", n=step, sampled=bool(self.sampled), optimizers=len(self.optimizers),
            roots=[type(root).__name__ for root in self.roots], training=[root.training for root in self.roots],
            twins=self._twins(), copies=self._copies(), called_at=self.called_at.told(), without_grad=self._without_grad(),
            rows=[self._row(key, row, owner, called) for key, row in self.rows.items()],
        )  # fmt: skip

    def _without_grad(self):
        """[root, name, place of the call] of the parameters of modules that a call with gradients calls without them."""
        modules = {id(one): one for root in self.roots for one in registered.modules(root)}
        with_grad = {
            id(p) for key in self.on if key in modules for p in registered.parameters(modules[key], recurse=False)
        }
        return [
            [self.rows[id(p)].root, self.rows[id(p)].name, site]
            for key, site in self.off.items()
            if key in modules
            for p in registered.parameters(modules[key], recurse=False)
            if id(p) in self.rows and id(p) not in with_grad
        ]

    def _twins(self):
        """[name, class of its module, and both of the other] of two trainable matrices that began as equal copies."""
        if self.twins is not None and self.twins[0] == len(self.rows):
            return self.twins[1]
        by_start, found = {}, []
        for row in self._named_matrices():
            if not row.tensor.requires_grad:
                continue
            other = by_start.setdefault(start(row), row)
            if other is not row and other.owner != row.owner and self.torch.equal(other.before, row.before):
                found.append([other.name, other.owner, row.name, row.owner])
        self.twins = (len(self.rows), found)
        return found

    def _copies(self):
        """[root, name, and both of the other] of a matrix that never got a gradient and began as a copy of one that did."""
        trained, found = {}, []
        for row in self._named_matrices():
            if row.gradients:
                trained.setdefault(start(row), row)
        for row in self._named_matrices():
            other = None if row.gradients else trained.get(start(row))
            if other is not None and self.torch.equal(other.before, row.before):
                found.append([row.root, row.name, other.root, other.name])
        return found

    def _named_matrices(self):
        for row in self.rows.values():
            is_large = row.tensor.dim() > 1 and row.before.numel() >= LEAST_TWIN
            if row.name is not None and is_large and len(set(start(row)[1])) > 1:  # not all zero, or all one
                yield row

    def _row(self, key, row, owner, called):
        """[name, root, optimizer, elements, requires grad, called, times read, had a gradient,
        zero gradients, largest gradient norm, changed, largest update ratio, and in half precision
        the largest shares of elements with a gradient and of elements that a step changed; its norm now as a part of the first,
        and whether it is a frozen matrix of zeros]"""
        now = self._values(row.tensor)
        changed = not self.torch.equal(row.before, now)
        start = float(row.before.float().norm()) if changed else 0.0
        return [
            row.name, row.root, owner.get(key), row.tensor.numel(), bool(row.tensor.requires_grad), key in called,
            row.seen, row.gradients, row.zeros, row.biggest, changed, row.ratio, row.nonzero, row.moved,
            float(now.float().norm()) / start if start > 0 else None,
            not row.tensor.requires_grad and row.tensor.dim() > 1 and now.numel() > 0 and not bool(now.any()),
        ]  # fmt: skip


def start(row):
    """The shape, and a few of the first values."""
    values = row.before
    return tuple(row.tensor.shape), tuple(values[:: max(1, values.numel() // 8)].tolist())
