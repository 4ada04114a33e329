"""Is a copy of the weights used: called, or a part of it, saved, or put into the trained module without gradients?"""

from . import registered
from .phases import values_token
from .saved_start import mappings

MOST_SAVES, MOST_LOOKS = 20, 200


class Use:
    def __init__(self, copy):
        self.copy, self.is_used = copy, False
        self.steps, self.latest = 0, None  # at which it, or a part of it, was called by itself
        self.looks, self.token = 0, None  # at the trained module; what told then that its values are the same


class Uses:
    def __init__(self, bus):
        self.bus, self.torch = bus, bus.torch
        self.known = {}  # by the id of the copy
        self.parts, self.unused = {}, {}  # by the ids of its parts; the second of copies that were not called yet
        self.saves = 0

    def watch(self, copy):
        use = self.known[id(copy)] = Use(copy)
        if copy.is_module:
            self.parts.update((id(part), use) for part in registered.modules(copy.thing))
            self.unused.update(self.parts)

    def forget(self, copy):
        use = self.known.pop(id(copy))
        self.parts = {key: one for key, one in self.parts.items() if one is not use}
        self.unused = {key: one for key, one in self.unused.items() if one is not use}

    def of(self, copy):
        return self.known[id(copy)]

    def called(self, module):
        """By itself, outside of any other."""
        use = self.parts.get(id(module)) if self.parts else None
        if use is not None:
            use.is_used = True
            use.steps += use.latest != self.bus.steps
            use.latest = self.bus.steps
        elif self.known and not self.torch.is_grad_enabled():
            self._look_into(module)

    def called_inside(self, module):
        if id(module) in self.unused:
            self.unused[id(module)].is_used = True
            self.unused = {key: use for key, use in self.unused.items() if not use.is_used}

    def _look_into(self, module):
        """Does a module hold the values of a copy, or its tensors, while it is called?"""
        for use in self.known.values():
            trained = use.copy.its
            if (
                use.is_used
                or use.looks >= MOST_LOOKS
                or all(part is not trained.thing for part in registered.modules(module))
            ):
                continue
            before, use.token = use.token, values_token(trained.tensors()[0])
            if use.token is None or use.token != before:
                use.looks += 1
                use.is_used = self.torch.equal(use.copy.mine.values(), trained.values())

    def saved(self, thing):
        self.saves += 1
        unused = [use for use in self.known.values() if not use.is_used]
        if not unused or self.saves > MOST_SAVES:
            return
        tables = [table for _, table in mappings(self.torch, thing)]
        for use in unused:
            use.is_used = any(self._holds(table, use.copy.mine.tensors()[0]) for table in tables)

    def _holds(self, table, tensor):
        return any(
            value is tensor
            or (
                getattr(value, "shape", None) == tensor.shape
                and value.dtype == tensor.dtype
                and self._are_equal(value, tensor)
            )
            for value in table.values()
        )

    def _are_equal(self, one, other):
        return self.torch.equal(one.detach().cpu(), other.detach().cpu())
