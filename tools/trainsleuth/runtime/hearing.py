"""Hears of every function of torch that the program calls, from one boundary of its steps to another."""

import os


class Hearing:
    """`hear(function, (args, kwargs), result)` of a listener, when a call is through; it passes on unchanged."""

    def __init__(self, torch, listener, hear):
        self.torch, self.listener, self.hear, self.mode = torch, listener, hear, None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.stop)  # a loader's workers live on without us

    @property
    def is_on(self):
        return self.mode is not None and not self.mode.is_deaf

    def start(self):
        """Not within a mode of the program, whose end would take ours for its own: then a later boundary may. A default device is one
        as well, which torch looks for at the bottom of all.
        """
        if self.mode is not None:
            self.resume()
        elif not self.torch._C._len_torch_function_stack() and not has_default_device(self.torch):
            self.mode = _watching(self.torch, self.listener, self.hear)
            self.mode.__enter__()

    def pause(self):
        if self.mode is not None:
            self.mode.is_deaf = True

    def resume(self):
        if self.mode is not None:
            self.mode.is_deaf = False

    def stop(self):
        """Only where it is the innermost mode, else a later boundary does: `backward` itself is called from within it."""
        self.pause()
        if self.mode is not None and self.torch.overrides._get_current_function_mode() is self.mode:
            self.mode.__exit__(None, None, None)
            self.mode = None


def has_default_device(torch):
    return getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None) is not None


def _watching(torch, listener, hear):
    class Watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if not self.is_deaf and listener.bus.awake:
                tell(function, (args, kwargs), result)
            return result

    mode, tell = Watching(), listener.bus.quietly(listener, hear)
    mode.is_deaf = False
    return mode
