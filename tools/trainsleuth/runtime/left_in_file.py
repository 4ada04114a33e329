"""Listener: files of weights that fit a model and never reach it.

torch.load gives a table that has a value for each parameter of a module, by name and shape; when the module goes through its first
training call, no load_state_dict() has met that table, and none of the module's matrices begins as the file's. One event "left_in_file".
"""

from . import registered
from .loading import beginning

MOST = 8  # tables
LEAST = 2  # parameters
DEEP = 3  # tables in tables
WRAPPERS = ("module.", "_orig_mod.")


class Table:
    def __init__(self, site, values):
        self.site, self.shapes = site, {name: tuple(value.shape) for name, value in values.items()}
        self.begun = {name: beginning(value) for name, value in values.items()}
        self.types = {name: value.dtype for name, value in values.items()}
        self.taken = False


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.tables, self.seen = [], set()

    def loaded(self, what):
        site = self.bus.sites.here()[0]
        if site is not None and len(self.tables) < MOST:
            self.tables += [Table(site, values) for values in self._tables(what, DEEP)]

    def _tables(self, what, deep):
        if not isinstance(what, dict):
            return
        values = {
            plain(name): value
            for name, value in what.items()
            if isinstance(name, str) and isinstance(value, self.torch.Tensor)
        }
        if len(values) >= LEAST:
            yield values
        for part in what.values() if deep else ():
            yield from self._tables(part, deep - 1)

    def weights_loaded(self, module, state, result, own):
        """Whatever of it was taken: of that another rule speaks."""
        names = {plain(name) for name in (*state, *(name for name, _ in registered.named_parameters(module)))}
        for table in self.tables:
            table.taken = table.taken or not names.isdisjoint(table.shapes)

    def forward_before(self, module, args, kwargs):
        if id(module) in self.seen or not (module.training and self.torch.is_grad_enabled()):
            return
        self.seen.add(id(module))  # what trained before a file was read may be compared with it
        if not self.tables:
            return
        held = {plain(name): value for name, value in registered.named_parameters(module)}
        table = next((one for one in self.tables if self._is_left(one, held)), None)
        if table is not None:
            table.taken = True  # told once
            user, library = self.bus.sites.here()
            self.events(
                "left_in_file", read=table.site, cls=type(module).__name__, parameters=len(held), site=user, lib=library
            )

    @staticmethod
    def _is_left(table, held):
        if (
            table.taken
            or len(held) < LEAST
            or any(table.shapes.get(name) != tuple(value.shape) for name, value in held.items())
        ):
            return False
        begun = {name: beginning(value.detach().to(table.types[name])) for name, value in held.items()}
        matrices = [name for name, first in begun.items() if first is not None]
        return bool(matrices) and not any(table.begun[name] == begun[name] for name in matrices)


def plain(name):
    """Without what wrappers of a whole model put before it."""
    for prefix in WRAPPERS:
        name = name.removeprefix(prefix)
    return name
