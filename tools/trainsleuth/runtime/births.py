"""Patches that tell when a data loader or a learning-rate schedule is built. Wrappers as in `patches`."""

import functools
import inspect


def data_loader_birth(torch, bus):
    from torch.utils.data import DataLoader

    _tell_birth(DataLoader, "loader_born", bus, set())


def schedule_birth(torch, bus):
    building = set()
    for owner in schedule_classes(torch):
        if "__init__" in vars(owner):
            _tell_birth(owner, "schedule_born", bus, building)


def schedule_classes(torch):
    """The schedules that torch has, their base class among them."""
    module = torch.optim.lr_scheduler
    base = getattr(module, "LRScheduler", None) or module._LRScheduler
    for owner in list(vars(module).values()):
        # ReduceLROnPlateau was no subclass of the base before torch 2.2
        if inspect.isclass(owner) and (issubclass(owner, base) or "Plateau" in owner.__name__):
            yield owner


def _tell_birth(owner, moment, bus, building):
    """Tells `moment` when the outermost known constructor of an object is through."""
    original = owner.__init__

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        is_outermost = id(self) not in building
        building.add(id(self))
        try:
            original(self, *args, **kwargs)
        finally:
            if is_outermost:
                building.discard(id(self))
        if is_outermost:
            bus.tell(moment, self)

    owner.__init__ = __init__
