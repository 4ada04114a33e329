"""Which line of the program computes with given tensors outside of modules? Looked for in one stretch after a step."""

from torch.utils._python_dispatch import TorchDispatchMode

from . import dispatch
from .freeze import storage
from .tensors import tensors_in

MOST_STRETCHES = 6


def is_view(func):
    """Does it compute nothing, as detach?"""
    return any(a.alias_info is not None and not a.alias_info.is_write for a in func._schema.arguments)


class Touching(TorchDispatchMode):
    """`touched(storage)` is told of each that an operation gets while `is_watching()`."""

    supports_higher_order_operators = True  # else torch refuses flex_attention, cond and others under it

    def __init__(self, touched, is_watching):
        super().__init__()
        self.touched, self.is_watching = touched, is_watching
        self.is_ours = lambda: False  # dispatch.stop makes it say yes where the mode cannot be taken off

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if self.is_watching() and not self.is_ours():
            try:
                for tensor in () if is_view(func) else tensors_in((args, kwargs or {})):
                    self.touched(storage(tensor))
            except Exception:  # the user's step must not fail because we cannot follow it
                self.is_ours = lambda: True
        return result


class TouchFinder:
    """The line becomes the `site` of each copy that is looked for."""

    def __init__(self, bus):
        self.bus, self.mode, self.stretches = bus, None, 0

    def look_for(self, copies):
        """From now on, to `stop`."""
        if not copies or self.mode is not None or self.stretches >= MOST_STRETCHES:
            return
        self.stretches += 1
        wanted = {storage(tensor): copy for copy in copies for tensor in copy.mine.tensors()}

        def touched(key):
            if key in wanted and wanted[key].site == (None, None):
                wanted[key].site = self.bus.sites.here()

        self.mode = Touching(touched, lambda: not (self.bus.busy or self.bus.depth))
        dispatch.start(self.mode)

    def stop(self):
        if self.mode is not None:
            dispatch.stop(self.mode)
            self.mode = None
